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
  return fmt::format("{} ({}) to {} ({}): {} failed with status {} ({}): {}", own_name,
                     describe(agreement.local_gid), peer_name, gid_text(agreement.peer_gid.gid),
                     lane_text, verbs::completion_status_text(completion.status),
                     verbs::vendor_error_text(completion.status, completion.vendor_err), cause);
}

}  // namespace rocelane::net
