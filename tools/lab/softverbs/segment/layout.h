#pragma once

// Everything that processes of a run share, as it lies in the segment. Objects are named by slot
// number; the numbers that verbs show (queue pair number, memory key) carry a generation besides,
// so that a stale one is found out.

#include <array>
#include <atomic>
#include <cstdint>

#include <infiniband/verbs.h>
#include <sys/types.h>

#include "softverbs/description/bounds.h"
#include "softverbs/description/run_description.h"
#include "softverbs/fabric/topology.h"
#include "softverbs/segment/arena.h"
#include "softverbs/segment/counters.h"
#include "softverbs/segment/robust_mutex.h"
#include "softverbs/segment/slot_table.h"

namespace rocelane::softverbs {

constexpr uint32_t kNone = UINT32_MAX;

constexpr uint32_t kMostProcesses = 4096;
constexpr uint32_t kMostContexts = 8192;
constexpr uint32_t kMostDomains = 65536;
constexpr uint32_t kMostQueuePairs = 1U << 17;
constexpr uint32_t kMostCompletionQueues = 1U << 16;
constexpr uint32_t kMostReceiveQueues = 1U << 13;  // shared ones
constexpr uint32_t kMostRegions = 1U << 18;
constexpr uint32_t kMostGids = 64;  // of a device

// 24 bits of queue pair number: slot below, generation above. 0 and 1 are reserved numbers.
constexpr int kQueuePairSlotBits = 17;

// Of the threads of one process, at one time.
constexpr uint32_t kMostHolds = 1024;

struct Process {
  std::atomic<Use> use;
  pid_t pid;
  uint64_t started;  // of /proc/<pid>/stat: a number used again is another process
  // The regions that its threads copy from or to right now, as slot + 1; 0: a free place. They are
  // let go when the process ends, in whatever way.
  std::atomic<uint32_t> holds_high;  // no place at or above has been used
  std::array<std::atomic<uint32_t>, kMostHolds> holds;
};

struct GidSlot {
  bool present;
  bool roce_v2;
  Gid gid;
  char interface[16];
};

struct Device {
  std::atomic<bool> port_up;
  std::atomic<bool> fatal;
  std::atomic<uint64_t> slow_ns;
  std::atomic<uint32_t> gid_generation;  // odd while the table is being changed
  std::array<GidSlot, kMostGids> gids;
  std::atomic<uint32_t> lag_turn;
  uint64_t receiving_until_ns;  // timed runs: a slow receiver is busy
  DeviceCounters counters;
};

struct Context {
  std::atomic<Use> use;
  uint32_t process;
  uint32_t device;
};

struct Domain {
  std::atomic<Use> use;
  uint32_t process;
  uint32_t context;
  std::atomic<uint32_t> users;  // regions, queue pairs, shared receive queues
};

struct Region {
  std::atomic<Use> use;
  std::atomic<uint32_t> generation;  // 8 bits of it are in the key
  uint32_t process;
  uint32_t context;
  uint32_t domain;
  uint32_t access;  // ibv_access_flags
  uint64_t start;   // as work requests name it
  uint64_t bytes;
  uint64_t address;  // where the owner has it
};

struct Completion {
  uint64_t wr_id;
  uint32_t status;
  uint32_t opcode;
  uint32_t vendor_error;
  uint32_t bytes;
  uint32_t immediate;
  uint32_t queue_pair_number;
  uint32_t flags;
  uint32_t source;      // slot of the queue pair, or of the shared receive queue
  uint64_t send_index;  // of send completions: frees the queue up to here
  uint32_t psn;         // of receive completions in timed runs: the packet that ended the message
  enum class Kind : uint32_t { kSend, kReceive, kSharedReceive } kind;
};

struct CompletionQueue {
  std::atomic<Use> use;
  RobustMutex mutex;
  uint32_t process;
  uint32_t context;
  uint64_t cookie;   // the owner's ibv_cq
  uint32_t channel;  // kNone: none
  std::atomic<uint32_t> armed;
  uint32_t capacity;
  Offset<Completion> ring;
  std::atomic<uint64_t> head, tail;
  std::atomic<bool> overflowed;
  std::atomic<uint32_t> users;
};

struct ReceiveEntry {
  uint64_t wr_id;
  uint32_t sge_count;
  uint32_t reserved;
  // ibv_sge sges[max_sge] follow
};

struct ReceiveQueue {
  RobustMutex mutex;
  uint32_t capacity;
  uint32_t max_sge;
  Offset<ReceiveEntry> ring;
  std::atomic<uint64_t> posted, taken, retired;
};

struct SharedReceiveQueue {
  std::atomic<Use> use;
  uint32_t process;
  uint32_t context;
  uint32_t domain;
  uint64_t cookie;
  std::atomic<uint32_t> limit;  // event when fewer are left; 0: not armed
  std::atomic<uint32_t> users;
  std::atomic<bool> awaited;  // somebody waits to send; direct runs
  ReceiveQueue queue;
};

struct SendEntry {
  uint64_t wr_id;
  uint64_t remote_address;
  uint32_t remote_key;
  uint32_t immediate;
  uint32_t bytes;
  uint32_t opcode;
  uint32_t sge_count;
  uint32_t first_psn;           // timed runs
  uint32_t bursts;              // timed runs
  uint32_t fault;               // timed runs: which fault of the script hits it, kNone
  uint32_t transmissions;       // timed runs
  uint32_t acknowledged_bytes;  // timed runs
  uint32_t read_bursts;         // timed runs: of a READ, arrived ones
  bool signalled;
  bool is_inline;
  bool fenced;  // waits for READs before it
  // ibv_sge sges[max_sge], or inline bytes, follow
};

// What the receiving side of a queue pair has of a message that is not complete yet.
struct Responder {
  uint32_t expected_psn;
  bool nak_sent;
  bool receive_taken;
  bool end_reported;  // nothing more will be taken from the shared receive queue
  uint32_t received_bytes;
  uint64_t receive_index;  // in its queue, of the one taken
  ReceiveEntry receive;
  std::array<ibv_sge, kMostSges> sges;
};

struct Requester {
  uint32_t next_psn;
  // Why the entry at the head does not go on. Direct runs only.
  enum class Stall : uint32_t { kNothing, kSilent, kReceiverNotReady } stall;
  uint64_t stalled_since_ns;
  // Timed runs only.
  uint64_t cursor_index;   // the entry to send next …
  uint32_t cursor_offset;  // … from this byte
  uint32_t cursor_psn;
  uint32_t acknowledged_psn;  // the oldest that is not
  uint32_t sent_psn;          // the first that has never been sent
  uint64_t in_flight_bytes;
  uint32_t reads_in_flight;
  uint64_t deadline_ns;  // of the oldest unacknowledged packet; 0: none
  bool timer_queued;
  uint64_t wait_until_ns;  // after a receiver-not-ready answer
  uint32_t retries_left, rnr_retries_left;
  bool waits_for_link;  // in a link's list
  uint32_t next_waiting;
  bool sends_drained;   // the event of state SQD has been raised
  uint32_t path_epoch;  // of Fabric, when `path` was found
  bool has_path;
  bool no_path;
  Path path;
};

struct QueuePair {
  std::atomic<Use> use;
  std::atomic<uint32_t> generation;
  std::atomic<uint32_t> state;  // ibv_qp_state
  uint32_t number;
  uint32_t process;
  uint32_t context;
  uint32_t device;
  uint32_t domain;
  uint64_t cookie;
  uint32_t send_queue, receive_queue;  // completion queues
  uint32_t shared_receive_queue;       // kNone: its own
  uint32_t inline_limit;
  uint32_t max_send_sge;
  uint32_t message_limit;  // bytes
  bool signal_all;
  uint8_t lag_port;
  uint16_t udp_source_port;
  uint32_t peer_device;  // found at the step to RTR
  Gid local_gid;
  bool roce_v2;
  ibv_qp_attr attributes;  // as they were set

  RobustMutex send_mutex;       // the requester and its queue
  RobustMutex responder_mutex;  // the responder: held while data is placed

  uint32_t send_capacity;
  Offset<SendEntry> send_ring;  // direct runs: made when something has to wait
  std::atomic<uint64_t> posted, completed, retired;
  std::atomic<bool> pending;  // completed < posted

  ReceiveQueue receives;
  std::atomic<bool> receive_awaited;  // the peer waits to send; direct runs
  Requester requester;
  Responder responder;
  QueuePairCounters counters;
};

// One direction of a cable, while a run goes on.
struct LinkState {
  bool busy;
  uint32_t current;  // the burst it is sending, when busy …
  uint64_t free_ns;  // … until then
  bool cut;
  bool down;
  uint64_t avoided_from_ns;  // when it is down
  uint64_t paused;
  double rate_bits_per_s;
  uint64_t delay_ns;
  double loss;
  uint64_t queued_bytes;
  std::array<uint32_t, 8> first, last;  // bursts by priority
  std::array<uint32_t, 8> first_waiting,
      last_waiting;  // queue pairs that want to send, first hop only
  LinkCounters counters;
};

struct Event {
  enum class Kind : uint32_t {
    kBurst,    // has reached the end of a link
    kDeliver,  // has reached its device
    kLinkFree,
    kTimer,     // of a queue pair
    kWaitOver,  // of a queue pair
    kFault,
    kFaultOver,
    kRerouted,  // switches avoid a link
    kNothing,
  };
  uint64_t time_ns;
  uint64_t tie;     // among events of one time: random by the seed, the same for one queue pair …
  uint64_t number;  // … and then in the order of their making
  Kind kind;
  uint32_t subject;  // burst, link, queue pair or fault
};

struct Burst;

// The fabric of a timed run: one mutex for all of it.
struct Fabric {
  RobustMutex mutex;
  bool begun;
  std::atomic<uint64_t> next_event_ns;  // UINT64_MAX: none
  std::atomic<uint64_t> next_tick_ns;   // when a ticker of some process will look
  uint64_t random_state;
  uint64_t events;  // so far
  std::atomic<uint32_t> path_epoch;
  Offset<Event> heap;
  uint64_t heap_size, heap_capacity;
  // What a process had in its hand when it was killed is found here.
  Event moving, handled;
  Offset<Burst> bursts;
  uint32_t burst_capacity, free_burst, bursts_used;
  Offset<LinkState> links;
  uint32_t link_count;
  Offset<uint64_t> fault_counts;  // by fault: the work requests that its trigger has counted
};

// What is remembered of a queue pair that was connected and is destroyed.
struct QueuePairRecord {
  uint32_t device, peer_device;
  uint32_t number, peer_number;
  uint16_t udp_source_port;
  uint8_t traffic_class;
  Path path;
  QueuePairCounters counters;
};
constexpr uint32_t kMostRecords = 1U << 17;

struct Journal {
  std::atomic<uint64_t> written;  // may exceed kMostRecords: the rest is left out
  std::atomic<uint32_t> backed;   // so many records have memory behind them
  Offset<QueuePairRecord> records;
};

constexpr uint32_t kMostInjectedFaults = 4096;

constexpr uint64_t kMagic = 0x736f667476657262;  // "softverb"
constexpr uint32_t kLayoutVersion = 2;

struct Header {
  std::atomic<uint64_t> magic;
  uint32_t version;
  uint64_t description_digest;
  uint64_t began_ns;  // CLOCK_MONOTONIC
  std::atomic<uint64_t> next_reap_ns;
  SlotTable process_table, context_table, domain_table, region_table, completion_queue_table,
      shared_receive_queue_table, queue_pair_table;
  Arena arena;
  Fabric fabric;
  uint32_t device_count;
  Offset<Device> devices;
  Offset<Process> processes;
  Offset<Context> contexts;
  Offset<Domain> domains;
  Offset<Region> regions;
  Offset<CompletionQueue> completion_queues;
  Offset<SharedReceiveQueue> shared_receive_queues;
  Offset<QueuePair> queue_pairs;
  Journal journal;
};

}  // namespace rocelane::softverbs
