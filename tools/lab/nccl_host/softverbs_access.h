#pragma once

// What the libibverbs of this process offers besides verbs, when it is softverbs. Looked up by
// name: with another libibverbs, or none, everything says that it is not there.

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "softverbs/softverbs.h"

struct ibv_device;

namespace rocelane::nccl_host {

using DeviceCounters = std::map<std::string, softverbs_device_counters>;  // by device name

// Counts of `later` less those of `earlier`.
softverbs_device_counters difference(const softverbs_device_counters& later,
                                     const softverbs_device_counters& earlier);
// What adds up: counts of messages' work and live objects.
softverbs_device_counters sum_of(const DeviceCounters& counters);
DeviceCounters difference(const DeviceCounters& later, const DeviceCounters& earlier);

// Objects on devices, of all kinds.
struct LiveObjects {
  uint64_t queue_pairs = 0;
  uint64_t completion_queues = 0;
  uint64_t memory_regions = 0;
  uint64_t protection_domains = 0;
  uint64_t shared_receive_queues = 0;

  uint64_t all() const {
    return queue_pairs + completion_queues + memory_regions + protection_domains +
           shared_receive_queues;
  }
  friend LiveObjects operator-(const LiveObjects& a, const LiveObjects& b);
};
LiveObjects live_objects(const DeviceCounters& counters);

class Softverbs {
 public:
  // Loads libibverbs.so.1 if nobody has.
  static Softverbs find();

  bool counts() const { return query_device_ != nullptr; }
  bool has_virtual_clock() const { return run_until_ != nullptr && open_virtual_ != nullptr; }

  Status open_virtual(const std::string& fabric, const std::string& faults, uint64_t seed) const;
  void close_virtual() const { close_virtual_(); }
  Status inject(const std::string& faults) const;
  // All counters of the run, as docs/lab.md describes them; only when it counts.
  std::string counters_json() const;
  // A line for everything that happens on the devices, until it is stopped.
  bool logs_events() const { return log_events_ != nullptr; }
  void log_events(std::ostream& to) const;
  void stop_logging_events() const { log_events_(nullptr, nullptr); }
  uint64_t now_ns() const { return now_(); }
  uint64_t next_event_ns() const { return next_event_(); }
  void run_until(uint64_t time_ns) const { run_until_(time_ns); }

  // Devices opened by us to ask them; close before close_virtual.
  class Reader {
   public:
    explicit Reader(const Softverbs& softverbs);
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    ~Reader();
    DeviceCounters read() const;

   private:
    const Softverbs& softverbs_;
    std::map<std::string, ibv_context*> contexts_;
  };

 private:
  template <class Function>
  void look_up(Function*& function, const char* name) const;

  void* library_ = nullptr;  // stays loaded
  ibv_device** (*get_device_list_)(int*) = nullptr;
  void (*free_device_list_)(ibv_device**) = nullptr;
  const char* (*get_device_name_)(ibv_device*) = nullptr;
  ibv_context* (*open_device_)(ibv_device*) = nullptr;
  int (*close_device_)(ibv_context*) = nullptr;
  decltype(&softverbs_query_device) query_device_ = nullptr;
  decltype(&softverbs_counters_json) counters_json_ = nullptr;
  decltype(&softverbs_open_virtual) open_virtual_ = nullptr;
  decltype(&softverbs_close_virtual) close_virtual_ = nullptr;
  decltype(&softverbs_inject) inject_ = nullptr;
  decltype(&softverbs_log_events) log_events_ = nullptr;
  decltype(&softverbs_now_ns) now_ = nullptr;
  decltype(&softverbs_next_event_ns) next_event_ = nullptr;
  decltype(&softverbs_run_until) run_until_ = nullptr;
};

}  // namespace rocelane::nccl_host
