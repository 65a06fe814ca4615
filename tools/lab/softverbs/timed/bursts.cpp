#include "softverbs/timed/bursts.h"

#include <algorithm>

namespace rocelane::softverbs::timed {
namespace {

constexpr uint32_t kFirstCapacity = 1024;
// Ethernet with its gap and check, IPv4, UDP, and RoCE's own headers.
constexpr uint64_t kHeaderBytes = 38 + 20 + 8 + 12 + 16 + 4;

bool grow(Run& run) {
  Fabric& fabric = run.fabric();
  const uint32_t capacity = std::max(kFirstCapacity, fabric.burst_capacity * 2);
  const auto larger = run.allocate<Burst>(uint64_t{capacity} * sizeof(Burst));
  if (!larger) {
    return false;
  }
  std::copy_n(run.at(fabric.bursts), fabric.burst_capacity, run.at(larger));
  run.release(fabric.bursts, uint64_t{fabric.burst_capacity} * sizeof(Burst));
  for (uint32_t number = capacity; number-- > fabric.burst_capacity;) {
    run.at(larger)[number].next = fabric.free_burst;
    fabric.free_burst = number;
  }
  fabric.bursts = larger;
  fabric.burst_capacity = capacity;
  return true;
}

}  // namespace

uint32_t new_burst(Run& run, uint32_t payload_bytes) {
  Fabric& fabric = run.fabric();
  if (fabric.free_burst == kNone && !grow(run)) {
    return kNone;
  }
  Offset<std::byte> payload;
  if (payload_bytes > 0) {
    payload = run.allocate<std::byte>(payload_bytes);
    if (!payload) {
      return kNone;
    }
  }
  const uint32_t number = fabric.free_burst;
  Burst& burst = burst_at(run, number);
  fabric.free_burst = burst.next;
  burst = {};
  burst.next = kNone;
  burst.payload = payload;
  burst.payload_bytes = payload_bytes;
  return number;
}

void free_burst(Run& run, uint32_t number) {
  Fabric& fabric = run.fabric();
  Burst& burst = burst_at(run, number);
  run.release(burst.payload, burst.payload_bytes);
  burst.payload = {};
  burst.next = fabric.free_burst;
  fabric.free_burst = number;
}

Burst& burst_at(Run& run, uint32_t number) { return run.at(run.fabric().bursts)[number]; }

Pieces payload_of(Run& run, const Burst& burst) {
  Pieces pieces(run.process());
  if (burst.payload_bytes > 0) {
    pieces.add(reinterpret_cast<uint64_t>(run.at(burst.payload)), burst.payload_bytes);
  }
  return pieces;
}

void measure(Burst& burst, uint32_t mtu_bytes) {
  burst.packets = std::max(1U, (burst.payload_bytes + mtu_bytes - 1) / mtu_bytes);
  burst.wire_bytes = burst.payload_bytes + burst.packets * kHeaderBytes;
}

}  // namespace rocelane::softverbs::timed
