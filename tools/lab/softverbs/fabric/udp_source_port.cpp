#include "softverbs/fabric/udp_source_port.h"

namespace rocelane::softverbs {
namespace {

constexpr uint32_t kFlowLabelBits = 0xFFFFF;
constexpr uint32_t kPortBits = 0x3FFF;
constexpr uint32_t kLowestPort = 0xC000;

uint32_t label_from_numbers(uint32_t one, uint32_t other) {
  uint64_t product = static_cast<uint64_t>(one) * other;
  product ^= product >> 20;
  product ^= product >> 40;
  return static_cast<uint32_t>(product) & kFlowLabelBits;
}

}  // namespace

uint16_t udp_source_port(uint32_t flow_label, uint32_t local_queue_pair,
                         uint32_t remote_queue_pair) {
  uint32_t label = flow_label & kFlowLabelBits;
  if (label == 0) {
    label = label_from_numbers(local_queue_pair, remote_queue_pair);
  }
  const uint32_t folded = (label & kPortBits) ^ (label >> 14);
  return static_cast<uint16_t>(kLowestPort | folded);
}

}  // namespace rocelane::softverbs
