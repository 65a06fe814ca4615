#include "endpoint.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include <arpa/inet.h>

namespace rocelane::contract {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

ibv_cq* create_completions(ibv_context* context, int depth) {
  return ibv_create_cq(context, depth, nullptr, nullptr, 0);
}

// Polls as a library would: in batches smaller than the queue. Gives the processor away in between,
// because a software device may need it.
std::vector<ibv_wc> poll_until(ibv_cq* queue, size_t count, milliseconds patience) {
  std::vector<ibv_wc> completions;
  const auto deadline = steady_clock::now() + patience;
  while (completions.size() < count && steady_clock::now() < deadline) {
    ibv_wc batch[4];
    const size_t wanted = std::min(count - completions.size(), std::size(batch));
    const int polled = ibv_poll_cq(queue, static_cast<int>(wanted), batch);
    EXPECT_GE(polled, 0) << "ibv_poll_cq failed";
    if (polled <= 0) {
      std::this_thread::yield();
      continue;
    }
    completions.insert(completions.end(), batch, batch + polled);
  }
  return completions;
}

}  // namespace

Endpoint::Endpoint(const Port& port, ibv_pd* domain, const Shape& shape)
    : port_(port), access_(shape.access) {
  ibv_cq* send_completions = shape.completions;
  ibv_cq* receive_completions = shape.completions;
  if (shape.completions == nullptr) {
    own_send_completions_.reset(create_completions(domain->context, shape.completion_depth));
    own_receive_completions_.reset(create_completions(domain->context, shape.completion_depth));
    send_completions = own_send_completions_.get();
    receive_completions = own_receive_completions_.get();
    if (send_completions == nullptr || receive_completions == nullptr) {
      ADD_FAILURE() << "no completion queue: " << std::strerror(errno);
      return;
    }
  }
  ibv_qp_init_attr creation{};
  creation.send_cq = send_completions;
  creation.recv_cq = receive_completions;
  creation.srq = shape.shared_receives;
  creation.qp_type = IBV_QPT_RC;
  creation.sq_sig_all = shape.all_signaled ? 1 : 0;
  creation.cap.max_send_wr = shape.send_depth;
  creation.cap.max_recv_wr = shape.shared_receives != nullptr ? 0 : shape.receive_depth;
  creation.cap.max_send_sge = shape.pieces;
  creation.cap.max_recv_sge = shape.shared_receives != nullptr ? 0 : shape.pieces;
  creation.cap.max_inline_data = shape.inline_bytes;
  queue_pair_.reset(ibv_create_qp(domain, &creation));
  if (queue_pair_ == nullptr) {
    ADD_FAILURE() << "no queue pair: " << std::strerror(errno);
    return;
  }
}

Address Endpoint::address() const { return {port_.gid, number(), (number() * 7919) & 0xFFFFFF}; }

int Endpoint::to_init() {
  ibv_qp_attr attributes = init_attributes(port_, access_);
  return ibv_modify_qp(queue_pair(), &attributes, kInitMask);
}

int Endpoint::to_ready_to_receive(const Address& peer, const Timing& timing) {
  ibv_qp_attr attributes = ready_to_receive_attributes(port_, peer, timing);
  return ibv_modify_qp(queue_pair(), &attributes, kReadyToReceiveMask);
}

int Endpoint::to_ready_to_send(const Timing& timing) {
  ibv_qp_attr attributes = ready_to_send_attributes(address().packet_sequence, timing);
  return ibv_modify_qp(queue_pair(), &attributes, kReadyToSendMask);
}

int Endpoint::connect(const Address& peer, const Timing& timing) {
  if (const int error = to_init(); error != 0) {
    return error;
  }
  if (const int error = to_ready_to_receive(peer, timing); error != 0) {
    return error;
  }
  return to_ready_to_send(timing);
}

int Endpoint::send(uint64_t id, const ibv_sge& local, unsigned flags) {
  return post(id, IBV_WR_SEND, {&local, 1}, {}, 0, flags);
}

int Endpoint::send_with_immediate(uint64_t id, const ibv_sge& local, uint32_t immediate,
                                  unsigned flags) {
  return post(id, IBV_WR_SEND_WITH_IMM, {&local, 1}, {}, immediate, flags);
}

int Endpoint::write(uint64_t id, const ibv_sge& local, const RemoteMemory& remote, unsigned flags) {
  return post(id, IBV_WR_RDMA_WRITE, {&local, 1}, remote, 0, flags);
}

int Endpoint::write_with_immediate(uint64_t id, const ibv_sge& local, const RemoteMemory& remote,
                                   uint32_t immediate, unsigned flags) {
  return post(id, IBV_WR_RDMA_WRITE_WITH_IMM, {&local, 1}, remote, immediate, flags);
}

int Endpoint::read(uint64_t id, const ibv_sge& local, const RemoteMemory& remote, unsigned flags) {
  return post(id, IBV_WR_RDMA_READ, {&local, 1}, remote, 0, flags);
}

int Endpoint::receive(uint64_t id, const ibv_sge& local) { return post_receive(id, {&local, 1}); }

int Endpoint::receive_nothing(uint64_t id) { return post_receive(id, {}); }

int Endpoint::post(uint64_t id, ibv_wr_opcode opcode, std::span<const ibv_sge> local,
                   const RemoteMemory& remote, uint32_t immediate, unsigned flags) {
  std::vector<ibv_sge> pieces(local.begin(), local.end());
  ibv_send_wr request{};
  request.wr_id = id;
  request.opcode = opcode;
  request.sg_list = pieces.data();
  request.num_sge = static_cast<int>(pieces.size());
  request.send_flags = flags;
  request.imm_data = htonl(immediate);
  request.wr.rdma.remote_addr = remote.address;
  request.wr.rdma.rkey = remote.rkey;
  ibv_send_wr* refused = nullptr;
  return ibv_post_send(queue_pair(), &request, &refused);
}

int Endpoint::post_receive(uint64_t id, std::span<const ibv_sge> local) {
  std::vector<ibv_sge> pieces(local.begin(), local.end());
  ibv_recv_wr request{};
  request.wr_id = id;
  request.sg_list = pieces.data();
  request.num_sge = static_cast<int>(pieces.size());
  ibv_recv_wr* refused = nullptr;
  return ibv_post_recv(queue_pair(), &request, &refused);
}

std::vector<ibv_wc> Endpoint::sent(size_t count) const {
  return wait_for(send_completions(), count);
}

std::vector<ibv_wc> Endpoint::received(size_t count) const {
  return wait_for(receive_completions(), count);
}

std::vector<ibv_wc> wait_for(ibv_cq* queue, size_t count, milliseconds patience) {
  return poll_until(queue, count, patience);
}

std::vector<ibv_wc> collect_for(ibv_cq* queue, milliseconds time) {
  return poll_until(queue, SIZE_MAX, time);
}

}  // namespace rocelane::contract
