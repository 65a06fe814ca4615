#include "net/device/gid_selection.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "net/device/gid.h"

namespace rocelane::net {
namespace {

// RoCE v1 needs one layer-2 segment and has no UDP port to choose a path with, so it comes after
// every v2 entry.
auto rank_of(const GidEntry& entry) {
  return std::tuple(entry.type == GidType::kRoceV2 ? 0 : 1, scope_of(entry.gid),
                    family_of(entry.gid) == AddressFamily::kIpv4 ? 0 : 1, entry.index);
}

bool is_roce(const GidEntry& entry) { return entry.type != GidType::kInfiniBand; }
bool is_visible(const GidEntry& entry) { return entry.interface_index != 0; }

// A queue pair names its GID by a number of eight bits; soft-RoCE's table is longer than that.
bool can_be_named(const GidEntry& entry) { return entry.index <= 255; }

bool is_usable(const GidEntry& entry) {
  return is_roce(entry) && can_be_named(entry) && scope_of(entry.gid) != GidScope::kUnusable;
}

bool has_version(const GidEntry& entry, int version) {
  return entry.type == (version == 1 ? GidType::kRoceV1 : GidType::kRoceV2);
}

std::vector<GidEntry> usable_gids(const PortFacts& port) {
  std::vector<GidEntry> usable;
  std::copy_if(port.gids.begin(), port.gids.end(), std::back_inserter(usable), is_usable);
  if (std::any_of(usable.begin(), usable.end(), is_visible)) {
    std::erase_if(usable, [](const GidEntry& entry) { return !is_visible(entry); });
  }
  std::sort(usable.begin(), usable.end(),
            [](const GidEntry& a, const GidEntry& b) { return rank_of(a) < rank_of(b); });
  return usable;
}

bool satisfies(const GidEntry& entry, const GidWishes& wishes) {
  return (!wishes.index || entry.index == *wishes.index) &&
         (!wishes.roce_version || has_version(entry, *wishes.roce_version)) &&
         (wishes.family == AddressFamily::kAny || family_of(entry.gid) == wishes.family) &&
         (!wishes.range || contains(*wishes.range, entry.gid));
}

std::string list_of(const std::vector<GidEntry>& entries) {
  constexpr size_t kMostListed = 8;
  std::vector<std::string> texts;
  for (const GidEntry& entry : entries) {
    if (texts.size() == kMostListed) {
      texts.push_back(fmt::format("and {} more", entries.size() - kMostListed));
      break;
    }
    texts.push_back(describe(entry));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string why_index_is_unusable(const PortFacts& port, int index) {
  const auto found = std::find_if(port.gids.begin(), port.gids.end(),
                                  [index](const GidEntry& entry) { return entry.index == index; });
  if (found == port.gids.end()) {
    return "that place in the port's GID table is empty";
  }
  if (!is_usable(*found)) {
    return fmt::format("there is {}, which no RoCE packet can carry", describe(*found));
  }
  if (!is_visible(*found)) {
    return fmt::format("there is {}", describe(*found));
  }
  return fmt::format("there is {}, which other settings exclude", describe(*found));
}

const char* why_nothing_is_usable(const PortFacts& port) {
  return port.gids.empty()
             ? "its GID table is empty, as in a container without an RDMA network interface; give "
               "the interface an address, or attach it to the container"
             : "none of its GIDs holds an address; give its network interface one";
}

std::string why_wishes_exclude_all(const PortFacts& port, const GidWishes& wishes,
                                   const std::vector<GidEntry>& usable) {
  if (wishes.index) {
    return fmt::format("{} does not fit: {}; unset it, or use one of: {}", wishes.index_source,
                       why_index_is_unusable(port, *wishes.index), list_of(usable));
  }
  std::vector<std::string> sources;
  if (wishes.roce_version) {
    sources.push_back(wishes.roce_version_source);
  }
  if (wishes.family != AddressFamily::kAny) {
    sources.push_back(wishes.family_source);
  }
  if (wishes.range) {
    sources.push_back(wishes.range_source);
  }
  return fmt::format("{} leaves no GID; unset or correct it, the port has: {}",
                     fmt::join(sources, " with "), list_of(usable));
}

}  // namespace

GidWishes gid_wishes(const Settings& settings) {
  GidWishes wishes;
  wishes.index = settings.gid_index;
  wishes.roce_version = settings.roce_version;
  wishes.family = settings.address_family;
  wishes.range = settings.address_range;
  wishes.index_source = where_from(settings, Setting::kGidIndex);
  wishes.roce_version_source = where_from(settings, Setting::kRoceVersion);
  wishes.family_source = where_from(settings, Setting::kAddressFamily);
  wishes.range_source = where_from(settings, Setting::kAddressRange);
  return wishes;
}

std::vector<GidEntry> rank_gids(const PortFacts& port, const GidWishes& wishes) {
  std::vector<GidEntry> ranked = usable_gids(port);
  std::erase_if(ranked, [&wishes](const GidEntry& entry) { return !satisfies(entry, wishes); });
  return ranked;
}

std::string why_no_gid(const PortFacts& port, const GidWishes& wishes) {
  const std::vector<GidEntry> usable = usable_gids(port);
  return usable.empty() ? why_nothing_is_usable(port)
                        : why_wishes_exclude_all(port, wishes, usable);
}

Result<GidEntry> choose_gid(const PortFacts& port, const GidWishes& wishes) {
  std::vector<GidEntry> ranked = rank_gids(port, wishes);
  if (!ranked.empty()) {
    return std::move(ranked.front());
  }
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("{}:{}: {}", port.device_name, port.port, why_no_gid(port, wishes))};
}

Result<GidEntry> choose_gid_for_peer(std::span<const GidEntry> candidates, const Gid& peer,
                                     GidType peer_type) {
  const GidEntry* best = nullptr;
  int longest = -1;
  for (const GidEntry& candidate : candidates) {
    const bool same_kind = candidate.type == peer_type &&
                           family_of(candidate.gid) == family_of(peer) &&
                           scope_of(candidate.gid) == scope_of(peer);
    const int bits = common_prefix_bits(candidate.gid, peer);
    if (same_kind && bits > longest) {
      best = &candidate;
      longest = bits;
    }
  }
  if (best == nullptr || scope_of(peer) == GidScope::kUnusable) {
    return Error{ErrorCode::kRemote,
                 fmt::format("the peer offers {} {}, and no GID here is of that kind ({}); give "
                             "both ends addresses of the same family",
                             gid_type_text(peer_type), address_text(peer),
                             candidates.empty() ? "there is none at all"
                                                : list_of({candidates.begin(), candidates.end()}))};
  }
  return *best;
}

}  // namespace rocelane::net
