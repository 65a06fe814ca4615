#include "collperf/table_printer.h"

#include <fmt/format.h>

namespace rocelane::collperf {
namespace {

std::string time_cell(double time_us) {
  if (time_us >= 10000) {
    return fmt::format("{:7.0f}", time_us);
  }
  return time_us >= 100 ? fmt::format("{:7.1f}", time_us) : fmt::format("{:7.2f}", time_us);
}

std::string run_cells(const RunResult& run) {
  const std::string wrong = run.wrong ? fmt::format("{}", *run.wrong) : "N/A";
  return fmt::format("  {:>7}  {:6.2f}  {:6.2f}  {:>5}", time_cell(run.time_us),
                     run.algorithm_gb_per_s, run.bus_gb_per_s, wrong);
}

void add_run(const RunResult& run, Totals& totals, size_t& runs) {
  totals.wrong += run.wrong.value_or(0);
  totals.checked = totals.checked || run.wrong.has_value();
  totals.average_bus_gb_per_s += run.bus_gb_per_s;
  ++runs;
}

}  // namespace

Totals totals_of(const std::vector<ResultRow>& rows) {
  Totals totals;
  size_t runs = 0;
  for (const ResultRow& row : rows) {
    add_run(row.out_of_place, totals, runs);
    add_run(row.in_place, totals, runs);
  }
  if (runs > 0) {
    totals.average_bus_gb_per_s /= static_cast<double>(runs);
  }
  return totals;
}

std::string header_lines(const Options& options, const std::vector<RankPlace>& places,
                         std::string_view nccl_version) {
  const SizeRange& sizes = options.sizes;
  std::string text =
      fmt::format("# collperf {} with NCCL {}\n", name_of(options.collective), nccl_version);
  text += fmt::format(
      "# nThread 1 nGpus {} minBytes {} maxBytes {} step: {}({}) warmup iters: {} iters: {} agg "
      "iters: {} validation: {} graph: 0\n#\n# Using devices\n",
      options.gpus_per_process, sizes.min_bytes, sizes.max_bytes,
      sizes.multiplies() ? sizes.step_factor : sizes.step_bytes,
      sizes.multiplies() ? "factor" : "bytes", options.warmup_iterations, options.iterations,
      options.calls_per_iteration, options.checks);
  for (const RankPlace& place : places) {
    text += fmt::format("#  Rank {:2} Group  0 Pid {:6} on {:>10} device {:2} [{}] {}\n",
                        place.rank, place.process_id, place.host, place.device, place.pci_bus_id,
                        place.device_name);
  }
  text += "#\n";
  text += fmt::format(
      "# {:10}  {:12}  {:8}  {:6}  {:6}           out-of-place                       in-place      "
      "    \n",
      "", "", "", "", "");
  text += fmt::format(
      "# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}  {:>7}  {:>6}  {:>6} {:>6}  {:>7}  {:>6}  {:>6} "
      "{:>6}\n",
      "size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "time", "algbw",
      "busbw", "#wrong");
  text += fmt::format(
      "# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}  {:>7}  {:>6}  {:>6}  {:>5}  {:>7}  {:>6}  {:>6}  "
      "{:>5}\n",
      "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)", "(GB/s)", "(GB/s)",
      "");
  return text;
}

std::string row_line(const ResultRow& row) {
  return fmt::format("{:12}  {:12}  {:>8}  {:>6}  {:>6}{}{}\n", row.size_bytes, row.count, row.type,
                     row.op, row.root, run_cells(row.out_of_place), run_cells(row.in_place));
}

std::string footer_lines(const Totals& totals) {
  return fmt::format("# Out of bounds values : {} {}\n# Avg bus bandwidth    : {:g} \n#\n",
                     totals.wrong,
                     totals.wrong > 0 ? "FAILED" : (totals.checked ? "OK" : "NOT CHECKED"),
                     totals.average_bus_gb_per_s);
}

}  // namespace rocelane::collperf
