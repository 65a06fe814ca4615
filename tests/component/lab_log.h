#pragma once

// Collects what the plugin says, so that tests can ask for one sentence and no more.

#include <string>
#include <vector>

namespace rocelane::test {

void collect_log();
std::vector<std::string> take_warnings();

}  // namespace rocelane::test
