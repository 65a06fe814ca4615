#include "softverbs/description/run_description.h"

#include <algorithm>

#include <fmt/format.h>

namespace rocelane::softverbs {
namespace {

bool is_unlimited(const LinkProperties& link) {
  return link.rate_bits_per_s == 0 && link.delay_ns == 0 && link.loss == 0 &&
         link.mark_above_bytes == 0 && link.pause_above_bytes == 0;
}

// Packets that vanish are noticed by a timeout, and a timeout is something to wait for.
bool loses_packets(const UnreachablePair& pair) { return pair.modify_error == 0; }

}  // namespace

std::string DeviceDescription::full_name() const { return fmt::format("host{}/{}", host, name); }

bool FabricDescription::is_ideal() const {
  return kind == FabricKind::kIdeal && is_unlimited(host_link) && links.empty() &&
         std::none_of(unreachable.begin(), unreachable.end(), loses_packets);
}

}  // namespace rocelane::softverbs
