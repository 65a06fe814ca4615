#pragma once

#include <optional>
#include <string_view>

#include "softverbs/description/run_description.h"
#include "softverbs/description/table_reader.h"

namespace rocelane::softverbs {

constexpr int kMostGids = 256;  // of one device

// { index = 4, address = "fe80::1", type = "v1", interface = "eth0" }; type is "v2" and interface
// "lo" when the table does not say. Nothing after a mistake.
std::optional<GidDescription> read_gid(TableReader table);

// The GID of an IPv6 or, mapped into it, IPv4 address. Pure.
std::optional<Gid> parse_gid(const std::string& address);

}  // namespace rocelane::softverbs
