#pragma once

#include <optional>

namespace rocelane::net {

// Link speed from verbs' codes of width (active_width) and speed per wire (active_speed, or
// active_speed_ex where that is not zero). Nothing for a code no table knows.
std::optional<int> port_speed_mbps(int width_code, int speed_code);

}  // namespace rocelane::net
