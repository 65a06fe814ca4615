#include "nccl_host/inspection.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "nccl_host/pattern.h"

namespace rocelane::nccl_host {
namespace {

// Which message of the connection has these bytes at this place. Few bytes prove nothing.
std::optional<int> owner_of(std::span<const std::byte> bytes, size_t offset,
                            const ConnectionPlan& connection) {
  const size_t word = offset / sizeof(uint64_t);
  if ((word + 1) * sizeof(uint64_t) > bytes.size()) {
    return std::nullopt;
  }
  uint64_t found = 0;
  std::memcpy(&found, bytes.data() + word * sizeof(uint64_t), sizeof(found));
  for (const Group& group : connection.groups) {
    for (const Message& candidate : group.messages) {
      if (pattern_word(candidate.number, word) == found) {
        return candidate.index;
      }
    }
  }
  return std::nullopt;
}

std::string describe_foreign_bytes(std::span<const std::byte> bytes, size_t offset,
                                   const ConnectionPlan& connection) {
  if (bytes[offset] == kUntouched) {
    return ", which was never written";
  }
  const std::optional<int> owner = owner_of(bytes, offset, connection);
  return owner ? fmt::format(", which belongs to message {}", *owner) : std::string();
}

Finding inspect_contents(const ConnectionPlan& connection, const Message& message,
                         std::span<const std::byte> bytes) {
  const std::optional<size_t> wrong = first_wrong_byte(bytes, message.number);
  if (!wrong) {
    return {};
  }
  const size_t count = count_wrong_bytes(bytes, message.number);
  return {count, fmt::format("{} on {} has {} wrong bytes of {}; the first is byte {}, {:#04x}{}.",
                             text_of(message), text_of(connection), count, bytes.size(), *wrong,
                             std::to_integer<int>(bytes[*wrong]),
                             describe_foreign_bytes(bytes, *wrong, connection))};
}

size_t count_touched(std::span<const std::byte> bytes) {
  return static_cast<size_t>(
      std::ranges::count_if(bytes, [](std::byte value) { return value != kUntouched; }));
}

}  // namespace

Finding inspect_message(const ConnectionPlan& connection, const Message& message,
                        const Arena& arena, size_t slot) {
  const size_t arriving = message.arriving_bytes();
  const std::span<std::byte> inner = arena.message(slot, message.receive_shift, arriving);
  Finding finding = inspect_contents(connection, message, inner);
  const std::span<std::byte> whole =
      arena.guarded(slot, message.receive_shift, message.room_bytes());
  const std::span<std::byte> before = whole.first(Arena::kGuardBytes);
  const std::span<std::byte> after = whole.subspan(Arena::kGuardBytes + arriving);
  const size_t touched_before = count_touched(before);
  const size_t touched_after = count_touched(after);
  if (touched_before + touched_after > 0) {
    finding.wrong_bytes += touched_before + touched_after;
    finding.sentence += fmt::format(
        "{}{} on {} changed {} bytes before its buffer and {} bytes behind the {} that arrive.",
        finding.sentence.empty() ? "" : " ", text_of(message), text_of(connection), touched_before,
        touched_after, arriving);
  }
  return finding;
}

Finding inspect_unused_slot(const ConnectionPlan& connection, const Message& message,
                            const Arena& arena, size_t slot) {
  const std::span<std::byte> whole =
      arena.guarded(slot, message.receive_shift, message.room_bytes());
  const std::optional<size_t> touched = first_byte_that_is_not(whole, kUntouched);
  if (!touched) {
    return {};
  }
  const size_t count = count_touched(whole);
  return {count, fmt::format("{} bytes of the buffer for {} on {} changed before it was given to "
                             "irecv: an earlier message was written again after its end.",
                             count, text_of(message), text_of(connection))};
}

Finding inspect_unused_arena(const ConnectionPlan& connection, Protocol protocol,
                             const Arena& arena) {
  const std::span<const std::byte> all(static_cast<const std::byte*>(arena.base()), arena.bytes());
  if (!first_byte_that_is_not(all, kUntouched)) {
    return {};
  }
  const size_t count = count_touched(all);
  return {count, fmt::format("{} bytes of the {} buffer of {} changed although no receive was "
                             "outstanding.",
                             count, name_of(protocol), text_of(connection))};
}

}  // namespace rocelane::nccl_host
