#pragma once

// Where a channel writes down what it has done. Filled at set-up; what is left empty records
// nothing.

#include <array>

#include "net/connection/handshake_message.h"
#include "net/health/recorders.h"

namespace rocelane::net {

struct ChannelRecorders {
  telemetry::ConnectionRecorder connection;
  std::array<telemetry::LaneRecorder, kMaxDataLanes> lanes;
};

}  // namespace rocelane::net
