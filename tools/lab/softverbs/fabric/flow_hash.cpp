#include "softverbs/fabric/flow_hash.h"

namespace rocelane::softverbs {
namespace {

// The finalizer of splitmix64: every bit of the input moves every bit of the result.
uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

}  // namespace

uint64_t FlowHash::operator()(int switch_number, int from_device, int to_device,
                              uint16_t udp_source_port) const {
  constexpr uint64_t kGoldenRatio = 0x9E3779B97F4A7C15;
  const uint64_t port = kind_ == PathHash::kPortBlind ? 0 : udp_source_port;
  const uint64_t packet =
      static_cast<uint64_t>(from_device) << 40 | static_cast<uint64_t>(to_device) << 16 | port;
  const uint64_t switch_seed =
      mixed(seed_ + kGoldenRatio * (static_cast<uint64_t>(switch_number) + 1));
  return mixed(mixed(packet + kGoldenRatio) ^ switch_seed);
}

}  // namespace rocelane::softverbs
