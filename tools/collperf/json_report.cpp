#include "collperf/json_report.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rocelane::collperf {
namespace {

using Json = nlohmann::ordered_json;

Json as_json(const RunResult& run) {
  return {{"time_us", run.time_us},
          {"algbw_gb_per_s", run.algorithm_gb_per_s},
          {"busbw_gb_per_s", run.bus_gb_per_s},
          {"wrong", run.wrong ? Json(*run.wrong) : Json(nullptr)}};
}

Json as_json(const ResultRow& row) {
  return {{"size_bytes", row.size_bytes},
          {"count", row.count},
          {"type", row.type},
          {"redop", row.op},
          {"root", row.root},
          {"out_of_place", as_json(row.out_of_place)},
          {"in_place", as_json(row.in_place)}};
}

Json as_json(const RankPlace& place) {
  return {{"rank", place.rank},
          {"host", place.host},
          {"process_id", place.process_id},
          {"device", place.device},
          {"pci_bus_id", place.pci_bus_id},
          {"device_name", place.device_name}};
}

}  // namespace

std::string json_report(const Options& options, const std::vector<RankPlace>& places,
                        std::string_view nccl_version, const std::vector<ResultRow>& rows) {
  const Totals totals = totals_of(rows);
  Json report{{"collective", name_of(options.collective)},
              {"nccl_version", nccl_version},
              {"iterations", options.iterations},
              {"warmup_iterations", options.warmup_iterations},
              {"calls_per_iteration", options.calls_per_iteration},
              {"checks", options.checks},
              {"ranks", Json::array()},
              {"rows", Json::array()},
              {"wrong", totals.wrong},
              {"checked", totals.checked},
              {"average_busbw_gb_per_s", totals.average_bus_gb_per_s}};
  for (const RankPlace& place : places) {
    report["ranks"].push_back(as_json(place));
  }
  for (const ResultRow& row : rows) {
    report["rows"].push_back(as_json(row));
  }
  return report.dump(2) + "\n";
}

Status write_text_file(const std::string& path, std::string_view text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) {
    return Error{ErrorCode::kSystem,
                 fmt::format("Cannot write {}: {}.", path, std::strerror(errno))};
  }
  return {};
}

}  // namespace rocelane::collperf
