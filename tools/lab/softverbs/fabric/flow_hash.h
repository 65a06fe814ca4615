#pragma once

#include <cstdint>

#include "softverbs/description/run_description.h"

namespace rocelane::softverbs {

// What a switch makes of a packet's addresses and UDP source port to choose among equal links.
// Pure; any thread.
class FlowHash {
 public:
  FlowHash(uint64_t run_seed, PathHash kind) : seed_(run_seed), kind_(kind) {}

  // Switches with different numbers hash independently of each other, and so do runs with
  // different seeds.
  uint64_t operator()(int switch_number, int from_device, int to_device,
                      uint16_t udp_source_port) const;

 private:
  uint64_t seed_;
  PathHash kind_;
};

}  // namespace rocelane::softverbs
