#include "net/connection/established_connection.h"

#include <fmt/format.h>

#include "net/device/gid.h"
#include "verbs/completion_text.h"

namespace rocelane::net {

std::string describe_failed_completion(const ibv_wc& completion, const LaneSet& lanes,
                                       const Agreement& agreement, const std::string& own_name,
                                       const std::string& peer_name, bool peer_is_gone) {
  // Only wr_id, status, qp_num and vendor_err are defined in a failed completion.
  const Lane* lane = lanes.find(completion.qp_num);
  const std::string lane_text =
      lane != nullptr ? describe_lane(lanes, *lane) : fmt::format("QP 0x{:x}", completion.qp_num);
  const std::string_view cause =
      peer_is_gone
          ? "the peer's process has closed its set-up connection, so it has ended or given "
            "up: look at its log first"
          : verbs::completion_cause(completion.status);
  // What is no lane loops back on one of our own ports; the first one is as good as any to name.
  const LanePaths& paths = agreement.paths;
  const Route& route =
      lane != nullptr ? paths.route(lane->rail, lane->peer.rail) : paths.routes.front();
  return fmt::format("{} ({}) to {} ({}): {} failed with status {} ({}): {}", own_name,
                     describe(route.local_gid), peer_name, gid_text(route.peer_gid.gid), lane_text,
                     verbs::completion_status_text(completion.status),
                     verbs::vendor_error_text(completion.status, completion.vendor_err), cause);
}

}  // namespace rocelane::net
