#pragma once

#include <cstddef>
#include <cstdint>

namespace rocelane::lab {

// LL128: a line of 128 bytes carries 120 bytes of data and an 8-byte flag at its end. Lines travel
// in units of 16, and all 16 carry the flag even when the data ends earlier: the host counts whole
// units. A real GPU shuffles the words inside a unit; between emulated ranks the order is plain.
inline constexpr size_t kLl128LineBytes = 128;
inline constexpr size_t kLl128DataBytes = 120;
inline constexpr size_t kLl128LinesPerUnit = 16;
inline constexpr size_t kLl128UnitDataBytes = kLl128LinesPerUnit * kLl128DataBytes;

constexpr size_t ll128_lines(size_t data_bytes) {
  return (data_bytes + kLl128UnitDataBytes - 1) / kLl128UnitDataBytes * kLl128LinesPerUnit;
}

// `lines` must be 8-byte aligned. Bytes after the data are zero.
void encode_ll128(std::byte* lines, const std::byte* data, size_t data_bytes, uint64_t flag);
void decode_ll128(std::byte* data, const std::byte* lines, size_t data_bytes);

// How many of the lines from `lines` on carry `flag`, counted up to the first that does not.
size_t count_ll128_lines(const std::byte* lines, size_t limit, uint64_t flag);

}  // namespace rocelane::lab
