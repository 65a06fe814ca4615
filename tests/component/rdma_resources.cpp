#include "rdma_resources.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <regex>
#include <string>

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

Resources count_resources() {
  Resources resources;
  resources.threads = count_entries("/proc/self/task");
  resources.descriptors = count_entries("/proc/self/fd");
  const std::string text = output_of("rdma resource show");
  resources.queue_pairs = sum_of(text, "qp");
  resources.completion_queues = sum_of(text, "cq");
  resources.memory_regions = sum_of(text, "mr");
  resources.protection_domains = sum_of(text, "pd");
  return resources;
}

}  // namespace rocelane::test
