#pragma once

#include <optional>
#include <vector>

#include "softverbs/description/run_description.h"
#include "softverbs/description/table_reader.h"

namespace rocelane::softverbs {

// What [hosts] and [[device]] have in common: the port's claims.
void read_port_claims(TableReader& table, std::optional<double>& rate,
                      std::optional<uint32_t>& mtu_bytes, std::optional<uint8_t>& lag_ports);

// Carries out one [[device]] on all devices that its name matches.
void read_device(TableReader table, std::vector<DeviceDescription>& devices);

}  // namespace rocelane::softverbs
