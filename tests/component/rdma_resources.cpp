#include "rdma_resources.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include <infiniband/verbs.h>
#include <unistd.h>

#include "support/softverbs_objects.h"

namespace rocelane::test {
namespace {

int count_entries(const char* folder) {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) {
    ++count;
  }
  return count;
}

std::string output_of(const char* command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command, "r"), &pclose);
  std::string output;
  for (int c = fgetc(pipe.get()); c != EOF; c = fgetc(pipe.get())) {
    output.push_back(static_cast<char>(c));
  }
  return output;
}

std::vector<std::string> list_devices() {
  std::vector<std::string> names;
  ibv_device** const devices = ibv_get_device_list(nullptr);
  for (ibv_device** device = devices; device != nullptr && *device != nullptr; ++device) {
    names.emplace_back(ibv_get_device_name(*device));
  }
  if (devices != nullptr) {
    ibv_free_device_list(devices);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// What a process makes once and keeps: softverbs' share of a run comes with the first list of
// devices, a sanitizer's own thread with the first of ours.
void make_what_lasts() {
  (void)list_devices();
  std::string own_task;
  std::thread([&] { own_task = "/proc/self/task/" + std::to_string(gettid()); }).join();
  while (std::filesystem::exists(own_task)) {
    std::this_thread::yield();
  }
}

int sum_of(const std::string& text, const char* name) {
  const std::regex pattern(std::string("\\b") + name + " (\\d+)");
  int sum = 0;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match) {
    sum += std::stoi((*match)[1].str());
  }
  return sum;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Resources& resources) {
  return out << resources.threads << " threads, " << resources.descriptors << " descriptors, "
             << resources.queue_pairs << " QPs, " << resources.completion_queues << " CQs, "
             << resources.memory_regions << " MRs, " << resources.protection_domains << " PDs";
}

std::string device_name(size_t rail) { return list_devices().at(rail); }

Resources count_resources() {
  static const bool kSettled = (make_what_lasts(), true);
  (void)kSettled;
  Resources resources;
  resources.threads = count_entries("/proc/self/task");
  resources.descriptors = count_entries("/proc/self/fd");
  if (const auto objects = count_softverbs_objects()) {
    resources.queue_pairs = static_cast<int>(objects->queue_pairs);
    resources.completion_queues = static_cast<int>(objects->completion_queues);
    resources.memory_regions = static_cast<int>(objects->memory_regions);
    resources.protection_domains = static_cast<int>(objects->protection_domains);
    return resources;
  }
  const std::string text = output_of("rdma resource show");
  resources.queue_pairs = sum_of(text, "qp");
  resources.completion_queues = sum_of(text, "cq");
  resources.memory_regions = sum_of(text, "mr");
  resources.protection_domains = sum_of(text, "pd");
  return resources;
}

Resources count_when_settled(const Resources& wanted) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  Resources resources = count_resources();
  while (resources != wanted && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    resources = count_resources();
  }
  return resources;
}

}  // namespace rocelane::test
