#pragma once

#include <string>

namespace rocelane {

// config/rocelane.toml.example, written from the table: every setting with its default, switched
// off by a "#" before its key.
std::string settings_example();

}  // namespace rocelane
