#pragma once

// Reads files in tests: what must be right is, and what is wrong gives its sentence.

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "softverbs/description/read_files.h"

namespace rocelane::softverbs {

inline RunDescription run_of(std::string_view text) {
  Result<RunDescription> run = read_fabric(text, "fabric.toml");
  if (!run) {
    ADD_FAILURE() << run.error().what;
    return {};
  }
  return std::move(run).value();
}

inline FaultScript faults_of(std::string_view text, const RunDescription& run) {
  Result<FaultScript> script = read_faults(text, "faults.toml", run);
  if (!script) {
    ADD_FAILURE() << script.error().what;
    return {};
  }
  return std::move(script).value();
}

inline std::string fabric_mistake(std::string_view text) {
  const Result<RunDescription> run = read_fabric(text, "f");
  return run ? "no mistake" : run.error().what;
}

inline std::string fault_mistake(std::string_view text, const RunDescription& run) {
  const Result<FaultScript> script = read_faults(text, "f", run);
  return script ? "no mistake" : script.error().what;
}

}  // namespace rocelane::softverbs
