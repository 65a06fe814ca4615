#include "nccl_host/softverbs_access.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <ostream>

#include <dlfcn.h>
#include <fmt/format.h>

namespace rocelane::nccl_host {
namespace {

// Every member of both structures is a uint64_t.
constexpr bool is_all_numbers = sizeof(softverbs_device_counters) % sizeof(uint64_t) == 0 &&
                                sizeof(softverbs_qp_counters) % sizeof(uint64_t) == 0;
static_assert(is_all_numbers);
using Numbers = std::array<uint64_t, sizeof(softverbs_device_counters) / sizeof(uint64_t)>;

Numbers numbers_of(const softverbs_device_counters& counters) {
  Numbers numbers{};
  std::memcpy(numbers.data(), &counters, sizeof(counters));
  return numbers;
}

softverbs_device_counters counters_of(const Numbers& numbers) {
  softverbs_device_counters counters{};
  std::memcpy(&counters, numbers.data(), sizeof(counters));
  return counters;
}

}  // namespace

softverbs_device_counters difference(const softverbs_device_counters& later,
                                     const softverbs_device_counters& earlier) {
  Numbers result = numbers_of(later);
  const Numbers before = numbers_of(earlier);
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] -= before[i];
  }
  return counters_of(result);
}

LiveObjects operator-(const LiveObjects& a, const LiveObjects& b) {
  return {a.queue_pairs - b.queue_pairs, a.completion_queues - b.completion_queues,
          a.memory_regions - b.memory_regions, a.protection_domains - b.protection_domains,
          a.shared_receive_queues - b.shared_receive_queues};
}

LiveObjects live_objects(const DeviceCounters& counters) {
  const softverbs_device_counters sum = sum_of(counters);
  return {sum.live_queue_pairs, sum.live_completion_queues, sum.live_memory_regions,
          sum.live_protection_domains, sum.live_shared_receive_queues};
}

softverbs_device_counters sum_of(const DeviceCounters& counters) {
  Numbers total{};
  for (const auto& [name, device] : counters) {
    const Numbers numbers = numbers_of(device);
    for (size_t i = 0; i < total.size(); ++i) {
      total[i] += numbers[i];
    }
  }
  return counters_of(total);
}

DeviceCounters difference(const DeviceCounters& later, const DeviceCounters& earlier) {
  DeviceCounters result;
  for (const auto& [name, counters] : later) {
    const auto before = earlier.find(name);
    result[name] = before == earlier.end() ? counters : difference(counters, before->second);
  }
  return result;
}

template <class Function>
void Softverbs::look_up(Function*& function, const char* name) const {
  function = reinterpret_cast<Function*>(::dlsym(library_, name));
}

Softverbs Softverbs::find() {
  Softverbs found;
  // NCCL asks for the first name before the second.
  for (const char* name : {"libibverbs.so", "libibverbs.so.1"}) {
    if (found.library_ == nullptr) {
      found.library_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
  }
  if (found.library_ == nullptr) {
    return found;
  }
  found.look_up(found.get_device_list_, "ibv_get_device_list");
  found.look_up(found.free_device_list_, "ibv_free_device_list");
  found.look_up(found.get_device_name_, "ibv_get_device_name");
  found.look_up(found.open_device_, "ibv_open_device");
  found.look_up(found.close_device_, "ibv_close_device");
  found.look_up(found.query_device_, "softverbs_query_device");
  found.look_up(found.counters_json_, "softverbs_counters_json");
  found.look_up(found.open_virtual_, "softverbs_open_virtual");
  found.look_up(found.close_virtual_, "softverbs_close_virtual");
  found.look_up(found.inject_, "softverbs_inject");
  found.look_up(found.log_events_, "softverbs_log_events");
  found.look_up(found.now_, "softverbs_now_ns");
  found.look_up(found.next_event_, "softverbs_next_event_ns");
  found.look_up(found.run_until_, "softverbs_run_until");
  return found;
}

Status Softverbs::open_virtual(const std::string& fabric, const std::string& faults,
                               uint64_t seed) const {
  std::array<char, 1024> sentence{};
  if (open_virtual_(fabric.c_str(), faults.c_str(), seed, sentence.data(), sentence.size()) != 0) {
    return Error{ErrorCode::kInvalidArgument, sentence.data()};
  }
  return {};
}

Status Softverbs::inject(const std::string& faults) const {
  std::array<char, 1024> sentence{};
  if (inject_ == nullptr) {
    return Error{ErrorCode::kInvalidUsage, "--faults needs softverbs as libibverbs."};
  }
  if (inject_(faults.c_str(), sentence.data(), sentence.size()) != 0) {
    return Error{ErrorCode::kInvalidArgument, sentence.data()};
  }
  return {};
}

// Counters may grow between the two calls.
std::string Softverbs::counters_json() const {
  std::string text(counters_json_(nullptr, 0) + 4096, '\0');
  const size_t length = counters_json_(text.data(), text.size());
  text.resize(std::min(length, text.size() - 1));
  return text;
}

void Softverbs::log_events(std::ostream& to) const {
  const auto write_line = [](void* stream, const char* text) {
    *static_cast<std::ostream*>(stream) << text << '\n';
  };
  log_events_(write_line, &to);
}

Softverbs::Reader::Reader(const Softverbs& softverbs) : softverbs_(softverbs) {
  if (!softverbs.counts()) {
    return;
  }
  int count = 0;
  ibv_device** devices = softverbs.get_device_list_(&count);
  for (int i = 0; devices != nullptr && i < count; ++i) {
    // A device that does not open has nothing to tell.
    if (ibv_context* context = softverbs.open_device_(devices[i])) {
      contexts_[softverbs.get_device_name_(devices[i])] = context;
    }
  }
  if (devices != nullptr) {
    softverbs.free_device_list_(devices);
  }
}

Softverbs::Reader::~Reader() {
  for (const auto& [name, context] : contexts_) {
    softverbs_.close_device_(context);
  }
}

DeviceCounters Softverbs::Reader::read() const {
  DeviceCounters result;
  for (const auto& [name, context] : contexts_) {
    softverbs_device_counters counters{};
    if (softverbs_.query_device_(context, &counters) == 0) {
      result[name] = counters;
    }
  }
  return result;
}

}  // namespace rocelane::nccl_host
