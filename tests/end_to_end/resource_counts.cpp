#include "resource_counts.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/softverbs_objects.h"

namespace rocelane::end_to_end {
namespace {

Result<size_t> count_files_in(const char* folder) {
  std::error_code error;
  size_t count = 0;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    ++count;
  }
  if (error) {
    return Error{ErrorCode::kSystem, fmt::format("Cannot list {}: {}.", folder, error.message())};
  }
  return count;
}

bool host_has_rdma_devices() {
  std::error_code error;
  const std::filesystem::directory_iterator devices("/sys/class/infiniband", error);
  return !error && devices != std::filesystem::directory_iterator();
}

Result<std::string> output_of(const std::string& command) {
  struct Close {
    void operator()(FILE* pipe) const { pclose(pipe); }
  };
  std::unique_ptr<FILE, Close> pipe(popen(command.c_str(), "re"));
  if (!pipe) {
    return Error{ErrorCode::kSystem, fmt::format("Cannot run '{}'.", command)};
  }
  std::string text;
  std::array<char, 4096> piece{};
  for (size_t got = 0; (got = fread(piece.data(), 1, piece.size(), pipe.get())) > 0;) {
    text.append(piece.data(), got);
  }
  const int status = pclose(pipe.release());
  if (status != 0) {
    return Error{ErrorCode::kSystem,
                 fmt::format("'{}' ended with status {}. It needs root and rdma from iproute2.",
                             command, status)};
  }
  return text;
}

Result<size_t> count_rdma(const char* kind) {
  const Result<std::string> text = output_of(fmt::format("rdma -j resource show {}", kind));
  if (!text) {
    return text.error();
  }
  return count_entries_of(*text, [](int thread_id) {
    return std::filesystem::exists(fmt::format("/proc/self/task/{}", thread_id));
  });
}

Status ask_the_kernel(ResourceCounts& counts) {
  const std::array<std::pair<const char*, size_t*>, 4> kinds{{{"qp", &counts.queue_pairs},
                                                              {"cq", &counts.completion_queues},
                                                              {"mr", &counts.memory_regions},
                                                              {"pd", &counts.protection_domains}}};
  for (const auto& [kind, count] : kinds) {
    const Result<size_t> found = count_rdma(kind);
    if (!found) {
      return found.error();
    }
    *count = *found;
  }
  return {};
}

// softverbs shows devices as the kernel does, but the kernel knows nothing of them.
Status count_rdma_objects(ResourceCounts& counts) {
  if (const std::optional<test::VerbsObjects> objects = test::count_softverbs_objects()) {
    counts.queue_pairs = objects->queue_pairs;
    counts.completion_queues = objects->completion_queues;
    counts.memory_regions = objects->memory_regions;
    counts.protection_domains = objects->protection_domains;
    return {};
  }
  return host_has_rdma_devices() ? ask_the_kernel(counts) : Status();
}

}  // namespace

std::string text_of(const ResourceCounts& counts) {
  return fmt::format("threads {} files {} qp {} cq {} mr {} pd {}", counts.threads, counts.files,
                     counts.queue_pairs, counts.completion_queues, counts.memory_regions,
                     counts.protection_domains);
}

Result<size_t> count_entries_of(std::string_view json_text, const IsOwnThread& is_own_thread) {
  const auto entries = nlohmann::json::parse(json_text, nullptr, false);
  if (!entries.is_array()) {
    return Error{ErrorCode::kSystem, fmt::format("The rdma tool printed no JSON list but '{}'.",
                                                 json_text.substr(0, 80))};
  }
  size_t count = 0;
  for (const auto& entry : entries) {
    const bool maker_ended = !entry.contains("pid") && !entry.contains("comm");
    if (maker_ended || (entry.contains("pid") && is_own_thread(entry.value("pid", 0)))) {
      ++count;
    }
  }
  return count;
}

Result<ResourceCounts> count_resources() {
  ResourceCounts counts;
  const std::array<std::pair<const char*, size_t*>, 2> folders{
      {{"/proc/self/task", &counts.threads}, {"/proc/self/fd", &counts.files}}};
  for (const auto& [folder, count] : folders) {
    const Result<size_t> found = count_files_in(folder);
    if (!found) {
      return found.error();
    }
    *count = *found;
  }
  const Status counted = count_rdma_objects(counts);
  return counted ? Result<ResourceCounts>(counts) : Result<ResourceCounts>(counted.error());
}

Result<ResourceCounts> count_when_settled(const ResourceCounts& wanted,
                                          std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (true) {
    Result<ResourceCounts> counts = count_resources();
    if (!counts || *counts == wanted || std::chrono::steady_clock::now() > end) {
      return counts;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace rocelane::end_to_end
