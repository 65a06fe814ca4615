#include "softverbs/timed/bursts.h"

#include <algorithm>
#include <utility>

#include "softverbs/timed/event_queue.h"

namespace rocelane::softverbs::timed {
namespace {

constexpr uint32_t kFirstCapacity = 1024;
// Ethernet with its gap and check, IPv4, UDP, and RoCE's own headers.
constexpr uint64_t kHeaderBytes = 38 + 20 + 8 + 12 + 16 + 4;

// A payload that is lost when the process is killed here is better than one that is freed twice.
void free_payload(Run& run, Burst& burst) {
  const auto payload = std::exchange(burst.payload, {});
  in_this_order();
  run.release(payload, burst.payload_bytes);
}

bool grow(Run& run) {
  Fabric& fabric = run.fabric();
  const uint32_t capacity = std::max(kFirstCapacity, fabric.burst_capacity * 2);
  const auto larger = run.allocate<Burst>(uint64_t{capacity} * sizeof(Burst));
  if (!larger) {
    return false;
  }
  const auto before = fabric.bursts;
  const uint32_t capacity_before = fabric.burst_capacity;
  std::copy_n(run.at(before), capacity_before, run.at(larger));
  std::fill(run.at(larger) + capacity_before, run.at(larger) + capacity, Burst{});
  in_this_order();
  fabric.bursts = larger;
  in_this_order();
  fabric.burst_capacity = capacity;
  for (uint32_t number = capacity; number-- > capacity_before;) {
    burst_at(run, number).next = fabric.free_burst;
    fabric.free_burst = number;
  }
  run.release(before, uint64_t{capacity_before} * sizeof(Burst));
  return true;
}

}  // namespace

uint32_t new_burst(Run& run, uint32_t payload_bytes) {
  Fabric& fabric = run.fabric();
  if ((fabric.free_burst == kNone && !grow(run)) || !reserve_events(run, fabric.bursts_used + 1)) {
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
  ++fabric.bursts_used;
  burst = {};
  burst.next = kNone;
  burst.payload = payload;
  burst.payload_bytes = payload_bytes;
  return number;
}

void free_burst(Run& run, uint32_t number) {
  Fabric& fabric = run.fabric();
  Burst& burst = burst_at(run, number);
  free_payload(run, burst);
  burst.next = fabric.free_burst;
  fabric.free_burst = number;
  --fabric.bursts_used;
}

void free_all_bursts(Run& run) {
  Fabric& fabric = run.fabric();
  fabric.free_burst = kNone;
  for (uint32_t number = fabric.burst_capacity; number-- > 0;) {
    Burst& burst = burst_at(run, number);
    free_payload(run, burst);
    burst.next = fabric.free_burst;
    fabric.free_burst = number;
  }
  fabric.bursts_used = 0;
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
