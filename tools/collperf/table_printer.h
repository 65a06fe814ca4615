#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collperf/options.h"

namespace rocelane::collperf {

// One half of a line: the out-of-place or the in-place run.
struct RunResult {
  double time_us = 0;
  double algorithm_gb_per_s = 0;
  double bus_gb_per_s = 0;
  std::optional<size_t> wrong;  // none: not checked
};

struct ResultRow {
  size_t size_bytes = 0;
  size_t count = 0;
  std::string type;
  std::string op;  // "none" where nothing is reduced
  int root = -1;   // -1 where there is none
  RunResult out_of_place;
  RunResult in_place;
};

struct RankPlace {
  int rank = 0;
  int process_id = 0;
  std::string host;
  int device = 0;
  std::string pci_bus_id;
  std::string device_name;
};

struct Totals {
  size_t wrong = 0;
  bool checked = false;
  double average_bus_gb_per_s = 0;
};

Totals totals_of(const std::vector<ResultRow>& rows);

// nccl-tests' lines, column by column, so that programs which read its output read ours.
std::string header_lines(const Options& options, const std::vector<RankPlace>& places,
                         std::string_view nccl_version);
std::string row_line(const ResultRow& row);
std::string footer_lines(const Totals& totals);

}  // namespace rocelane::collperf
