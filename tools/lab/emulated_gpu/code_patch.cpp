#include "code_patch.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jump.h"

namespace rocelane::lab {
namespace {

// One slot a function: the near jump in the function leads here, from here on any distance goes.
constexpr size_t kSlotBytes = 32;
static_assert(kSlotBytes >= kCallWithArgumentBytes && kSlotBytes >= kFarJumpBytes);

struct Span {
  uintptr_t start;
  size_t bytes;
};

size_t page_bytes() { return static_cast<size_t>(::sysconf(_SC_PAGESIZE)); }

Span pages_around(uintptr_t first, uintptr_t end) {
  const uintptr_t start = first / page_bytes() * page_bytes();
  return {start, (end - start + page_bytes() - 1) / page_bytes() * page_bytes()};
}

Span touched_pages(const std::vector<Replacement>& replacements) {
  uintptr_t first = replacements.front().address;
  uintptr_t end = first;
  for (const Replacement& one : replacements) {
    first = std::min(first, one.address);
    end = std::max(end, one.address + kNearJumpBytes);
  }
  return pages_around(first, end);
}

// Free address space within reach of a 32-bit jump, searched outward from the patched code.
uint8_t* map_near(Span target, size_t bytes) {
  constexpr uintptr_t kStep = uintptr_t{16} << 20;
  constexpr uintptr_t kReach = uintptr_t{1} << 30;
  for (uintptr_t distance = kStep; distance < kReach; distance += kStep) {
    const std::array<uintptr_t, 2> candidates{
        target.start + target.bytes + distance,
        target.start > distance ? target.start - distance : 0};
    for (const uintptr_t candidate : candidates) {
      if (candidate == 0) {
        continue;
      }
      void* wanted = reinterpret_cast<void*>(candidate / page_bytes() * page_bytes());
      void* got = ::mmap(wanted, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (got == wanted) {
        return static_cast<uint8_t*>(got);
      }
      if (got != MAP_FAILED) {
        ::munmap(got, bytes);  // a kernel that takes the address for a hint
      }
    }
  }
  return nullptr;
}

void write_slot(uint8_t* slot, const Replacement& replacement) {
  const auto to = reinterpret_cast<uintptr_t>(replacement.continue_at);
  if (replacement.argument == nullptr) {
    const auto code = encode_far_jump(to);
    std::memcpy(slot, code.data(), code.size());
  } else {
    const auto code =
        encode_call_with_argument(to, reinterpret_cast<uintptr_t>(replacement.argument));
    std::memcpy(slot, code.data(), code.size());
  }
}

Error refused_by_kernel(const char* what) {
  return {ErrorCode::kSystem,
          fmt::format("the kernel does not allow to {}: {}", what, std::strerror(errno))};
}

}  // namespace

Status apply_patches(const std::vector<Replacement>& replacements) {
  if (replacements.empty()) {
    return {};
  }
  for (const Replacement& one : replacements) {
    if (one.room < kNearJumpBytes) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("{} has {} bytes, too few for a jump of {}", one.name, one.room,
                               kNearJumpBytes)};
    }
  }
  const Span code = touched_pages(replacements);
  const size_t slot_area = pages_around(0, replacements.size() * kSlotBytes).bytes;
  uint8_t* slots = map_near(code, slot_area);
  if (slots == nullptr) {
    return Error{ErrorCode::kSystem, "no free address space within 2 GiB of the patched code"};
  }

  std::vector<std::array<uint8_t, kNearJumpBytes>> jumps;
  for (size_t i = 0; i < replacements.size(); ++i) {
    uint8_t* slot = slots + i * kSlotBytes;
    write_slot(slot, replacements[i]);
    const auto jump = encode_near_jump(replacements[i].address, reinterpret_cast<uintptr_t>(slot));
    if (!jump) {
      ::munmap(slots, slot_area);
      return Error{ErrorCode::kInternal,
                   fmt::format("{} is out of a jump's reach", replacements[i].name)};
    }
    jumps.push_back(*jump);
  }
  void* first_page = reinterpret_cast<void*>(code.start);
  if (::mprotect(slots, slot_area, PROT_READ | PROT_EXEC) != 0 ||
      ::mprotect(first_page, code.bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
    Error error = refused_by_kernel("make code writable and back");
    ::munmap(slots, slot_area);
    return error;
  }
  for (size_t i = 0; i < replacements.size(); ++i) {
    std::memcpy(reinterpret_cast<void*>(replacements[i].address), jumps[i].data(), jumps[i].size());
  }
  if (::mprotect(first_page, code.bytes, PROT_READ | PROT_EXEC) != 0) {
    return refused_by_kernel("write-protect patched code again");
  }
  return {};
}

}  // namespace rocelane::lab
