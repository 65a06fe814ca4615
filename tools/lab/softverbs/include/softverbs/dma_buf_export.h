#pragma once

// A file that stands for a dma-buf: the emulated GPU exports its memory with it, softverbs imports
// it. The memory is ordinary memory of the process, and the file says where. Only the process that
// made it can use it. Header-only, C++; any thread.

#include <array>
#include <cstdint>
#include <optional>

#include <sys/mman.h>
#include <unistd.h>

namespace rocelane::softverbs {

struct DmaBufExport {
  std::array<char, 16> magic;
  int64_t process;
  uint64_t address;
  uint64_t bytes;
};

inline constexpr std::array<char, 16> kDmaBufMagic{"lab dma-buf v1"};

// A descriptor the caller owns; -1 and errno.
inline int export_dma_buf(uint64_t address, uint64_t bytes) {
  const int file = ::memfd_create("lab-dma-buf", MFD_CLOEXEC);
  const DmaBufExport content{kDmaBufMagic, ::getpid(), address, bytes};
  if (file >= 0 && ::write(file, &content, sizeof content) != sizeof content) {
    ::close(file);
    return -1;
  }
  return file;
}

// What the file stands for; nothing when it is another kind of file, or of another process.
inline std::optional<DmaBufExport> import_dma_buf(int file) {
  DmaBufExport content{};
  if (::pread(file, &content, sizeof content, 0) != sizeof content ||
      content.magic != kDmaBufMagic || content.process != ::getpid()) {
    return std::nullopt;
  }
  return content;
}

}  // namespace rocelane::softverbs
