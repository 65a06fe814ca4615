#pragma once

// A queue pair with memory of its own, for a test whose other end is in another process. Every step
// that fails throws std::runtime_error.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <infiniband/verbs.h>

namespace rocelane::softverbs_test {

// The device of this name, "host1/soft_0"; it stays open until the process ends.
ibv_context* open_device(const std::string& name);

// What an end's peer has to know; goes over a line.
struct Address {
  uint32_t queue_pair;
  uint32_t key;
  uint64_t memory;
  ibv_gid gid;
};

struct EndWishes {
  uint32_t depth = 64;
  uint8_t timeout = 16;  // 268 ms; 0: for ever
  uint8_t retries = 7;
  uint8_t rnr_retries = 7;  // for ever
  uint8_t rnr_timer = 12;   // 0.64 ms
  size_t bytes = 1 << 20;
  uint8_t* memory = nullptr;            // somebody else's, of that many bytes
  ibv_comp_channel* channel = nullptr;  // of both completion queues
  ibv_pd* domain = nullptr;             // of the shared receive queue
  ibv_srq* shared_receives = nullptr;
};

class DistantEnd {
 public:
  explicit DistantEnd(ibv_context* context, const EndWishes& wishes = {});
  ~DistantEnd();
  DistantEnd(const DistantEnd&) = delete;
  DistantEnd& operator=(const DistantEnd&) = delete;

  Address address() const;
  void to_init();
  void to_rtr_and_rts(const Address& peer);
  void connect(const Address& peer);  // both
  void reset();
  ibv_qp_state state() const;

  // All post one signalled work request. `offset`: of the payload here; `there`: at the peer.
  void write(const Address& peer, size_t bytes, uint64_t id, size_t offset = 0, size_t there = 0);
  void write_with_immediate(const Address& peer, size_t bytes, uint32_t immediate, uint64_t id,
                            size_t offset = 0, size_t there = 0);
  void send(size_t bytes, uint64_t id);
  void receive(size_t bytes, uint64_t id);

  // What has completed since the last call.
  std::vector<ibv_wc> sent() { return poll(send_queue_); }
  std::vector<ibv_wc> received() { return poll(receive_queue_); }
  // The next completion of a send, whatever its status; throws when none comes in time.
  ibv_wc await_sent();

  uint8_t* memory() { return memory_; }
  ibv_qp* queue_pair() { return pair_; }
  ibv_cq* send_queue() { return send_queue_; }
  ibv_cq* receive_queue() { return receive_queue_; }
  uint32_t local_key() const { return region_->lkey; }

 private:
  static std::vector<ibv_wc> poll(ibv_cq* queue);
  void modify(ibv_qp_attr* step, int mask, const char* to);
  void post(ibv_send_wr request, size_t bytes, size_t offset);

  EndWishes wishes_;
  std::unique_ptr<uint8_t[]> own_memory_;
  uint8_t* memory_;
  ibv_gid gid_{};
  ibv_pd* domain_;
  ibv_cq *send_queue_, *receive_queue_;
  ibv_mr* region_;
  ibv_qp* pair_;
};

}  // namespace rocelane::softverbs_test
