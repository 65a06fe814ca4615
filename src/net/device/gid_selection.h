#pragma once

// Which GID of a port to use: by what an entry is, never by where it stands. Indexes differ between
// hosts and move while a job runs, so choose again on every connection and after every GID change.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/settings.h"
#include "net/device/port_facts.h"

namespace rocelane::net {

struct GidWishes {
  std::optional<int> index;
  std::optional<int> roce_version;
  AddressFamily family = AddressFamily::kAny;
  std::optional<AddressRange> range;
  // Where each came from, for sentences: "NCCL_IB_GID_INDEX=3".
  std::string index_source;
  std::string roce_version_source;
  std::string family_source;
  std::string range_source;
};

GidWishes gid_wishes(const Settings& settings);

// All entries that satisfy the wishes, best first: visible in our network namespace, RoCE v2,
// routable, IPv4, lower index. Entries of foreign namespaces only appear when the port has no
// others. With a wished index: that entry.
std::vector<GidEntry> rank_gids(const PortFacts& port, const GidWishes& wishes);

// The first of rank_gids, or a sentence that names the port, the wish that excludes everything, and
// what there is.
Result<GidEntry> choose_gid(const PortFacts& port, const GidWishes& wishes);

// Why rank_gids has nothing; continues "mlx5_0:1: …".
std::string why_no_gid(const PortFacts& port, const GidWishes& wishes);

// Of our candidates (from rank_gids) the one to talk to this peer with: same RoCE version, family
// and scope, then the longest common prefix, then our own order. A sentence when none is of the
// peer's kind.
Result<GidEntry> choose_gid_for_peer(std::span<const GidEntry> candidates, const Gid& peer,
                                     GidType peer_type);

}  // namespace rocelane::net
