#pragma once

// A virtual run of softverbs with everything a test needs of it: devices, connections, and a clock
// it moves.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <infiniband/verbs.h>

#include "softverbs/softverbs.h"

namespace rocelane::softverbs_test {

constexpr uint64_t kMicrosecond = 1'000;
constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint64_t kSecond = 1'000'000'000;

struct Host;

struct Wishes {
  uint32_t flow_label = 1;
  uint8_t traffic_class = 0;
  uint8_t timeout = 14;  // 67 ms
  uint8_t retries = 2;
  uint8_t rnr_retries = 7;
  uint8_t gid_index = 3;
  size_t bytes = 1 << 20;  // of the memory at each end
  uint32_t depth = 512;
  uint32_t shared_receives = 0;  // places of a shared receive queue; 0: receives of its own
};

// A queue pair with memory of its own.
class End {
 public:
  End(ibv_context* context, const Wishes& wishes);
  ~End();
  End(const End&) = delete;
  End& operator=(const End&) = delete;

  // 0 or the errno value of the step to RTR.
  int connect(const End& peer);

  // `bytes` from the beginning of the memory here to the one there; 0 or an errno value.
  int write(const End& peer, size_t bytes, uint64_t id = 0);
  int write_with_immediate(const End& peer, size_t bytes, uint32_t immediate, uint64_t id = 0);
  int read(const End& peer, size_t bytes, uint64_t id = 0);
  int send(size_t bytes, uint64_t id = 0);
  int receive(uint64_t id = 0);
  // To the state RESET; 0 or an errno value.
  int reset();

  // What has completed since the last call.
  std::vector<ibv_wc> sent() { return poll(send_queue_); }
  std::vector<ibv_wc> received() { return poll(receive_queue_); }

  std::vector<uint8_t>& memory() { return memory_; }
  ibv_qp* queue_pair() { return pair_; }
  softverbs_qp_counters counters() const;
  // Whether the first `bytes` are those of `other`.
  bool has_bytes_of(const End& other, size_t bytes) const;

 private:
  static std::vector<ibv_wc> poll(ibv_cq* queue);
  int post(ibv_wr_opcode opcode, const End* peer, size_t bytes, uint32_t immediate, uint64_t id);

  Wishes wishes_;
  ibv_gid gid_{};
  std::vector<uint8_t> memory_;
  ibv_pd* domain_;
  ibv_cq *send_queue_, *receive_queue_;
  ibv_mr* region_;
  ibv_srq* shared_ = nullptr;
  ibv_qp* pair_;
};

// Two ends, connected.
struct Connection {
  std::unique_ptr<End> from, to;
};

class Simulation {
 public:
  explicit Simulation(const std::string& fabric, const std::string& faults = "", uint64_t seed = 1);
  ~Simulation();

  ibv_context* device(const std::string& name);  // "host1/soft_0"
  std::unique_ptr<End> end(const std::string& device, const Wishes& wishes = {});
  Connection connect(const std::string& from, const std::string& to, const Wishes& wishes = {});

  uint64_t now_ns() const { return softverbs_now_ns(); }
  void run_for(uint64_t ns) { softverbs_run_until(softverbs_now_ns() + ns); }
  // Until nothing is to come, or the limit; false for the limit.
  bool run_dry(uint64_t limit_ns = 3600 * kSecond);

  softverbs_link_counters link(const std::string& name) const;
  softverbs_device_counters counters(const std::string& device);
  std::string counters_json() const;
  // The next asynchronous event of a device; -1 when there is none.
  int next_event(const std::string& device);
  // Every line of the event log since the start.
  const std::string& log() const { return log_; }

 private:
  std::map<std::string, ibv_context*> contexts_;
  std::string log_;
};

}  // namespace rocelane::softverbs_test
