#pragma once

// Watches the priorities of one port until it knows whether our traffic is in a lossless one.

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/health/queue_check.h"
#include "net/health/recorders.h"

namespace rocelane::telemetry {

// How to ask about an interface; see interface_queues.h.
struct QueueSources {
  std::function<Result<std::vector<Statistic>>(const std::string&)> statistics;
  std::function<Result<QueueRules>(const std::string&)> rules;
};

struct QueueFinding {
  bool is_wrong = false;  // a person has to know; else it says why nothing is judged
  std::string text;
};

class QueueWatch {
 public:
  QueueWatch(std::string device, std::string interface, QueueSources sources)
      : device_(std::move(device)),
        interface_(std::move(interface)),
        sources_(std::move(sources)) {}

  // From any thread, when a connection over the port is up. The first one counts.
  void carries(uint8_t traffic_class);

  // By one thread, about once a second, with the port's counters of that moment. Asks the kernel
  // three times in all, for that takes a lock that configuring interfaces takes too. One finding
  // in its life, or none.
  std::optional<QueueFinding> look(const PortCounters& counters);

 private:
  struct Rdma {
    uint64_t sent = 0;
    uint64_t received = 0;
  };
  static std::optional<Rdma> rdma_bytes(const PortCounters& counters);
  std::optional<QueueFinding> begin(const Rdma& rdma);
  std::optional<QueueFinding> judge(const Rdma& rdma, uint8_t traffic_class);
  QueueFinding end(bool is_wrong, std::string text);
  QueueFinding unknown(const std::string& why);

  static constexpr int kNothingCarried = -1;

  std::string device_;
  std::string interface_;
  QueueSources sources_;
  std::atomic<int> traffic_class_{kNothingCarried};
  // The rest: only the thread that looks.
  bool has_ended_ = false;
  bool has_begun_ = false;
  int looks_ = 0;  // since it began
  Rdma rdma_before_;
  PriorityBytes before_;
  bool sent_judged_ = false;
  bool received_judged_ = false;
};

}  // namespace rocelane::telemetry
