#include "device/chunk_plan.h"

#include <algorithm>

#include "device/ll128_line.h"
#include "device/ll_line.h"

namespace rocelane::lab {
namespace {

size_t round_up(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

size_t grain_bytes(Protocol protocol) {
  switch (protocol) {
    case Protocol::kLl:
      return 16;
    case Protocol::kLl128:
      return kLl128UnitDataBytes;
    case Protocol::kSimple:
      return 512;
  }
  return 0;
}

Part part_of_channel(const ChannelShares& shares, int channel, Protocol protocol,
                     size_t element_bytes) {
  const size_t grain = grain_bytes(protocol) / element_bytes;
  const int between = shares.high - shares.low - 1;  // -1 when one channel has it all
  const size_t middle = between > 0 ? shares.count_middle * static_cast<size_t>(between) : 0;
  Part part{.total = shares.count_low + middle + shares.count_high};
  if (channel == shares.low) {
    part.count = shares.count_low;
    part.chunk = shares.grains_low * grain;
  } else if (channel == shares.high) {
    part.offset = shares.count_low + middle;
    part.count = shares.count_high;
    part.chunk = shares.grains_high * grain;
  } else {
    const auto index = static_cast<size_t>(channel - shares.low - 1);
    part.offset = shares.count_low + index * shares.count_middle;
    part.count = shares.count_middle;
    part.chunk = shares.grains_middle * grain;
  }
  return part;
}

ByteRange bytes_of_part(int parts, int part, size_t bytes) {
  constexpr size_t kPage = 4096;
  const auto count = static_cast<size_t>(parts);
  const size_t each = round_up((bytes + count - 1) / count, kPage);
  const auto index = static_cast<size_t>(part);
  return {std::min(index * each, bytes), std::min((index + 1) * each, bytes)};
}

int part_of_send_receive(int channels, int base, int channel) {
  return static_cast<int>(static_cast<unsigned>(channel - base) &
                          static_cast<unsigned>(channels - 1));
}

uint32_t decode_size(uint8_t code) {
  constexpr uint32_t kMantissaBits = 3;
  const uint32_t exponent = code >> kMantissaBits;
  const uint32_t mantissa = code & ((1U << kMantissaBits) - 1);
  if (exponent == 0) {
    return mantissa;
  }
  return (mantissa | 1U << kMantissaBits) << (exponent - 1);
}

size_t slice_elements(size_t chunk_elements, size_t slices, size_t smallest) {
  constexpr size_t kMultiple = 16;
  const size_t unit = kMultiple * slices;
  return std::max((chunk_elements + unit - 1) / unit * kMultiple, smallest);
}

}  // namespace rocelane::lab
