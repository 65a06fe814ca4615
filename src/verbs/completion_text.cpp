#include "verbs/completion_text.h"

#include <fmt/format.h>

namespace rocelane::verbs {

std::string completion_status_text(ibv_wc_status status) {
  return fmt::format("{}, {}", static_cast<int>(status), ibv_wc_status_str(status));
}

std::string_view completion_cause(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_RETRY_EXC_ERR:
      return "the peer's NIC did not acknowledge after all retries: the path, the peer's port or "
             "the peer itself is down, packets of this size or traffic class are dropped, or the "
             "GIDs do not route to each other";
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return "the peer posted no receive in time: the peer's process is stuck or gone";
    case IBV_WC_WR_FLUSH_ERR:
      return "the queue pair was already in error; the cause was an earlier event on this "
             "connection";
    case IBV_WC_LOC_PROT_ERR:
      return "the local NIC may not access the buffer: for GPU memory look at peer-memory or "
             "dma-buf support, ACS and IOMMU settings";
    case IBV_WC_LOC_LEN_ERR:
      return "a message did not fit: look at the MTU along the path and at the peer's version";
    case IBV_WC_LOC_QP_OP_ERR:
      return "the local NIC refused the work request, which is a defect of this plugin";
    case IBV_WC_REM_ACCESS_ERR:
      return "the peer's NIC refused access to the buffer: it was deregistered too early or the "
             "two ends disagree";
    case IBV_WC_REM_INV_REQ_ERR:
      return "the peer's NIC found the request invalid: the two ends disagree about the connection";
    case IBV_WC_REM_OP_ERR:
      return "the peer's NIC could not complete the operation: look at the peer's log";
    case IBV_WC_FATAL_ERR:
      return "the device reported a fatal error: look at the kernel log of this host";
    default:
      return "look at the kernel log of both hosts";
  }
}

std::string vendor_error_text(ibv_wc_status status, uint32_t vendor_error) {
  // mlx5 syndromes. Other vendors reuse the numbers, hence the check against the status.
  const bool known = (status == IBV_WC_RETRY_EXC_ERR && vendor_error == 0x81) ||
                     (status == IBV_WC_WR_FLUSH_ERR && vendor_error == 0xf9) ||
                     (status == IBV_WC_LOC_PROT_ERR && vendor_error == 0x51);
  return fmt::format("vendor error 0x{:x}{}", vendor_error,
                     known ? ", which means the same on mlx5" : "");
}

}  // namespace rocelane::verbs
