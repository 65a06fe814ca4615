#pragma once

// Reading a fabric file and a fault file (TOML; docs/lab.md shows both). Errors are one sentence
// with the file, the line, the field, and what to write instead.

#include <string>
#include <string_view>

#include "base/result.h"
#include "softverbs/description/fault_script.h"
#include "softverbs/description/run_description.h"

namespace rocelane::softverbs {

// `file` only appears in messages. An empty text describes one host with two rails and an ideal
// fabric.
Result<RunDescription> read_fabric(std::string_view text, const std::string& file);

// Names in the file are looked up in `run`.
Result<FaultScript> read_faults(std::string_view text, const std::string& file,
                                const RunDescription& run);

}  // namespace rocelane::softverbs
