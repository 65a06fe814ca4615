#include "softverbs/engine/addresses.h"

#include <algorithm>
#include <cerrno>
#include <thread>

#include "softverbs/description/name_pattern.h"

namespace rocelane::softverbs {
namespace {

// Reads under a generation counter that is odd while somebody writes.
template <class Read>
auto read_consistently(const Device& device, Read read) {
  while (true) {
    const uint32_t before = device.gid_generation.load();
    const auto result = read();
    if (before % 2 == 0 && device.gid_generation.load() == before) {
      return result;
    }
  }
}

bool is_link_local(const Gid& gid) { return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80; }

const UnreachablePair* unreachable_pair(const Run& run, uint32_t from, uint32_t to) {
  const RunDescription& description = run.description();
  for (const UnreachablePair& pair : description.fabric.unreachable) {
    if (matches(pair.from, description.devices[from].full_name()) &&
        matches(pair.to, description.devices[to].full_name())) {
      return &pair;
    }
  }
  return nullptr;
}

bool crosses_routers(const Run& run, uint32_t from, uint32_t to) {
  const auto& devices = run.description().devices;
  return devices[from].host != devices[to].host && !run.description().fabric.link_local_reaches;
}

}  // namespace

std::optional<GidSlot> read_gid(const Run& run, uint32_t device, uint32_t index) {
  if (index >= kMostGids) {
    return std::nullopt;
  }
  const Device& owner = run.device(device);
  const GidSlot slot = read_consistently(owner, [&] { return owner.gids[index]; });
  return slot.present ? std::optional(slot) : std::nullopt;
}

bool has_gid(const Run& run, uint32_t device, const Gid& gid, bool roce_v2) {
  const Device& owner = run.device(device);
  return read_consistently(owner, [&] {
    return std::any_of(owner.gids.begin(), owner.gids.end(), [&](const GidSlot& slot) {
      return slot.present && slot.roce_v2 == roce_v2 && slot.gid == gid;
    });
  });
}

void write_gid(Run& run, uint32_t device, uint32_t index, const GidDescription* gid) {
  Device& owner = run.device(device);
  owner.gid_generation.fetch_add(1);
  GidSlot& slot = owner.gids[index];
  slot = {};
  if (gid != nullptr) {
    slot.present = true;
    slot.roce_v2 = gid->roce_v2;
    slot.gid = gid->gid;
    gid->interface.copy(slot.interface, sizeof slot.interface - 1);
  }
  owner.gid_generation.fetch_add(1);
}

void end_writing_gids(Run& run, uint32_t device) {
  Device& owner = run.device(device);
  if (owner.gid_generation.load() % 2 != 0) {
    owner.gid_generation.fetch_add(1);
  }
}

int find_destination(const Run& run, uint32_t from_device, const ibv_ah_attr& address,
                     Destination* destination) {
  if (address.is_global == 0 || (address.port_num != 1 && address.port_num != 0)) {
    return EINVAL;
  }
  const auto local = read_gid(run, from_device, address.grh.sgid_index);
  if (!local) {
    return ENODATA;
  }
  Gid wanted;
  std::copy_n(std::begin(address.grh.dgid.raw), wanted.size(), wanted.begin());
  destination->local_gid = local->gid;
  destination->roce_v2 = local->roce_v2;
  for (uint32_t device = 0; device < run.header().device_count; ++device) {
    if (!has_gid(run, device, wanted, local->roce_v2)) {
      continue;
    }
    destination->device = device;
    const UnreachablePair* pair = unreachable_pair(run, from_device, device);
    if (pair == nullptr) {
      return 0;
    }
    if (!run.is_virtual()) {
      std::this_thread::sleep_for(std::chrono::nanoseconds(pair->delay_ns));
    }
    return pair->modify_error;
  }
  return ETIMEDOUT;
}

bool packets_vanish(const Run& run, uint32_t from_device, uint32_t to_device, const Gid& to_gid) {
  return (is_link_local(to_gid) && crosses_routers(run, from_device, to_device)) ||
         unreachable_pair(run, from_device, to_device) != nullptr;
}

uint64_t mixed(uint64_t seed, uint64_t a, uint64_t b) {
  uint64_t x = seed ^ (a * 0x9e3779b97f4a7c15) ^ (b * 0xc2b2ae3d27d4eb4f);
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9;
  x ^= x >> 27;
  x *= 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace rocelane::softverbs
