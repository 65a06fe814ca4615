#include "device_traits.h"

namespace rocelane::contract {
namespace {

// Linux's soft-RoCE: kernel 6.1 with the user-space provider of rdma-core 44.
DeviceTraits soft_roce() {
  DeviceTraits traits;
  // The provider puts requests into the shared queue first and asks the kernel afterwards; when
  // that refuses, nothing is taken back and nothing is named.
  traits.refused_post_names_request = false;
  traits.refused_send_is_forgotten = false;
  // The kernel moves the queue's consumer when a request is acknowledged; completions play no part
  // in it.
  traits.send_slots_wait_for_poll = false;
  // Posting a receive is a store to shared memory: the kernel does not hear of it.
  traits.flushes_receives_posted_in_error = false;
  // One of the provider's loops adds the first piece again and again, the other adds nothing.
  traits.extended_post_sums_pieces = false;
  // One error code of the copy routine stands for an unknown key, for missing rights and for a
  // message that does not fit; what comes out is "malformed request".
  traits.unknown_lkey = IBV_WC_LOC_QP_OP_ERR;
  traits.long_message_at_receiver = IBV_WC_LOC_QP_OP_ERR;
  traits.long_message_at_sender = IBV_WC_REM_OP_ERR;
  traits.protected_receive = IBV_WC_LOC_QP_OP_ERR;
  // It takes 7 to mean what it means for receiver-not-ready.
  traits.seven_retries_end = false;
  // Its retransmission timer is not stopped while it waits for the receiver, and not-ready answers
  // do not restore the retry count.
  traits.not_ready_is_an_answer = false;
  // The completer does not look whether the completion found a place; the responder does.
  traits.send_overflow_breaks_queue_pair = false;
  // The step sets a flag that the responder looks at between two packets.
  traits.error_fences_at_once = false;
  traits.has_refusal_events = false;
  traits.has_last_receive_event = false;
  traits.registers_dma_buf = false;
  return traits;
}

// Our stand-in follows the specification, as hardware does.
DeviceTraits softverbs() {
  DeviceTraits traits;
  // The emulated GPU exports its memory so.
  traits.takes_memory_files = true;
  return traits;
}

}  // namespace

DeviceTraits traits_of(std::string_view device_name) {
  if (device_name.starts_with("rxe")) {
    return soft_roce();
  }
  if (device_name.starts_with("soft_")) {
    return softverbs();
  }
  return {};
}

}  // namespace rocelane::contract
