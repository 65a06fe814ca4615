#pragma once

#include <cstddef>
#include <cstdint>

namespace rocelane::lab {

// LL: a line of 16 bytes carries 8 bytes of data, each half followed by its own flag, so that every
// aligned 8 bytes say for themselves whether they are valid.
inline constexpr size_t kLlLineBytes = 16;
inline constexpr size_t kLlDataBytes = 8;

constexpr size_t ll_lines(size_t data_bytes) {
  return (data_bytes + kLlDataBytes - 1) / kLlDataBytes;
}

// `lines` must be 16-byte aligned. The last line is filled up with zeros.
void encode_ll(std::byte* lines, const std::byte* data, size_t data_bytes, uint32_t flag);
void decode_ll(std::byte* data, const std::byte* lines, size_t data_bytes);

// How many of the lines from `lines` on carry `flag`, counted up to the first that does not.
size_t count_ll_lines(const std::byte* lines, size_t limit, uint32_t flag);

// Writes `count` lines that carry nothing but the flag.
void flag_ll_lines(std::byte* lines, size_t count, uint32_t flag);

}  // namespace rocelane::lab
