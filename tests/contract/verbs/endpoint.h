#pragma once

// One end of a reliable connection: a queue pair with its completion queues.

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "attributes.h"
#include "memory.h"
#include "objects.h"

namespace rocelane::contract {

constexpr std::chrono::seconds kPatience{20};  // emulated processors are slow

// Flags of a request.
constexpr unsigned kSignaled = IBV_SEND_SIGNALED;
constexpr unsigned kUnsignaled = 0;

struct Shape {
  uint32_t send_depth = 32;
  uint32_t receive_depth = 32;
  uint32_t pieces = 4;  // scatter and gather entries of a request
  uint32_t inline_bytes = 64;
  bool all_signaled = false;
  int completion_depth = 128;     // of each completion queue
  ibv_cq* completions = nullptr;  // for both queues; null: one of its own for each
  ibv_srq* shared_receives = nullptr;
  unsigned access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
};

class Endpoint {
 public:
  // Fails the test when the device refuses.
  Endpoint(const Port& port, ibv_pd* domain, const Shape& shape);

  ibv_qp* queue_pair() const { return queue_pair_.get(); }
  ibv_cq* send_completions() const { return queue_pair_->send_cq; }
  ibv_cq* receive_completions() const { return queue_pair_->recv_cq; }
  uint32_t number() const { return queue_pair_->qp_num; }
  const Port& port() const { return port_; }
  void destroy_queue_pair() { queue_pair_.reset(); }

  // Where a peer finds it. Packet sequences differ between endpoints, so that mixing them up shows.
  Address address() const;

  // 0 or errno.
  int to_init();
  int to_ready_to_receive(const Address& peer, const Timing& timing = {});
  int to_ready_to_send(const Timing& timing = {});
  int to_error() { return modify_state(queue_pair(), IBV_QPS_ERR); }
  int to_reset() { return modify_state(queue_pair(), IBV_QPS_RESET); }
  // All three steps.
  int connect(const Address& peer, const Timing& timing = {});

  // One request in one call; 0 or errno. `flags` are IBV_SEND_….
  int send(uint64_t id, const ibv_sge& local, unsigned flags = kSignaled);
  int send_with_immediate(uint64_t id, const ibv_sge& local, uint32_t immediate,
                          unsigned flags = kSignaled);
  int write(uint64_t id, const ibv_sge& local, const RemoteMemory& remote,
            unsigned flags = kSignaled);
  int write_with_immediate(uint64_t id, const ibv_sge& local, const RemoteMemory& remote,
                           uint32_t immediate, unsigned flags = kSignaled);
  int read(uint64_t id, const ibv_sge& local, const RemoteMemory& remote,
           unsigned flags = kSignaled);
  int receive(uint64_t id, const ibv_sge& local);
  int receive_nothing(uint64_t id);

  // A request with any number of pieces; remote is ignored by sends.
  int post(uint64_t id, ibv_wr_opcode opcode, std::span<const ibv_sge> local,
           const RemoteMemory& remote = {}, uint32_t immediate = 0, unsigned flags = kSignaled);
  int post_receive(uint64_t id, std::span<const ibv_sge> local);

  // The next completions of the send or the receive queue: as many as asked for, or what came in
  // kPatience.
  std::vector<ibv_wc> sent(size_t count) const;
  std::vector<ibv_wc> received(size_t count) const;

 private:
  Port port_;
  unsigned access_ = 0;
  CompletionQueue own_send_completions_;
  CompletionQueue own_receive_completions_;
  QueuePair queue_pair_;
};

// As many completions as asked for, or what came in time.
std::vector<ibv_wc> wait_for(ibv_cq* queue, size_t count,
                             std::chrono::milliseconds patience = kPatience);

// What comes within `time`.
std::vector<ibv_wc> collect_for(ibv_cq* queue, std::chrono::milliseconds time);

}  // namespace rocelane::contract
