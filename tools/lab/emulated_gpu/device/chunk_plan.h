#pragma once

#include <cstddef>
#include <cstdint>

#include "device/function.h"

namespace rocelane::lab {

// How NCCL's host side divided a collective among channels: the first and last channel get shares
// of their own, those between them equal ones. Counts are in elements, chunks in protocol grains.
struct ChannelShares {
  int low = 0;
  int high = 0;  // inclusive
  size_t count_low = 0;
  size_t count_middle = 0;
  size_t count_high = 0;
  uint32_t grains_low = 0;
  uint32_t grains_middle = 0;
  uint32_t grains_high = 0;
};

// One channel's part, in elements. `total` is the whole collective's count.
struct Part {
  size_t total = 0;
  size_t offset = 0;
  size_t count = 0;
  size_t chunk = 0;

  bool operator==(const Part&) const = default;
};

// Bytes of data that a protocol moves as a unit.
size_t grain_bytes(Protocol protocol);

Part part_of_channel(const ChannelShares& shares, int channel, Protocol protocol,
                     size_t element_bytes);

// Bytes of a send or receive that fall to one of `parts` channels: [begin, end).
struct ByteRange {
  size_t begin = 0;
  size_t end = 0;

  bool operator==(const ByteRange&) const = default;
};

ByteRange bytes_of_part(int parts, int part, size_t bytes);

// Which part of a send or receive a channel owns; `channels` is a power of two.
int part_of_send_receive(int channels, int base, int channel);

// Sizes that NCCL stores as an 8-bit float with three bits of mantissa.
uint32_t decode_size(uint8_t code);

// Elements in one of a chunk's slices: an even share in multiples of 16, but not below `smallest`.
size_t slice_elements(size_t chunk_elements, size_t slices, size_t smallest);

}  // namespace rocelane::lab
