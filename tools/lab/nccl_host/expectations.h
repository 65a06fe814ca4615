#pragma once

// What a run was expected to cost, for tests: "send_posts=2" for each message.

#include <string>
#include <vector>

#include "base/result.h"

namespace rocelane::nccl_host {

struct NetReport;

struct Expectation {
  std::string name;  // of a count in the report
  double least = 0;  // for each message
  double most = 0;
};

// "send_posts=2", "polls=1..3" or "left_behind=0"; names as in kCounts of the implementation.
Result<Expectation> parse_expectation(const std::string& text);

// A sentence for each expectation that does not hold. Costs are compared as counts divided by
// messages; left_behind counts objects.
std::vector<std::string> disappointments(const std::vector<Expectation>& expectations,
                                         const NetReport& net);

}  // namespace rocelane::nccl_host
