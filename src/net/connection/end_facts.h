#pragma once

// What one end of a connection brings to the handshake, and who the two ends are, for sentences.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/settings.h"
#include "net/connection/handshake_message.h"
#include "net/connection/socket_address.h"
#include "net/device/port.h"
#include "net/device/traffic_class.h"
#include "verbs/completion_hub.h"

namespace rocelane::net {

// Runs a function on another thread, soon. Raising lanes blocks, which NCCL's threads must not.
using Executor = std::function<void(std::function<void()>)>;

// Passed in by the plugin; the machines read nothing else from the outside.
struct EndFacts {
  std::vector<std::shared_ptr<const Port>> ports;     // one, or several that share the connection
  std::shared_ptr<verbs::CompletionHub> completions;  // of the thread that will use the connection
  std::shared_ptr<const Settings> settings;
  TrafficClasses traffic_classes;
  SocketAddress set_up_address;  // of this host, without a port
  std::string host;
  uint32_t process_id = 0;
  uint64_t entropy = 0;  // fresh for each connection
  Executor run_elsewhere;
};

// For what depends on the fabric: dialing, raising and probing.
std::chrono::milliseconds stage_patience(const Settings& settings);

// For what depends on the peer's NCCL thread, which may be busy for long in a healthy process. A
// process that has ended closes its socket, and one whose host is dead is found out by the
// keepalive of the socket, both within seconds.
inline constexpr std::chrono::seconds kBusyPeer{60};

// "mlx5_0:1 on host-a", "mlx5_0:1+mlx5_1:1 on host-a"
std::string end_name(const EndFacts& facts);
std::string end_name(const EndDescription& end);
// "mlx5_0", "mlx5_0+mlx5_1"
std::string device_name(const EndFacts& facts);
std::string device_name(const EndDescription& end);

}  // namespace rocelane::net
