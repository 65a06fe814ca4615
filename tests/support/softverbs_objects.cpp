#include "support/softverbs_objects.h"

#include <cstdlib>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <nlohmann/json.hpp>

#include "softverbs/include/softverbs/softverbs.h"

namespace rocelane::test {
namespace {

using CountersJson = decltype(&softverbs_counters_json);

std::string counters_of_the_run(CountersJson ask) {
  std::string text(1U << 16U, '\0');
  // Other processes may make it longer between two calls.
  for (size_t length = ask(text.data(), text.size());; length = ask(text.data(), text.size())) {
    if (length < text.size()) {
      text.resize(length);
      return text;
    }
    text.resize(2 * length);
  }
}

// "host1/" for this process's devices, "host1/soft_0" and so on.
std::string name_prefix_of_own_devices() {
  const char* const host = std::getenv("ROCELANE_LAB_HOST");
  return std::string("host") + (host == nullptr ? "1" : host) + "/";
}

// The devices of this process's host; nullopt without softverbs.
std::optional<std::vector<nlohmann::json>> own_devices() {
  const auto ask = reinterpret_cast<CountersJson>(dlsym(RTLD_DEFAULT, "softverbs_counters_json"));
  if (ask == nullptr) {
    return std::nullopt;
  }
  const auto run = nlohmann::json::parse(counters_of_the_run(ask));
  std::vector<nlohmann::json> own;
  for (const auto& device : run.value("devices", nlohmann::json::array())) {
    if (device.at("name").get<std::string>().starts_with(name_prefix_of_own_devices())) {
      own.push_back(device);
    }
  }
  return own;
}

}  // namespace

std::optional<VerbsObjects> count_softverbs_objects() {
  const auto devices = own_devices();
  if (!devices) {
    return std::nullopt;
  }
  VerbsObjects objects;
  for (const auto& device : *devices) {
    const auto& counters = device.at("counters");
    objects.queue_pairs += counters.at("live_queue_pairs").get<size_t>();
    objects.completion_queues += counters.at("live_completion_queues").get<size_t>();
    objects.memory_regions += counters.at("live_memory_regions").get<size_t>();
    objects.protection_domains += counters.at("live_protection_domains").get<size_t>();
  }
  return objects;
}

std::optional<std::map<int, int>> count_softverbs_traffic_classes() {
  const auto devices = own_devices();
  if (!devices) {
    return std::nullopt;
  }
  std::map<int, int> counts;
  for (const auto& device : *devices) {
    for (const auto& pair : device.at("queue_pairs")) {
      ++counts[pair.at("traffic_class").get<int>()];
    }
  }
  return counts;
}

std::optional<std::map<std::string, uint64_t>> count_softverbs_sent_bytes() {
  const auto devices = own_devices();
  if (!devices) {
    return std::nullopt;
  }
  std::map<std::string, uint64_t> bytes;
  for (const auto& device : *devices) {
    const auto name = device.at("name").get<std::string>();
    bytes[name.substr(name_prefix_of_own_devices().size())] =
        device.at("work").at("sent_bytes").get<uint64_t>();
  }
  return bytes;
}

}  // namespace rocelane::test
