#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace rocelane::softverbs {

// A count that several threads may add to; readers may be a little behind.
class Counter {
 public:
  void add(uint64_t amount) { value_.fetch_add(amount, std::memory_order_relaxed); }
  uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_;
};

// Meanings: include/softverbs/softverbs.h.
struct QueuePairCounters {
  Counter sends, writes, writes_with_immediate, reads;
  Counter send_posts, receives, receive_posts, inline_bytes, sent_bytes, completions,
      retransmissions;
};

struct DeviceCounters {
  QueuePairCounters destroyed_queue_pairs;
  Counter polls, empty_polls, registrations, deregistrations;
  std::atomic<uint32_t> live_queue_pairs, live_completion_queues, live_regions, live_domains,
      live_shared_receive_queues;
  Counter ecn_marked_packets, congestion_notifications, out_of_sequence, retry_exceeded,
      rnr_nak_received, duplicate_requests, access_errors, port_down_events;
  std::array<Counter, 256> sent_bytes_by_traffic_class;
};

struct LinkCounters {
  uint64_t packets, bytes, lost_packets, marked_packets, pauses;
  std::array<uint64_t, 8> bytes_by_priority;
  uint64_t longest_queue_bytes;
};

}  // namespace rocelane::softverbs
