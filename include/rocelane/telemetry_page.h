#pragma once

// The layout of the telemetry page: one memory-mapped file per process, in which the transport
// counts and which other programs (tuner, `rocelane top`, metrics exporters) read meanwhile.
//
// File     `<directory>/rocelane.<uid>.<pid>`, mode 0600; `.1`, `.2`, … follow when the name is
//          taken, as it is by processes of different PID namespaces that share the directory. The
//          owner holds an open-file-description write lock on the whole file as long as it lives.
//          A file without that lock whose process is not seen running is a leftover. Removing a
//          page does no harm to its owner; truncating one kills it, as with any mapped file.
// Shape    PageHeader, then the tables it describes: ports, connections, lanes. All numbers are in
//          the byte order of the host. Slots beyond `slots_backed` are holes: they read as zeros
//          and must not be touched through a mapping, which could fault where memory is short.
// Reading  By pread, not through a mapping: nothing that happens to the file can then fault the
//          reader. Take the slot's `sequence`, the slot, and `sequence` again; both must be equal
//          and say "in use" (see SlotPhase). The rest of a sequence is the life of the slot: what
//          belongs to two lives is never compared. Text is NUL-padded and need not end with NUL.
// Writing  Whoever claims a slot writes its identity under a mutex; then each counter has exactly
//          ONE writing thread, named beside it. An increment is a relaxed load and a relaxed store,
//          never a locked instruction. Counters are 64 bits wide and only grow within a life.
// Versions `version` grows with every change. Fields are appended only, in reserved space or at the
//          end of a slot; `slot_bytes` says how long a slot is in this page, so that a newer reader
//          finds older pages. A page that older readers would misread raises `oldest_reader`.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace rocelane::telemetry {

inline constexpr char kMagic[8] = {'R', 'O', 'C', 'E', 'L', 'A', 'N', 'E'};
inline constexpr uint32_t kVersion = 1;
inline constexpr uint32_t kOldestReader = 1;
inline constexpr uint32_t kNone = UINT32_MAX;  // an index of nothing, or of something not shown
inline constexpr int32_t kRankUnknown = -1;
inline constexpr uint32_t kMostSlots = 16384;  // no table of any version has more
inline constexpr size_t kCacheLine = 64;

// ---- Latency: a log-linear histogram ------------------------------------------------------------
// Every power of two from 256 ns to 64 s (2^8 to 2^36 ns) is cut into 16 equal buckets, so that the
// middle of a bucket is at most 1/32 (3.2 %) away from what was counted in it. Bucket 0 takes what
// is shorter, the last bucket what is longer.
inline constexpr uint32_t kLatencyFirstPower = 8;
inline constexpr uint32_t kLatencyPowers = 28;
inline constexpr uint32_t kLatencyStepBits = 4;
inline constexpr uint32_t kLatencySteps = 1U << kLatencyStepBits;
inline constexpr uint32_t kLatencyBuckets = kLatencyPowers * kLatencySteps + 2;

// Free of branches: part of the data path.
constexpr uint32_t latency_bucket(uint64_t nanoseconds) {
  // The last value below the range falls into the step before the first one.
  constexpr uint64_t kBelow = (uint64_t{1} << kLatencyFirstPower) - 1;
  constexpr uint32_t kFirst =
      (kLatencyFirstPower - 1 - kLatencyStepBits) * kLatencySteps + 2 * kLatencySteps - 1;
  const uint64_t clamped = std::max(nanoseconds, kBelow);
  // Not std::bit_width, for which a compiler may ask whether the value is 0.
  const uint32_t power = 63 - static_cast<uint32_t>(__builtin_clzll(clamped));
  const uint32_t shift = power - kLatencyStepBits;
  const uint32_t bucket =
      (shift << kLatencyStepBits) + static_cast<uint32_t>(clamped >> shift) - kFirst;
  return std::min(bucket, kLatencyBuckets - 1);
}

// The shortest latency, in nanoseconds, that bucket `bucket` takes; the next bucket's floor ends
// it.
constexpr uint64_t latency_bucket_floor(uint32_t bucket) {
  if (bucket == 0) {
    return 0;
  }
  const uint32_t step = bucket - 1;
  const uint32_t power = kLatencyFirstPower + step / kLatencySteps;
  return uint64_t{kLatencySteps + step % kLatencySteps} << (power - kLatencyStepBits);
}

// ---- Header -------------------------------------------------------------------------------------
struct TableDescription {
  uint64_t offset;        // of slot 0 from the beginning of the page, in bytes
  uint32_t slot_bytes;    // from one slot to the next
  uint32_t capacity;      // slots this page can ever have
  uint32_t slots_backed;  // slots that have memory; grows at connection set-up
  uint32_t not_shown;     // live claims that found no slot: they count, but nobody can see it
  uint64_t reserved;
};

// Who owns the page. Stays where it is in every version: leftovers of any version are recognised.
struct OwnerFacts {
  uint64_t start_ticks;    // of the process since boot, as in /proc/<pid>/stat; 0: unknown
  uint64_t pid_namespace;  // inode of its PID namespace; 0: unknown
  uint8_t boot_id[16];     // of the kernel; two hosts, or two boots of one, differ
  uint32_t pid;            // as the owner sees itself
  uint32_t uid;            // effective
  char host_name[64];
};

struct PageHeader {
  char magic[8];  // written last
  uint32_t version;
  uint32_t oldest_reader;  // the oldest reader that reads this page rightly
  uint32_t header_bytes;
  uint32_t table_count;
  uint64_t page_bytes;
  OwnerFacts owner;
  int32_t rank;  // NCCL's, of the first communicator; kRankUnknown. Any thread of the owner
  uint32_t reserved_0;
  uint64_t created_monotonic_ns;    // CLOCK_MONOTONIC, as all times in the page
  int64_t wall_minus_monotonic_ns;  // both by the thread that samples the ports
  uint64_t updated_monotonic_ns;
  uint32_t latency_first_power;
  uint32_t latency_powers;
  uint32_t latency_steps;
  uint32_t reserved_1;
  TableDescription ports;
  TableDescription connections;
  TableDescription lanes;
  uint8_t reserved_2[232];
};

// ---- Slots --------------------------------------------------------------------------------------
// sequence % 4. A claim takes a slot from kFree through kChanging to kInUse, a release to kFree.
enum class SlotPhase : uint32_t { kFree = 0, kChanging = 1, kInUse = 2 };
constexpr SlotPhase phase_of(uint64_t sequence) { return static_cast<SlotPhase>(sequence % 4); }
constexpr uint64_t life_of(uint64_t sequence) { return sequence / 4; }

enum class PortState : uint32_t { kUnknown, kDown, kActive };
enum class ConnectionState : uint32_t { kUnknown, kSettingUp, kReady, kRecovering, kFailed };
enum class LaneState : uint32_t { kUnknown, kSettingUp, kReady, kSuspect, kFenced, kFailed };
enum class Direction : uint32_t { kUnknown, kSend, kReceive };
enum class LaneKind : uint32_t { kUnknown, kData, kSmallMessages, kControl };

// Counters of a port, named for what they mean; drivers name them differently. New ones are
// appended.
enum class PortCounter : uint32_t {
  kSentBytes,
  kReceivedBytes,
  kSequenceErrors,          // sender: the peer reported a gap (loss on the way there)
  kImpliedSequenceErrors,   // sender: a later answer implied a gap (loss on the way back)
  kAcknowledgeTimeouts,     // sender: silence until the timer fired; the sign of a dead path
  kAdaptiveRetransmits,     // sender: early retransmissions that hide the above
  kOutOfSequence,           // receiver: packets after a gap
  kDuplicateRequests,       // receiver: retransmitted requests that had arrived
  kReceiverNotReady,        // sender: RNR NAKs received
  kOutOfBuffer,             // receiver: no receive was posted
  kEcnMarkedReceived,       // receiver: packets with congestion marks
  kCongestionNotesSent,     // receiver: CNPs sent for them
  kCongestionNotesHandled,  // sender: CNPs that slowed us down
  kPausesReceived,          // the switch stopped us
  kPausesSent,              // we stopped the switch
  kDiscards,                // dropped at the port
  kLinkDowns,
  kCount,
};
inline constexpr size_t kPortCounterRoom = 32;

struct alignas(kCacheLine) PortSlot {
  uint64_t sequence;
  uint64_t sampled_monotonic_ns;  // this and what follows up to device: the sampling thread
  uint64_t known_counters;        // bit n: this device has PortCounter n
  uint64_t speed_mbps;
  PortState state;
  uint32_t port_number;
  char device[64];     // e.g. mlx5_0
  char interface[16];  // e.g. eth1
  uint64_t reserved;
  uint64_t counters[kPortCounterRoom];  // by PortCounter, as the device counts; the sampling thread
};

// What one thread counts for every message. One cache line: a message costs one.
struct alignas(kCacheLine) Traffic {
  uint64_t bytes;     // completed
  uint64_t messages;  // completed; on a lane: stripes
  uint64_t errors;
  uint64_t reserved[5];
};

// One direction of traffic with one peer.
struct alignas(kCacheLine) ConnectionSlot {
  uint64_t sequence;
  uint64_t port_life;   // see port_index
  uint32_t port_index;  // the first of our ports it uses; kNone
  Direction direction;
  ConnectionState state;  // any thread
  uint32_t peer_rank;     // kNone: unknown
  char peer_host[64];
  char peer_device[64];
  uint64_t reserved_0[4];
  Traffic traffic;  // the progress thread of the connection
  uint64_t reserved_1[8];
};

// One queue pair on one path.
struct alignas(kCacheLine) LaneSlot {
  uint64_t sequence;
  uint64_t connection_life;   // a lane belongs to the connection whose slot has this life;
  uint64_t port_life;         // likewise
  uint32_t connection_index;  // kNone when that connection is not shown
  uint32_t port_index;
  uint32_t number;  // within the connection
  LaneKind kind;
  uint32_t local_queue_pair;
  uint32_t remote_queue_pair;
  LaneState state;  // any thread
  uint32_t traffic_class;
  uint64_t path;           // flow label << 16 | UDP source port, in one store; any thread
  uint64_t round_trip_ns;  // at set-up, 0: not measured; any thread
  uint64_t path_changes;   // any one thread at a time
  uint64_t reserved_0[5];
  Traffic traffic;                    // the progress thread of the connection
  uint64_t latency[kLatencyBuckets];  // the same thread; post to completion
  uint64_t reserved_1[14];
};

// ---- What other programs rely on ----------------------------------------------------------------
#define ROCELANE_PAGE_OFFSET(type, member, bytes)                             \
  static_assert(offsetof(type, member) == (bytes), #type "::" #member         \
                                                         " is read by other " \
                                                         "programs")

static_assert(sizeof(TableDescription) == 32);
static_assert(sizeof(OwnerFacts) == 104);
static_assert(sizeof(PageHeader) == 512);
ROCELANE_PAGE_OFFSET(PageHeader, version, 8);
ROCELANE_PAGE_OFFSET(PageHeader, page_bytes, 24);
ROCELANE_PAGE_OFFSET(PageHeader, owner, 32);
ROCELANE_PAGE_OFFSET(PageHeader, rank, 136);
ROCELANE_PAGE_OFFSET(PageHeader, created_monotonic_ns, 144);
ROCELANE_PAGE_OFFSET(PageHeader, latency_first_power, 168);
ROCELANE_PAGE_OFFSET(PageHeader, ports, 184);
ROCELANE_PAGE_OFFSET(PageHeader, connections, 216);
ROCELANE_PAGE_OFFSET(PageHeader, lanes, 248);

static_assert(sizeof(PortSlot) == 384);
ROCELANE_PAGE_OFFSET(PortSlot, state, 32);
ROCELANE_PAGE_OFFSET(PortSlot, device, 40);
ROCELANE_PAGE_OFFSET(PortSlot, counters, 128);
static_assert(static_cast<size_t>(PortCounter::kCount) <= kPortCounterRoom);

// Odd numbers of cache lines: hot lines of neighbouring slots then never crowd into a few sets of a
// processor's cache, as they would at a stride of 4096 bytes.
static_assert(sizeof(Traffic) == kCacheLine);
static_assert(sizeof(ConnectionSlot) == 5 * kCacheLine);
ROCELANE_PAGE_OFFSET(ConnectionSlot, peer_host, 32);
ROCELANE_PAGE_OFFSET(ConnectionSlot, traffic, 192);
static_assert(sizeof(LaneSlot) == 61 * kCacheLine);
ROCELANE_PAGE_OFFSET(LaneSlot, state, 48);
ROCELANE_PAGE_OFFSET(LaneSlot, path, 56);
ROCELANE_PAGE_OFFSET(LaneSlot, traffic, 128);
ROCELANE_PAGE_OFFSET(LaneSlot, latency, 192);
#undef ROCELANE_PAGE_OFFSET

static_assert(std::is_trivially_copyable_v<PageHeader> && std::is_trivially_copyable_v<PortSlot> &&
              std::is_trivially_copyable_v<ConnectionSlot> &&
              std::is_trivially_copyable_v<LaneSlot>);
static_assert(latency_bucket(255) == 0 && latency_bucket(256) == 1);
static_assert(latency_bucket((uint64_t{1} << 36) - 1) == kLatencyBuckets - 2);
static_assert(latency_bucket(uint64_t{1} << 36) == kLatencyBuckets - 1);
static_assert(latency_bucket(UINT64_MAX) == kLatencyBuckets - 1);

}  // namespace rocelane::telemetry
