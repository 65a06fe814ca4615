#pragma once

// What this process tells its telemetry page: its ports once a second, its connections as they come
// up. Everything after that is told by the channels themselves. While it looks at the ports it also
// watches whether traffic is in a lossless priority, and says so in the log.

#include <memory>
#include <vector>

#include "base/settings.h"
#include "net/connection/established_connection.h"
#include "net/device/port.h"
#include "net/health/queue_watch.h"
#include "net/health/telemetry_page.h"
#include "net/transfer/channel_recorders.h"

namespace rocelane::net {

class ConnectionTelemetry {
 public:
  ConnectionTelemetry(const Settings& settings, std::vector<std::shared_ptr<const Port>> ports);

  // From any thread that sets up.
  ChannelRecorders record(const EstablishedConnection& connection);
  // By one thread, about once a second. May block for as long as drivers take.
  void sample();

 private:
  std::unique_ptr<telemetry::TelemetryPage> page_;
  std::vector<std::shared_ptr<const Port>> ports_;
  std::vector<telemetry::PortRecorder> recorders_;               // as ports_
  std::vector<std::unique_ptr<telemetry::QueueWatch>> watches_;  // as ports_
};

}  // namespace rocelane::net
