#pragma once

#include <atomic>
#include <vector>

#include "nccl_host/end_support.h"

namespace rocelane::nccl_host {

// The sending end of a connection, called as NCCL's proxy calls: set_up and close by the rank's
// service thread, progress by its progress thread once the end is ready. No call waits; true means
// that something moved.
class SendEnd {
 public:
  // `plan` and what `settings` points to must outlive the end.
  SendEnd(const ConnectionPlan& plan, const EndSettings& settings);

  Result<bool> set_up(Net& net, Caller& caller, const RankPlace& place, const Handles& handles,
                      uint64_t now_ns);
  bool is_ready() const { return ready_.load(std::memory_order_acquire); }

  // Other messages on the same connection, once all of the last plan are sent; none of them may be
  // larger than the first plan's largest. Not while another thread makes progress.
  void follow(const ConnectionPlan& plan);

  // Sends messages of groups below `group_limit`.
  Result<bool> progress(Net& net, Caller& caller, size_t group_limit, uint64_t now_ns);
  // Any thread: whether every message of groups below the limit is sent. What `meter` holds is then
  // settled.
  bool is_finished(size_t group_limit) const;
  const Meter& meter() const { return meter_; }
  size_t messages_sent() const { return sent_.load(std::memory_order_acquire); }

  // What the oldest message below the limit waits for; none: everything is sent. Not while another
  // thread makes progress.
  std::optional<std::string> waits_for(size_t group_limit) const;

  Status close(Net& net, Caller& caller);

  const ConnectionPlan& plan() const { return *plan_; }

 private:
  enum class SetUp : uint8_t {
    kAwaitingHandle,  // the receiver has not listened yet
    kConnecting,
    kRegistering,
    kReady,
  };

  // One of the senders that share the connection: its messages in order.
  struct Sub {
    struct Item {
      size_t group = 0;
      const Message* message = nullptr;
    };
    std::vector<Item> items;
    std::vector<void*> requests;  // of items[done] … items[started - 1], by place modulo the window
    size_t started = 0;
    size_t done = 0;
    bool is_prepared = false;  // items[started] has its bytes in place
  };

  void deal_out_messages();
  Result<bool> connect(Net& net, Caller& caller, const RankPlace& place);
  bool may_start(const Sub& sub, size_t group_limit) const;
  void prepare(Sub& sub);
  Result<bool> start(Net& net, Caller& caller, Sub& sub);
  Result<bool> test_oldest(Net& net, Caller& caller, Sub& sub);
  void finish_oldest(Sub& sub);
  const Group& group_of(const Sub::Item& item) const { return plan_->groups[item.group]; }
  std::span<std::byte> bytes_of(const Sub::Item& item);

  const ConnectionPlan* plan_;
  const EndSettings& settings_;
  Patience patience_;
  Buffers buffers_;
  std::vector<Sub> subs_;
  std::vector<size_t> messages_before_;  // by group: messages of the groups before it
  SetUp set_up_ = SetUp::kAwaitingHandle;
  int rank_;
  Handles::Bytes handle_{};  // the same memory for every call of connect
  void* connection_ = nullptr;
  std::atomic<bool> ready_ = false;
  Meter meter_;                   // progress thread
  std::atomic<size_t> sent_ = 0;  // progress thread
};

}  // namespace rocelane::nccl_host
