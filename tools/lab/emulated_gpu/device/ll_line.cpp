#include "device/ll_line.h"

#include <cstring>

#include "device/connection.h"

namespace rocelane::lab {
namespace {

uint64_t with_flag(uint32_t data, uint32_t flag) {
  return static_cast<uint64_t>(flag) << 32 | data;
}

uint32_t flag_of(uint64_t half) { return static_cast<uint32_t>(half >> 32); }

void store_line(std::byte* line, uint64_t data, uint32_t flag) {
  auto* halves = reinterpret_cast<uint64_t*>(line);
  store_shared(halves[0], with_flag(static_cast<uint32_t>(data), flag));
  store_shared(halves[1], with_flag(static_cast<uint32_t>(data >> 32), flag));
}

uint64_t load_line(const std::byte* line) {
  const auto* halves = reinterpret_cast<const uint64_t*>(line);
  return static_cast<uint32_t>(load_shared(halves[0])) | load_shared(halves[1]) << 32;
}

}  // namespace

void encode_ll(std::byte* lines, const std::byte* data, size_t data_bytes, uint32_t flag) {
  const size_t whole = data_bytes / kLlDataBytes;
  for (size_t i = 0; i < whole; ++i) {
    uint64_t value;
    std::memcpy(&value, data + i * kLlDataBytes, kLlDataBytes);
    store_line(lines + i * kLlLineBytes, value, flag);
  }
  if (const size_t rest = data_bytes % kLlDataBytes; rest != 0) {
    uint64_t value = 0;
    std::memcpy(&value, data + whole * kLlDataBytes, rest);
    store_line(lines + whole * kLlLineBytes, value, flag);
  }
}

void decode_ll(std::byte* data, const std::byte* lines, size_t data_bytes) {
  const size_t whole = data_bytes / kLlDataBytes;
  for (size_t i = 0; i < whole; ++i) {
    const uint64_t value = load_line(lines + i * kLlLineBytes);
    std::memcpy(data + i * kLlDataBytes, &value, kLlDataBytes);
  }
  if (const size_t rest = data_bytes % kLlDataBytes; rest != 0) {
    const uint64_t value = load_line(lines + whole * kLlLineBytes);
    std::memcpy(data + whole * kLlDataBytes, &value, rest);
  }
}

size_t count_ll_lines(const std::byte* lines, size_t limit, uint32_t flag) {
  for (size_t i = 0; i < limit; ++i) {
    const auto* halves = reinterpret_cast<const uint64_t*>(lines + i * kLlLineBytes);
    if (flag_of(load_shared(halves[0])) != flag || flag_of(load_shared(halves[1])) != flag) {
      return i;
    }
  }
  return limit;
}

void flag_ll_lines(std::byte* lines, size_t count, uint32_t flag) {
  for (size_t i = 0; i < count; ++i) {
    store_line(lines + i * kLlLineBytes, 0, flag);
  }
}

}  // namespace rocelane::lab
