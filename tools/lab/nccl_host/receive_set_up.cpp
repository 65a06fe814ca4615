// The service thread's part of a receiving end.

#include "nccl_host/receive_end.h"

namespace rocelane::nccl_host {

Result<bool> ReceiveEnd::set_up(Net& net, Caller& caller, const RankPlace& place, Handles& handles,
                                uint64_t now_ns) {
  Result<bool> moved = false;
  switch (set_up_) {
    case SetUp::kListening:
      moved = listen(net, caller, place, handles);
      break;
    case SetUp::kAccepting:
      moved = accept(net, caller);
      break;
    case SetUp::kRegistering:
      moved = buffers_.register_next(net, caller, connection_, place, *plan_, settings_.memory);
      if (moved && !*moved) {
        set_up_ = SetUp::kReady;
        moved = true;
      }
      break;
    case SetUp::kReady:
      return false;
  }
  if (!moved) {
    return moved;
  }
  if (set_up_ == SetUp::kReady) {
    patience_.restart();
    ready_.store(true, std::memory_order_release);
  } else if (*moved) {
    patience_.moved(now_ns);
  } else if (patience_.is_over(now_ns)) {
    return wait_is_over(
        rank_, patience_.limit_s(),
        wait_text("accept", *plan_, "the plugin keeps saying that nobody has connected yet"));
  }
  return moved;
}

Result<bool> ReceiveEnd::listen(Net& net, Caller& caller, const RankPlace& place,
                                Handles& handles) {
  Handles::Bytes handle{};
  const NcclResult result = caller.call(
      "listen", [&] { return net.listen(place.context, place.device, handle.data(), &listener_); });
  if (result != kNcclSuccess) {
    return call_failed(caller, *plan_, result);
  }
  if (listener_ == nullptr) {
    return broken_promise(caller, *plan_, "returned success without a listener");
  }
  handles.post(plan_->number, handle);
  set_up_ = SetUp::kAccepting;
  return true;
}

Result<bool> ReceiveEnd::accept(Net& net, Caller& caller) {
  NcclNetDeviceHandle* offload = nullptr;
  const NcclResult result =
      caller.call("accept", [&] { return net.accept(listener_, &connection_, &offload); });
  if (result != kNcclSuccess) {
    return call_failed(caller, *plan_, result);
  }
  if (connection_ == nullptr) {
    return false;
  }
  // At once, as NCCL does: the sender need not have finished.
  const NcclResult closed = caller.call("closeListen", [&] { return net.close_listen(listener_); });
  listener_ = nullptr;
  if (closed != kNcclSuccess) {
    return call_failed(caller, *plan_, closed);
  }
  set_up_ = SetUp::kRegistering;
  return true;
}

Status ReceiveEnd::close(Net& net, Caller& caller) {
  if (listener_ != nullptr) {
    const NcclResult result =
        caller.call("closeListen", [&] { return net.close_listen(listener_); });
    listener_ = nullptr;
    if (result != kNcclSuccess) {
      return call_failed(caller, *plan_, result);
    }
  }
  if (connection_ == nullptr) {
    return {};
  }
  if (const Status given_back = buffers_.deregister_all(net, caller, connection_, *plan_);
      !given_back) {
    return given_back;
  }
  const NcclResult result = caller.call("closeRecv", [&] { return net.close_recv(connection_); });
  connection_ = nullptr;
  return result == kNcclSuccess ? Status() : Status(call_failed(caller, *plan_, result));
}

}  // namespace rocelane::nccl_host
