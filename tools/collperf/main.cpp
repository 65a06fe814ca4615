#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "collperf/communicators.h"
#include "collperf/job.h"
#include "collperf/json_report.h"
#include "collperf/measurement.h"
#include "collperf/nccl_calls.h"
#include "collperf/options.h"
#include "collperf/rank_places.h"
#include "collperf/table_printer.h"

namespace {

using namespace rocelane;
using namespace rocelane::collperf;

enum ExitCode : int { kExitFine = 0, kExitWrongValues = 1, kExitBadOptions = 2, kExitFailed = 3 };

void print_if_first(const Job& job, const std::string& text) {
  if (job.layout.prints()) {
    fmt::print("{}", text);
    std::fflush(stdout);
  }
}

// The combinations a run goes through, each with its own warm-up.
struct Series {
  ElementType type;
  std::optional<ReduceOp> op;
  int root;
};

std::vector<Series> all_series(const Options& options, int ranks) {
  std::vector<std::optional<ReduceOp>> ops{std::nullopt};
  if (reduces(options.collective)) {
    ops.assign(options.ops.begin(), options.ops.end());
  }
  std::vector<int> roots{options.root.value_or(0)};
  if (has_root(options.collective) && !options.root) {
    roots.resize(static_cast<size_t>(ranks));
    for (int root = 0; root < ranks; ++root) {
      roots[static_cast<size_t>(root)] = root;
    }
  }
  std::vector<Series> series;
  for (const ElementType type : options.types) {
    for (const std::optional<ReduceOp>& op : ops) {
      for (const int root : roots) {
        series.push_back({type, op, root});
      }
    }
  }
  return series;
}

Result<std::vector<ResultRow>> run_series(const Options& options, const Job& job,
                                          Communicators& comms, const Series& series) {
  Result<std::unique_ptr<Measurement>> measurement = Measurement::start(
      options, job.layout, *job.rendezvous, comms, series.type, series.op, series.root);
  if (!measurement) {
    return measurement.error();
  }
  const Status warm = (*measurement)->warm_up();
  if (!warm) {
    return warm.error();
  }
  std::vector<ResultRow> rows;
  for (const size_t size_bytes : planned_sizes(options.sizes)) {
    Result<ResultRow> row = (*measurement)->measure(size_bytes);
    if (!row) {
      return row.error();
    }
    print_if_first(job, row_line(*row));
    rows.push_back(std::move(*row));
  }
  return rows;
}

Result<Totals> run(const Options& options, const Job& job) {
  if (has_root(options.collective) && options.root.value_or(0) >= job.layout.ranks()) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("-r,--root must be a rank from 0 to {} or all, not {}.",
                             job.layout.ranks() - 1, *options.root)};
  }
  Result<std::unique_ptr<Communicators>> comms =
      Communicators::create(job.layout, *job.rendezvous, *job.watchdog, options.traffic_class);
  if (!comms) {
    return comms.error();
  }
  const Result<std::vector<RankPlace>> places = gather_rank_places(**comms, *job.rendezvous);
  if (!places) {
    return places.error();
  }
  const std::string nccl_version = nccl_version_text();
  print_if_first(job, header_lines(options, *places, nccl_version));
  std::vector<ResultRow> rows;
  for (const Series& series : all_series(options, job.layout.ranks())) {
    Result<std::vector<ResultRow>> more = run_series(options, job, **comms, series);
    if (!more) {
      return more.error();
    }
    rows.insert(rows.end(), more->begin(), more->end());
  }
  const Totals totals = totals_of(rows);
  print_if_first(job, footer_lines(totals));
  if (job.layout.prints() && !options.json_file.empty()) {
    const Status written =
        write_text_file(options.json_file, json_report(options, *places, nccl_version, rows));
    if (!written) {
      return written.error();
    }
  }
  const Status met = job.rendezvous->barrier("end of the run");
  const Status destroyed = met ? (*comms)->destroy() : met;
  if (!destroyed) {
    return destroyed.error();
  }
  return totals;
}

}  // namespace

int main(int argument_count, char** arguments) {
  const Result<CommandLine> parsed =
      parse_command_line({arguments + 1, arguments + argument_count});
  if (!parsed) {
    fmt::print(stderr, "collperf: {}\n", parsed.error().what);
    return kExitBadOptions;
  }
  if (!parsed->options) {
    fmt::print("{}", parsed->help);
    return kExitFine;
  }
  const Options& options = *parsed->options;
  Result<Job> job = join_job(options.gpus_per_process, options.deadline_s);
  if (!job) {
    fmt::print(stderr, "collperf: {}\n", job.error().what);
    return kExitFailed;
  }
  const Result<Totals> totals = run(options, *job);
  if (!totals) {
    job->rendezvous->give_up(totals.error().what);
    leave_now(fmt::format("collperf: {}", totals.error().what));
  }
  return totals->wrong > 0 ? kExitWrongValues : kExitFine;
}
