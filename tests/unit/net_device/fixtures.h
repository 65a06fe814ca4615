#pragma once

// Ports and settings as tests write them.

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/settings.h"
#include "net/device/gid.h"
#include "net/device/port_facts.h"

namespace rocelane::net {

inline Settings settings_with(const Environment& environment) {
  Result<Settings> settings = load_settings(environment);
  EXPECT_TRUE(settings.ok()) << (settings.ok() ? "" : settings.error().what);
  return settings.ok() ? *settings : Settings{};
}

inline Gid gid_of(std::string_view text) {
  const std::optional<Gid> gid = parse_gid(text);
  EXPECT_TRUE(gid.has_value()) << text;
  return gid.value_or(Gid{});
}

inline GidEntry entry(int index, std::string_view gid, int version,
                      std::string interface_name = "eth1") {
  GidEntry result;
  result.gid = gid_of(gid);
  result.index = index;
  result.type = version == 1 ? GidType::kRoceV1 : GidType::kRoceV2;
  result.interface_index = interface_name.empty() ? 0 : 7;
  result.interface_name = std::move(interface_name);
  return result;
}

inline PortFacts port_with(std::vector<GidEntry> gids, std::string device_name = "mlx5_0",
                           int port = 1) {
  PortFacts facts;
  facts.device_name = std::move(device_name);
  facts.port = port;
  facts.active = true;
  facts.speed_mbps = 400'000;
  facts.active_mtu_bytes = 4096;
  facts.gids = std::move(gids);
  return facts;
}

}  // namespace rocelane::net
