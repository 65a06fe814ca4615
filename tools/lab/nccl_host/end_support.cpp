#include "nccl_host/end_support.h"

#include <fmt/format.h>

namespace rocelane::nccl_host {
namespace {

constexpr size_t kMostSentences = 8;

Result<int> pointer_type(Protocol protocol, const RankPlace& place, MemoryChoice memory) {
  const bool takes_gpu = (place.properties.ptrSupport & kNcclPointerCuda) != 0;
  // NCCL keeps LL buffers in host memory.
  if (protocol == Protocol::kLl || memory == MemoryChoice::kHost) {
    return int{kNcclPointerHost};
  }
  if (!takes_gpu && memory == MemoryChoice::kGpu) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("--memory gpu is not possible: device {} of rank {} does not take "
                             "CUDA pointers (ptrSupport {}).",
                             place.device, place.rank, place.properties.ptrSupport)};
  }
  return takes_gpu ? int{kNcclPointerCuda} : int{kNcclPointerHost};
}

}  // namespace

void Findings::add(const Finding& finding) {
  if (finding.sentence.empty()) {
    return;
  }
  const std::lock_guard lock(mutex_);
  wrong_bytes_ += finding.wrong_bytes;
  if (sentences_.size() < kMostSentences) {
    sentences_.push_back(finding.sentence);
  }
}

size_t Findings::wrong_bytes() const {
  const std::lock_guard lock(mutex_);
  return wrong_bytes_;
}

std::vector<std::string> Findings::sentences() const {
  const std::lock_guard lock(mutex_);
  return sentences_;
}

void Trace::add(int connection, char call, uint64_t what, uint64_t outcome) {
  for (const uint64_t value :
       {static_cast<uint64_t>(connection), static_cast<uint64_t>(call), what, outcome}) {
    digest_ = (digest_ ^ value) * 0x100000001B3U;
  }
}

std::string wait_text(const std::string& what, const ConnectionPlan& connection,
                      const std::string& state) {
  return fmt::format("{} on {}: {}", what, text_of(connection), state);
}

Error wait_is_over(int rank, double limit_s, const std::string& wait) {
  return {ErrorCode::kRemote,
          fmt::format("rank {} has waited {:g} s for {}.", rank, limit_s, wait)};
}

Error call_failed(const Caller& caller, const ConnectionPlan& connection, NcclResult result) {
  return {ErrorCode::kRemote,
          fmt::format("{}: {} on {} returned {}.", caller.who(), caller.last_call(),
                      text_of(connection), result_text(result))};
}

Error broken_promise(const Caller& caller, const ConnectionPlan& connection,
                     const std::string& what) {
  return {ErrorCode::kInternal, fmt::format("{}: {} on {} {}.", caller.who(), caller.last_call(),
                                            text_of(connection), what)};
}

void Handles::post(int connection, const Bytes& bytes) {
  Slot& slot = slots_[static_cast<size_t>(connection)];
  slot.bytes = bytes;
  slot.there.store(true, std::memory_order_release);
}

const Handles::Bytes* Handles::look(int connection) const {
  const Slot& slot = slots_[static_cast<size_t>(connection)];
  return slot.there.load(std::memory_order_acquire) ? &slot.bytes : nullptr;
}

Buffers::Buffers(const ConnectionPlan& plan, int window) {
  const size_t slots = static_cast<size_t>(window) * static_cast<size_t>(plan.subs);
  for (const Protocol protocol : kAllProtocols) {
    if (const auto room_bytes = plan.largest_room_bytes(protocol)) {
      buffers_.emplace(protocol, Buffer{Arena(slots, *room_bytes), nullptr});
    }
  }
}

Result<bool> Buffers::register_next(Net& net, Caller& caller, void* connection,
                                    const RankPlace& place, const ConnectionPlan& plan,
                                    MemoryChoice memory) {
  for (auto& [protocol, buffer] : buffers_) {
    if (buffer.registration != nullptr) {
      continue;
    }
    const Result<int> type = pointer_type(protocol, place, memory);
    if (!type) {
      return type.error();
    }
    const NcclResult result = caller.call("regMr", [&] {
      return net.reg_mr(connection, buffer.arena.base(), buffer.arena.bytes(), *type,
                        &buffer.registration);
    });
    if (result != kNcclSuccess) {
      return call_failed(caller, plan, result);
    }
    if (buffer.registration == nullptr) {
      return broken_promise(caller, plan, "returned success without a registration");
    }
    return true;
  }
  return false;
}

Status Buffers::deregister_all(Net& net, Caller& caller, void* connection,
                               const ConnectionPlan& plan) {
  for (auto& [protocol, buffer] : buffers_) {
    if (buffer.registration == nullptr) {
      continue;
    }
    const NcclResult result =
        caller.call("deregMr", [&] { return net.dereg_mr(connection, buffer.registration); });
    if (result != kNcclSuccess) {
      return call_failed(caller, plan, result);
    }
    buffer.registration = nullptr;
  }
  // NCCL gives back what it never got.
  const NcclResult nothing =
      caller.call("deregMr of NULL", [&] { return net.dereg_mr(connection, nullptr); });
  return nothing == kNcclSuccess ? Status() : Status(call_failed(caller, plan, nothing));
}

}  // namespace rocelane::nccl_host
