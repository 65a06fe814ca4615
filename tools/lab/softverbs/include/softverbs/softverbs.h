#pragma once

// What softverbs offers besides verbs. C, so that any program can look it up with dlsym in the
// libibverbs it runs on. All functions are thread-safe unless they say otherwise.

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ibv_context;
struct ibv_qp;

// Counts since creation. Every member is a number of things unless its name says bytes.
struct softverbs_qp_counters {
  uint64_t sends, writes, writes_with_immediate, reads;  // work requests accepted by kind
  uint64_t send_posts;                                   // calls that post them: doorbells
  uint64_t receives;       // receive work requests posted to the queue pair itself
  uint64_t receive_posts;  // calls that post them
  uint64_t inline_bytes;
  uint64_t sent_bytes;       // payload of work requests
  uint64_t completions;      // send and receive entries written to completion queues
  uint64_t retransmissions;  // timed runs only
};

struct softverbs_device_counters {
  struct softverbs_qp_counters queue_pairs;  // sum over all queue pairs, destroyed ones included
  uint64_t polls, empty_polls;               // calls of ibv_poll_cq
  uint64_t registrations, deregistrations;   // of memory
  uint64_t live_queue_pairs, live_completion_queues, live_memory_regions, live_protection_domains,
      live_shared_receive_queues;
  uint64_t ecn_marked_packets, congestion_notifications, out_of_sequence, retry_exceeded,
      rnr_nak_received, duplicate_requests, access_errors, port_down_events;
  uint64_t sent_bytes_by_traffic_class[256];
};

struct softverbs_link_counters {
  uint64_t packets, bytes, lost_packets, marked_packets, pauses;
  uint64_t bytes_by_priority[8];  // priority: DSCP / 8
  uint64_t longest_queue_bytes;
};

// 0 or an errno value.
int softverbs_query_qp(struct ibv_qp* qp, struct softverbs_qp_counters* counters);
int softverbs_query_device(struct ibv_context* context, struct softverbs_device_counters* counters);
int softverbs_query_link(const char* name, struct softverbs_link_counters* counters);

// All counters of the run as JSON text. Returns the length without the final zero, whatever fits is
// written.
size_t softverbs_counters_json(char* text, size_t capacity);

// A virtual run: one process, a clock that stands still until it is told to move, and a memory of
// its own. Replaces the run of the environment until it is closed; opening and closing need that no
// device is open. In it, a process sees the devices of all hosts, named "host1/soft_0". `fabric`
// and `faults` are TOML texts (may be NULL or empty). Returns 0, or EINVAL with a sentence in
// `error` (may be NULL).
int softverbs_open_virtual(const char* fabric, const char* faults, uint64_t seed, char* error,
                           size_t error_capacity);
void softverbs_close_virtual(void);

// Nanoseconds since the run began, by its own clock.
uint64_t softverbs_now_ns(void);
// Virtual runs: the time of the next event, UINT64_MAX when nothing is due ever.
uint64_t softverbs_next_event_ns(void);
// Virtual runs: does everything due up to `time_ns`, then the clock shows `time_ns`. Returns the
// number of events.
uint64_t softverbs_run_until(uint64_t time_ns);

// Carries out the faults of a TOML text now; their times count from now. 0, or EINVAL with a
// sentence in `error`.
int softverbs_inject(const char* faults, char* error, size_t error_capacity);

// Timed runs: one line for everything that happens, the same for the same seed and the same calls.
// NULL stops it. The function must not call verbs.
void softverbs_log_events(void (*line)(void* user, const char* text), void* user);

#ifdef __cplusplus
}
#endif
