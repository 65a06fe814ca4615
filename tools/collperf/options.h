#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "collperf/collective_table.h"
#include "collperf/element_type.h"
#include "collperf/reference_values.h"
#include "collperf/size_plan.h"

namespace rocelane::collperf {

// Which of the ranks' times a line shows.
enum class TimeOf : uint8_t { kRankZero, kAverage, kFastest, kSlowest };

struct Options {
  Collective collective = Collective::kAllReduce;
  SizeRange sizes;
  int iterations = 20;
  int warmup_iterations = 5;
  int calls_per_iteration = 1;
  int checks = 1;  // checked runs a line; 0 switches checking off
  std::vector<ElementType> types{ElementType::kFloat};
  std::vector<ReduceOp> ops{ReduceOp::kSum};
  std::optional<int> root = 0;  // none: every rank in turn
  int gpus_per_process = 1;
  TimeOf time_of = TimeOf::kAverage;
  bool wait_after_each_call = false;
  int deadline_s = 300;              // for every single wait; 0 waits for ever
  std::optional<int> traffic_class;  // of the communicator; none: NCCL's default
  std::string json_file;
};

struct CommandLine {
  std::optional<Options> options;  // none: `help` was asked for
  std::string help;
};

Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments);

}  // namespace rocelane::collperf
