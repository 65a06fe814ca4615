#pragma once

// Packets under way. A burst is what one queue pair sends in a row: some packets of one message, or
// an answer.

#include <cstdint>
#include <utility>

#include "softverbs/engine/delivery.h"
#include "softverbs/segment/run.h"

namespace rocelane::softverbs {

struct Burst {
  enum class Kind : uint8_t { kData, kReadRequest, kReadData, kAcknowledgement, kRefusal };

  uint32_t next;  // in a link's queue, or in the list of free ones
  Kind kind;
  Verdict refusal;  // kRefusal: why
  uint8_t rnr_timer;
  uint8_t priority;
  bool marked;
  bool delayed_by_receiver;
  uint32_t psn;  // of the burst; in answers: what the responder expects, or refuses
  uint32_t from_slot, from_number;
  uint32_t from_device, to_device;
  uint32_t to_number;
  uint32_t from_mtu;
  bool roce_v2;
  Gid to_gid;
  Fragment fragment;
  uint64_t extra_delay_ns;
  uint32_t packets;
  uint64_t wire_bytes;
  Path path;
  uint8_t hop;
  Offset<std::byte> payload;
  uint32_t payload_bytes;
};

}  // namespace rocelane::softverbs

namespace rocelane::softverbs::timed {

// A burst with nothing in it; kNone when the run's memory is used up, for it or for the events it
// will make. `payload_bytes`: room for
// data to travel in.
uint32_t new_burst(Run& run, uint32_t payload_bytes);
void free_burst(Run& run, uint32_t number);
void free_all_bursts(Run& run);
Burst& burst_at(Run& run, uint32_t number);
Pieces payload_of(Run& run, const Burst& burst);

// Sets how many packets of the given MTU the burst is, and how many bytes on a wire.
void measure(Burst& burst, uint32_t mtu_bytes);

}  // namespace rocelane::softverbs::timed
