#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "nccl_host/expectations.h"
#include "nccl_host/life.h"
#include "nccl_host/message_plan.h"
#include "nccl_host/net_library.h"
#include "nccl_host/traffic.h"

namespace rocelane::nccl_host {

struct Options {
  NetChoice net;
  bool compare = false;  // also NCCL's own IB transport, on the same messages
  Traffic traffic = Traffic::kPair;
  PlanOptions plan;
  LifeSettings life;  // plans are made from `plan`
  int lives = 1;
  std::string fabric_file;                // virtual runs
  std::string faults_file;                // from the first counted message on
  std::string set_up_faults_file;         // virtual runs: from the beginning on
  std::vector<Expectation> expectations;  // of the first net
  std::string event_log_file;
  std::string json_file;
  bool verbose = false;
};

struct CommandLine {
  std::optional<Options> options;  // none: `help` was asked for
  std::string help;
};

Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments);

// 64, 4K, 1M
std::optional<size_t> parse_size_bytes(const std::string& text);

}  // namespace rocelane::nccl_host
