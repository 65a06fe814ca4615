#pragma once

// What both ends of a connection share: where they are, how they wait, and what they tell.

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "nccl_host/caller.h"
#include "nccl_host/inspection.h"
#include "nccl_host/message_plan.h"
#include "nccl_host/net.h"

namespace rocelane::nccl_host {

// What *request holds before a call, as it holds an old pointer in NCCL. Nothing is there.
inline void* const kStaleRequest = reinterpret_cast<void*>(uintptr_t{0xDEAD'BEE8});
inline constexpr int kNotAssigned = -77;
// NCCL hands test an array longer than the group.
inline constexpr size_t kSizesPassed = 64;

struct RankPlace {
  int rank = 0;
  int device = 0;
  void* context = nullptr;
  int traffic_class = kNcclNetUndefined;
  NcclNetPropertiesV12 properties{};
};

// Everything wrong that did not stop the run. Any thread.
class Findings {
 public:
  void add(const Finding& finding);
  size_t wrong_bytes() const;
  std::vector<std::string> sentences() const;  // the first few

 private:
  mutable std::mutex mutex_;
  size_t wrong_bytes_ = 0;
  std::vector<std::string> sentences_;
};

// A digest of calls and their outcomes: equal runs have equal ones. One thread.
class Trace {
 public:
  void restart() { digest_ = kStart; }
  void add(int connection, char call, uint64_t what, uint64_t outcome);
  uint64_t digest() const { return digest_; }

 private:
  static constexpr uint64_t kStart = 0xCBF29CE484222325U;
  uint64_t digest_ = kStart;
};

enum class MemoryChoice : uint8_t {
  kHost,  // everything
  kGpu,   // LL128 and Simple registered as CUDA memory
  kAuto,  // as kGpu where the device takes CUDA pointers
};

struct EndSettings {
  int window = 8;                         // outstanding a sender, and grouped receives
  uint64_t patience_ns = 30'000'000'000;  // of one wait, by the run's clock
  MemoryChoice memory = MemoryChoice::kAuto;
  bool optional_completions = true;  // give the hint where NCCL does
  bool flush = false;
  bool vary_arguments = true;  // leave out sizes and profiler parents now and then
  // Fill, look at and clear every message. A measurement does not: that costs more than the net.
  bool check_bytes = true;
  Findings* findings = nullptr;
  Trace* trace = nullptr;  // single-threaded runs
};

// How long a wait has lasted without anything moving.
class Patience {
 public:
  explicit Patience(uint64_t limit_ns) : limit_ns_(limit_ns) {}
  void moved(uint64_t now_ns) { since_ns_ = now_ns; }
  // Set-up and messages may have clocks of their own.
  void restart() { since_ns_.reset(); }
  bool is_over(uint64_t now_ns) {
    if (!since_ns_) {
      since_ns_ = now_ns;
    }
    return now_ns - *since_ns_ > limit_ns_;
  }
  double limit_s() const { return static_cast<double>(limit_ns_) * 1e-9; }

 private:
  uint64_t limit_ns_;
  std::optional<uint64_t> since_ns_;
};

// "accept on connection 0 (rank 0 to rank 1): the plugin keeps saying …"
std::string wait_text(const std::string& what, const ConnectionPlan& connection,
                      const std::string& state);
// "rank 1 has waited 30 s for accept on …"
Error wait_is_over(int rank, double limit_s, const std::string& wait);
// "rank 1's progress thread: irecv on connection 0 (rank 0 to rank 1) returned remote error (6)."
Error call_failed(const Caller& caller, const ConnectionPlan& connection, NcclResult result);
Error broken_promise(const Caller& caller, const ConnectionPlan& connection,
                     const std::string& what);

// The 128 bytes of a listener, on their way to the connecting rank. One writer and one reader each.
class Handles {
 public:
  using Bytes = std::array<std::byte, kNcclNetHandleBytes>;
  explicit Handles(size_t connections) : slots_(connections) {}
  void post(int connection, const Bytes& bytes);
  const Bytes* look(int connection) const;  // nullptr: not yet

 private:
  struct Slot {
    std::atomic<bool> there = false;
    Bytes bytes{};
  };
  std::vector<Slot> slots_;
};

// The memory of one end and its registrations, a buffer for each protocol in use.
struct Buffer {
  Arena arena;
  void* registration = nullptr;
};
class Buffers {
 public:
  // No plugin call yet.
  Buffers(const ConnectionPlan& plan, int window);

  // Service thread. Registers the next buffer; false: all are.
  Result<bool> register_next(Net& net, Caller& caller, void* connection, const RankPlace& place,
                             const ConnectionPlan& plan, MemoryChoice memory);
  // Service thread, before the connection is closed, as NCCL does.
  Status deregister_all(Net& net, Caller& caller, void* connection, const ConnectionPlan& plan);

  Buffer& of(Protocol protocol) { return buffers_.at(protocol); }
  const Buffer& of(Protocol protocol) const { return buffers_.at(protocol); }
  const std::map<Protocol, Buffer>& all() const { return buffers_; }

 private:
  std::map<Protocol, Buffer> buffers_;
};

// Which slot of a buffer a message of a group uses.
inline size_t slot_of(size_t group, int sub, int window, int subs) {
  return (group % static_cast<size_t>(window)) * static_cast<size_t>(subs) +
         static_cast<size_t>(sub);
}

}  // namespace rocelane::nccl_host
