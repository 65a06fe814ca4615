#pragma once

// Where devices differ from the InfiniBand specification, or use the freedom it leaves. A test asks
// here and asserts what is declared; it never leaves anything out.

#include <string_view>

#include <infiniband/verbs.h>

namespace rocelane::contract {

// The values given here are those of the specification, and of devices nobody has declared.
struct DeviceTraits {
  // Posting.

  // A call that a queue pair refuses because of its state says which request was the first not to
  // be accepted.
  bool refused_post_names_request = true;
  // A send posted before RTS is refused and forgotten; otherwise it is refused and yet sent once
  // RTS is reached.
  bool refused_send_is_forgotten = true;
  // An unsignaled request keeps its place in the send queue until a later completion is polled, as
  // on hardware; otherwise the place is free when the request is done.
  bool send_slots_wait_for_poll = true;
  // A receive posted to a queue pair in ERR is flushed; otherwise it stays where it is, without a
  // word.
  bool flushes_receives_posted_in_error = true;
  // ibv_wr_set_sge_list and ibv_wr_set_inline_data_list: the message is as long as the sum of its
  // pieces. Otherwise it is as long as its first piece times their number, and empty when it is
  // inline.
  bool extended_post_sums_pieces = true;

  // What a failed request says.

  ibv_wc_status unknown_lkey = IBV_WC_LOC_PROT_ERR;
  // A message longer than the receive it meets: here, and at its sender.
  ibv_wc_status long_message_at_receiver = IBV_WC_LOC_LEN_ERR;
  ibv_wc_status long_message_at_sender = IBV_WC_REM_INV_REQ_ERR;
  // A message that meets a receive which its device may not write: here; its sender sees
  // REM_OP_ERR.
  ibv_wc_status protected_receive = IBV_WC_LOC_PROT_ERR;
  // A one-sided request that the responder's queue pair was not set up for.
  ibv_wc_status operation_not_allowed = IBV_WC_REM_INV_REQ_ERR;
  // A retry count of 7 is seven retries, and then an error; otherwise it is for ever.
  bool seven_retries_end = true;
  // A peer that answers "not ready" has answered: only silence uses up the retries. Otherwise the
  // timeout goes on during the wait, and a receiver that is late by all of them is given up,
  // whatever was allowed for being late.
  bool not_ready_is_an_answer = true;

  // What a full completion queue does.

  // The queue pair whose completion did not fit stops in ERR; otherwise only the completion is
  // lost.
  bool send_overflow_breaks_queue_pair = true;

  // Fencing.

  // Once the step to ERR has returned, nothing is written any more; otherwise the packet being
  // handled at that moment may still land, a short time later.
  bool error_fences_at_once = true;

  // Events.

  // A responder that refuses a request says so: IBV_EVENT_QP_ACCESS_ERR, or IBV_EVENT_QP_REQ_ERR
  // when the request was invalid.
  bool has_refusal_events = true;
  // IBV_EVENT_QP_LAST_WQE_REACHED of a queue pair with a shared receive queue.
  bool has_last_receive_event = true;

  // Memory.

  bool registers_dma_buf = true;
  // A memory file (memfd_create) may stand for a dma-buf.
  bool takes_memory_files = false;
};

// The traits of the device of this name.
DeviceTraits traits_of(std::string_view device_name);

}  // namespace rocelane::contract
