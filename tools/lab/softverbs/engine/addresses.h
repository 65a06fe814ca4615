#pragma once

#include <cstdint>
#include <optional>

#include <infiniband/verbs.h>

#include "softverbs/segment/run.h"

namespace rocelane::softverbs {

struct Destination {
  uint32_t device = kNone;
  Gid local_gid{};
  bool roce_v2 = true;
};

// A copy of one place in a device's GID table; nothing when it is empty or there is no such place.
std::optional<GidSlot> read_gid(const Run& run, uint32_t device, uint32_t index);

// Whether packets to that address are still for the device.
bool has_gid(const Run& run, uint32_t device, const Gid& gid, bool roce_v2);

// Changes a place in the table. `gid` nothing: empties it.
void write_gid(Run& run, uint32_t device, uint32_t index, const GidDescription* gid);

// Ends a change that a process was killed in. The caller holds the fabric's mutex.
void end_writing_gids(Run& run, uint32_t device);

// What the step to RTR finds out about an address vector: 0, or an errno value after the time that
// the run's description gives to it. EINVAL: not an address of RoCE; ENODATA: an empty place in the
// GID table; ETIMEDOUT: nobody has it.
int find_destination(const Run& run, uint32_t from_device, const ibv_ah_attr& address,
                     Destination* destination);

// Whether packets between the two vanish although the step to RTR works.
bool packets_vanish(const Run& run, uint32_t from_device, uint32_t to_device, const Gid& to_gid);

// A number that looks random, the same for the same arguments.
uint64_t mixed(uint64_t seed, uint64_t a, uint64_t b);

}  // namespace rocelane::softverbs
