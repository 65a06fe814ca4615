#include "softverbs/timed/links.h"

#include <algorithm>
#include <cmath>

#include "softverbs/engine/addresses.h"
#include "softverbs/timed/bursts.h"
#include "softverbs/timed/event_log.h"
#include "softverbs/timed/event_queue.h"
#include "softverbs/timed/requester.h"

namespace rocelane::softverbs::timed {
namespace {

constexpr double kBitsAByte = 8;
constexpr double kNanoseconds = 1e9;

// Seeded; the caller holds the fabric's mutex.
double random_fraction(Run& run) {
  Fabric& fabric = run.fabric();
  const uint64_t value = mixed(run.description().seed, 0x72616e64, ++fabric.random_state);
  return static_cast<double>(value >> 11) * 0x1p-53;
}

bool loses(Run& run, const LinkState& link, const Burst& burst) {
  return link.cut || link.down ||
         (link.loss > 0 && random_fraction(run) >= std::pow(1 - link.loss, burst.packets));
}

void lose(Run& run, uint32_t number, const char* why) {
  const Burst& burst = burst_at(run, number);
  log_burst(run, why, burst);
  free_burst(run, number);
}

uint64_t owner_of(uint32_t link_number) { return kNone + uint64_t{link_number}; }

// The burst has left the sending end of the link.
void propagate(Run& run, const LinkState& link, uint32_t number) {
  Burst& burst = burst_at(run, number);
  schedule(run, run.now_ns() + link.delay_ns + burst.extra_delay_ns, Event::Kind::kBurst, number,
           burst.from_slot);
  burst.extra_delay_ns = 0;
}

void transmit(Run& run, uint32_t link_number, uint32_t number) {
  LinkState& link = run.link(link_number);
  Burst& burst = burst_at(run, number);
  link.counters.packets += burst.packets;
  link.counters.bytes += burst.wire_bytes;
  link.counters.bytes_by_priority[burst.priority] += burst.wire_bytes;
  if (link.rate_bits_per_s <= 0) {
    propagate(run, link, number);
    return;
  }
  link.busy = true;
  link.current = number;
  link.free_ns =
      run.now_ns() + static_cast<uint64_t>(static_cast<double>(burst.wire_bytes) * kBitsAByte *
                                           kNanoseconds / link.rate_bits_per_s);
  schedule(run, link.free_ns, Event::Kind::kLinkFree, link_number, owner_of(link_number));
}

void queue_up(Run& run, uint32_t link_number, uint32_t number) {
  LinkState& link = run.link(link_number);
  const LinkProperties& properties = run.topology().links()[link_number].properties;
  Burst& burst = burst_at(run, number);
  burst.next = kNone;
  uint32_t& last = link.last[burst.priority];
  (last == kNone ? link.first[burst.priority] : burst_at(run, last).next) = number;
  last = number;
  link.queued_bytes += burst.wire_bytes;
  link.counters.longest_queue_bytes =
      std::max(link.counters.longest_queue_bytes, link.queued_bytes);
  if (properties.mark_above_bytes > 0 && link.queued_bytes > properties.mark_above_bytes) {
    burst.marked = true;
    link.counters.marked_packets += burst.packets;
  }
  if (properties.pause_above_bytes > 0 && link.queued_bytes > properties.pause_above_bytes &&
      !link.paused) {
    link.paused = true;
    ++link.counters.pauses;
  }
}

uint32_t take_queued(Run& run, uint32_t link_number, size_t priority) {
  LinkState& link = run.link(link_number);
  const uint32_t number = link.first[priority];
  Burst& burst = burst_at(run, number);
  link.first[priority] = burst.next;
  if (burst.next == kNone) {
    link.last[priority] = kNone;
  }
  link.queued_bytes -= burst.wire_bytes;
  const uint64_t limit = run.topology().links()[link_number].properties.pause_above_bytes;
  if (link.paused && link.queued_bytes <= limit) {
    link.paused = false;
  }
  return number;
}

uint32_t take_waiting(Run& run, LinkState& link, size_t priority) {
  const uint32_t slot = link.first_waiting[priority];
  Requester& requester = run.queue_pair(slot).requester;
  link.first_waiting[priority] = requester.next_waiting;
  if (requester.next_waiting == kNone) {
    link.last_waiting[priority] = kNone;
  }
  requester.waits_for_link = false;
  return slot;
}

// Puts the burst onto its next link, or in front of it.
void enter(Run& run, uint32_t number) {
  const Burst& burst = burst_at(run, number);
  if (burst.hop == burst.path.length) {
    schedule(run, run.now_ns() + burst.extra_delay_ns, Event::Kind::kDeliver, number,
             burst.from_slot);
    return;
  }
  const uint32_t link_number = burst.path.links[burst.hop];
  LinkState& link = run.link(link_number);
  if (loses(run, link, burst)) {
    link.counters.lost_packets += burst.packets;
    lose(run, number, "lost");
  } else if (link.busy) {
    queue_up(run, link_number, number);
  } else {
    transmit(run, link_number, number);
  }
}

}  // namespace

void launch(Run& run, uint32_t burst) {
  log_burst(run, "sent", burst_at(run, burst));
  enter(run, burst);
}

void arrive(Run& run, uint32_t burst) {
  ++burst_at(run, burst).hop;
  enter(run, burst);
}

void set_rate(Run& run, uint32_t link_number, double bits_per_s) {
  LinkState& link = run.link(link_number);
  const double before = link.rate_bits_per_s;
  link.rate_bits_per_s = bits_per_s;
  if (!link.busy || before <= 0) {
    return;
  }
  // The rest of what is being sent goes at the new rate.
  const uint64_t now_ns = run.now_ns();
  const auto left_ns = static_cast<double>(std::max(link.free_ns, now_ns) - now_ns);
  link.free_ns =
      now_ns + (bits_per_s > 0 ? static_cast<uint64_t>(left_ns * before / bits_per_s) : 0);
  schedule(run, link.free_ns, Event::Kind::kLinkFree, link_number, owner_of(link_number));
}

void link_is_free(Run& run, uint32_t link_number) {
  LinkState& link = run.link(link_number);
  if (!link.busy || run.now_ns() < link.free_ns) {
    return;  // the rate has changed in between
  }
  link.busy = false;
  if (link.cut || link.down) {
    link.counters.lost_packets += burst_at(run, link.current).packets;
    lose(run, link.current, "lost");
  } else {
    propagate(run, link, link.current);
  }
  for (size_t priority = link.first.size(); priority-- > 0;) {
    // A queue pair may have nothing to send any more; then it is the next one's turn.
    while (!link.busy && link.first[priority] != kNone) {
      const uint32_t number = take_queued(run, link_number, priority);
      if (link.cut || link.down) {
        link.counters.lost_packets += burst_at(run, number).packets;
        lose(run, number, "lost");
      } else {
        transmit(run, link_number, number);
      }
    }
    while (!link.busy && link.first_waiting[priority] != kNone) {
      pump(run, take_waiting(run, link, priority));
    }
    if (link.busy) {
      return;
    }
  }
}

void wait_for_link(Run& run, uint32_t link_number, uint8_t priority, uint32_t queue_pair) {
  LinkState& link = run.link(link_number);
  Requester& requester = run.queue_pair(queue_pair).requester;
  if (requester.waits_for_link) {
    return;
  }
  requester.waits_for_link = true;
  requester.next_waiting = kNone;
  uint32_t& last = link.last_waiting[priority];
  (last == kNone ? link.first_waiting[priority] : run.queue_pair(last).requester.next_waiting) =
      queue_pair;
  last = queue_pair;
}

void stop_waiting(Run& run, uint32_t queue_pair) {
  if (!run.queue_pair(queue_pair).requester.waits_for_link) {
    return;
  }
  for (uint32_t number = 0; number < run.fabric().link_count; ++number) {
    LinkState& link = run.link(number);
    for (size_t priority = 0; priority < link.first_waiting.size(); ++priority) {
      uint32_t* place = &link.first_waiting[priority];
      uint32_t before = kNone;
      while (*place != kNone && *place != queue_pair) {
        before = *place;
        place = &run.queue_pair(*place).requester.next_waiting;
      }
      if (*place == queue_pair) {
        *place = run.queue_pair(queue_pair).requester.next_waiting;
        if (link.last_waiting[priority] == queue_pair) {
          link.last_waiting[priority] = before;
        }
      }
    }
  }
  run.queue_pair(queue_pair).requester.waits_for_link = false;
}

void empty_link(Run& run, uint32_t link_number) {
  LinkState& link = run.link(link_number);
  link.busy = false;
  link.paused = 0;
  link.queued_bytes = 0;
  link.first.fill(kNone);
  link.last.fill(kNone);
  link.first_waiting.fill(kNone);
  link.last_waiting.fill(kNone);
}

bool is_avoided(const Run& run, uint32_t link, uint64_t now_ns) {
  const LinkState& state = run.link(link);
  return state.down && now_ns >= state.avoided_from_ns;
}

}  // namespace rocelane::softverbs::timed
