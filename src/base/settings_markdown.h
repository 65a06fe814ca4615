#pragma once

#include <string>

namespace rocelane {

// docs/settings.md, written from the table.
std::string settings_markdown();

}  // namespace rocelane
