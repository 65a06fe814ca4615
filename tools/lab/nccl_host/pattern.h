#pragma once

// The bytes of every message: known from the message's number and the offset in it alone.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace rocelane::nccl_host {

// What memory holds where nothing may be written, and before something is.
inline constexpr std::byte kUntouched{0xA7};
// What a sender's memory holds once its message is reported sent.
inline constexpr std::byte kScribbled{0x5C};

// The 8 bytes at `word` * 8 of a message, as memory on this machine holds them.
uint64_t pattern_word(uint64_t message, size_t word);

void fill_pattern(std::span<std::byte> bytes, uint64_t message);

// Offset of the first byte from `from` on that is not the message's; none: all are.
std::optional<size_t> first_wrong_byte(std::span<const std::byte> bytes, uint64_t message,
                                       size_t from = 0);
// Looks, as a GPU does, at memory that somebody may be writing: the offset of the first byte from
// `from` on that was not written yet; none: everything was, right or wrong.
std::optional<size_t> first_missing_byte(std::span<const std::byte> bytes, uint64_t message,
                                         size_t from);
size_t count_wrong_bytes(std::span<const std::byte> bytes, uint64_t message);

// Offset of the first byte that is not `value`.
std::optional<size_t> first_byte_that_is_not(std::span<const std::byte> bytes, std::byte value);

}  // namespace rocelane::nccl_host
