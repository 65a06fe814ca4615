#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "collperf/checked_run.h"
#include "collperf/communicators.h"
#include "collperf/options.h"
#include "collperf/rendezvous.h"
#include "collperf/table_printer.h"

namespace rocelane::collperf {

// The ranks of this process doing the same calls again and again: one data type, operation, root.
class Measurement {
 public:
  static Result<std::unique_ptr<Measurement>> start(const Options& options,
                                                    const RankLayout& layout,
                                                    Rendezvous& rendezvous, Communicators& comms,
                                                    ElementType type, std::optional<ReduceOp> op,
                                                    int root);

  Status warm_up();
  Result<ResultRow> measure(size_t size_bytes);

 private:
  Measurement(const Options& options, const RankLayout& layout, Rendezvous& rendezvous,
              Communicators& comms);

  CallPlan plan_for(size_t size_bytes, bool in_place) const;
  Status run_calls(const CallPlan& plan, int iterations);
  Status one_iteration(const CallPlan& plan, size_t shift_bytes);
  Result<RunResult> measure_run(const CallPlan& plan);
  Result<double> timed_seconds(const CallPlan& plan);
  Result<size_t> checked_wrong_count(const CallPlan& plan);

  const Options& options_;
  const RankLayout& layout_;
  Rendezvous& rendezvous_;
  Communicators& comms_;
  ElementType type_ = ElementType::kFloat;
  std::optional<ReduceOp> op_;
  int root_ = 0;
  uint64_t seed_ = 0;
  RankTools tools_;
};

double combined_time(TimeOf time_of, const std::vector<double>& by_process);

}  // namespace rocelane::collperf
