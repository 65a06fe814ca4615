#pragma once

// What one end of a connection asks of the other, and what must be true of it: a model without
// verbs.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <infiniband/verbs.h>

namespace rocelane::softverbs_test {

// A promise was broken; the text says which.
struct Broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};
void require(bool holds, const std::string& promise);

// Some memory with a guard behind it.
struct Area {
  uint8_t* at = nullptr;
  uint32_t bytes = 0;
};
constexpr uint32_t kGuardBytes = 32;

// Every content has bytes of its own; none of them is 0, which is memory that was never written.
void fill(const Area& area, uint64_t content);
bool holds(const Area& area, uint64_t content);
void spoil(const Area& area);

struct Receive {
  uint64_t id = 0;
  Area area;
};

struct Request {
  uint64_t id = 0;
  ibv_wr_opcode opcode = IBV_WR_SEND;
  bool signalled = true;
  uint32_t immediate = 0;  // as it lies in the work request
  uint64_t content = 0;
  Area source, target;        // of a SEND without a target
  bool keeps_source = false;  // others read it too
  // It is wrong and must end so; success: it is right.
  ibv_wc_status sin = IBV_WC_SUCCESS;

  // What becomes of it. Fenced: the one who owns the target will not see it written any more.
  enum class State : uint8_t { kOpen, kArrived, kFenced } state = State::kOpen;

  bool reads() const { return opcode == IBV_WR_RDMA_READ; }
  bool has_immediate() const {
    return opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  }
  bool sends() const { return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM; }
  bool takes_receive() const { return sends() || opcode == IBV_WR_RDMA_WRITE_WITH_IMM; }
};

// One direction of one life of a connection. Every function throws Broken.
class Stream {
 public:
  explicit Stream(bool calm) : calm_(calm) {}

  void post(const Request& request);
  size_t unfinished() const { return requests_.size() - finished_; }
  // Receives that the requests want and have not completed yet.
  size_t receives_wanted() const { return takers_.size() - received_; }
  // How many are posted at the end without a completion of their own.
  size_t unsignalled_tail() const;
  // WRITEs of this stream, to be read again by the one who posted them.
  const std::vector<Request>& requests() const { return requests_; }

  void complete(const ibv_wc& completion);
  void receive(const ibv_wc& completion, const Receive& receive);

  // The requester was put into the error state, or is gone.
  void sender_told_to_stop() { told_to_stop_ = true; }
  void sender_left() { sender_left_ = true; }
  void receiver_left() { receiver_left_ = true; }
  // Nothing is written into the memory of the one or the other end from now on.
  void fence_sender();
  void fence_receiver();

  // When all completions up to now have been taken.
  void check_now() const;
  // When nothing is to come any more.
  void check_end() const;

 private:
  void succeed(Request& request);
  void arrive(Request& request);

  bool calm_;
  std::vector<Request> requests_;
  std::vector<size_t> takers_;  // requests that take a receive
  size_t finished_ = 0;         // requests that have ended, as far as completions say
  size_t takers_succeeded_ = 0;
  size_t received_ = 0;  // of takers_
  size_t placed_ = 0;    // requests before a received one: they are in place
  bool failed_ = false, told_to_stop_ = false, sender_left_ = false, receiver_left_ = false;
};

}  // namespace rocelane::softverbs_test
