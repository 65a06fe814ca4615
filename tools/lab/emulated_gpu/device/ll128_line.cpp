#include "device/ll128_line.h"

#include <algorithm>
#include <cstring>

#include "device/connection.h"

namespace rocelane::lab {

void encode_ll128(std::byte* lines, const std::byte* data, size_t data_bytes, uint64_t flag) {
  const size_t count = ll128_lines(data_bytes);
  size_t done = 0;
  for (size_t i = 0; i < count; ++i) {
    std::byte* line = lines + i * kLl128LineBytes;
    const size_t here = std::min(kLl128DataBytes, data_bytes - done);
    std::memcpy(line, data + done, here);
    std::memset(line + here, 0, kLl128DataBytes - here);
    store_shared(*reinterpret_cast<uint64_t*>(line + kLl128DataBytes), flag);
    done += here;
  }
}

void decode_ll128(std::byte* data, const std::byte* lines, size_t data_bytes) {
  for (size_t done = 0; done < data_bytes; done += kLl128DataBytes) {
    std::memcpy(data + done, lines, std::min(kLl128DataBytes, data_bytes - done));
    lines += kLl128LineBytes;
  }
}

size_t count_ll128_lines(const std::byte* lines, size_t limit, uint64_t flag) {
  for (size_t i = 0; i < limit; ++i) {
    const std::byte* place = lines + i * kLl128LineBytes + kLl128DataBytes;
    if (load_shared(*reinterpret_cast<const uint64_t*>(place)) != flag) {
      return i;
    }
  }
  return limit;
}

}  // namespace rocelane::lab
