#pragma once

#include <array>
#include <atomic>
#include <vector>

#include "nccl_host/end_support.h"

namespace rocelane::nccl_host {

// The receiving end of a connection; threads and results as with SendEnd.
class ReceiveEnd {
 public:
  // `plan` and what `settings` points to must outlive the end.
  ReceiveEnd(const ConnectionPlan& plan, const EndSettings& settings);

  Result<bool> set_up(Net& net, Caller& caller, const RankPlace& place, Handles& handles,
                      uint64_t now_ns);
  bool is_ready() const { return ready_.load(std::memory_order_acquire); }

  // As SendEnd::follow, once all of the last plan are received.
  void follow(const ConnectionPlan& plan);

  Result<bool> progress(Net& net, Caller& caller, size_t group_limit, uint64_t now_ns);
  bool is_finished(size_t group_limit) const;
  const Meter& meter() const { return meter_; }
  // Progress thread: groups that irecv took.
  size_t groups_posted() const { return posted_; }
  size_t groups_received() const { return checked_.load(std::memory_order_acquire); }

  // As SendEnd::waits_for.
  std::optional<std::string> waits_for(size_t group_limit) const;

  // Nothing may have arrived since the last message was checked.
  void inspect_what_is_left() const;
  Status close(Net& net, Caller& caller);

  const ConnectionPlan& plan() const { return *plan_; }

 private:
  enum class SetUp : uint8_t {
    kListening,  // listen has not been called
    kAccepting,
    kRegistering,
    kReady,
  };

  // A grouped receive from irecv to the check of its bytes, by number modulo the window.
  struct Receive {
    void* request = nullptr;
    void* flush = nullptr;
    bool has_sizes = false;
    std::array<int, kSizesPassed> sizes{};
    std::vector<size_t> written_bytes;  // by message: where the look at unfinished data goes on
  };

  Result<bool> listen(Net& net, Caller& caller, const RankPlace& place, Handles& handles);
  Result<bool> accept(Net& net, Caller& caller);
  Result<bool> post(Net& net, Caller& caller, size_t group_limit);
  Result<bool> test_oldest(Net& net, Caller& caller);
  Result<bool> start_flush(Net& net, Caller& caller);
  Result<bool> test_flush(Net& net, Caller& caller);
  Result<bool> check_oldest(Net& net, Caller& caller);

  bool gets_hint(const Net& net, const Group& group) const;
  bool data_is_complete(size_t group);
  void check_sizes(size_t group);
  void check_bytes(size_t group);
  void inspect_buffers(size_t group) const;
  void* data_of(size_t group, const Message& message);
  Receive& receive(size_t group) { return receives_[group % receives_.size()]; }

  const ConnectionPlan* plan_;
  const EndSettings& settings_;
  Patience patience_;
  Buffers buffers_;
  std::vector<Receive> receives_;
  SetUp set_up_ = SetUp::kListening;
  int rank_;
  void* listener_ = nullptr;
  void* connection_ = nullptr;
  std::atomic<bool> ready_ = false;
  // Progress thread. Groups below each number are posted, received, flushed, checked.
  size_t posted_ = 0;
  size_t received_ = 0;
  size_t flushed_ = 0;
  std::atomic<size_t> checked_ = 0;
  Meter meter_;
};

}  // namespace rocelane::nccl_host
