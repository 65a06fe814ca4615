#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "collperf/options.h"
#include "collperf/table_printer.h"

namespace rocelane::collperf {

std::string json_report(const Options& options, const std::vector<RankPlace>& places,
                        std::string_view nccl_version, const std::vector<ResultRow>& rows);

Status write_text_file(const std::string& path, std::string_view text);

}  // namespace rocelane::collperf
