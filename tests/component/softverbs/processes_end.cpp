#include "processes_end.h"

#include <array>

#include <sched.h>

#include "processes.h"

namespace rocelane::softverbs_test {
namespace {

constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
constexpr uint8_t kGidIndex = 3;  // RoCE v2 over IPv4
constexpr uint32_t kFirstPsn = 100;

}  // namespace

ibv_context* open_device(const std::string& name) {
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  demand_call(list != nullptr, "there is no list of devices");
  ibv_context* context = nullptr;
  for (int i = 0; i < count; ++i) {
    if (name == ibv_get_device_name(list[i])) {
      context = ibv_open_device(list[i]);
    }
  }
  ibv_free_device_list(list);
  demand_call(context != nullptr, "device " + name + " cannot be opened");
  return context;
}

DistantEnd::DistantEnd(ibv_context* context, const EndWishes& wishes) : wishes_(wishes) {
  if (wishes.memory == nullptr) {
    own_memory_ = std::make_unique<uint8_t[]>(wishes.bytes);
  }
  memory_ = own_memory_ ? own_memory_.get() : wishes.memory;
  demand_call(ibv_query_gid(context, 1, kGidIndex, &gid_) == 0, "the port has no such GID");
  domain_ = wishes.domain != nullptr ? wishes.domain : ibv_alloc_pd(context);
  demand_call(domain_ != nullptr, "no protection domain");
  const auto entries = static_cast<int>(wishes.depth) * 2;
  send_queue_ = ibv_create_cq(context, entries, nullptr, wishes.channel, 0);
  receive_queue_ = ibv_create_cq(context, entries, nullptr, wishes.channel, 0);
  demand_call(send_queue_ != nullptr && receive_queue_ != nullptr, "no completion queue");
  region_ = ibv_reg_mr(domain_, memory_, wishes.bytes, kAccess);
  demand_call(region_ != nullptr, "memory cannot be registered");
  ibv_qp_init_attr attributes{};
  attributes.send_cq = send_queue_;
  attributes.recv_cq = receive_queue_;
  attributes.srq = wishes.shared_receives;
  attributes.cap = {wishes.depth, wishes.depth, 1, 1, 0};
  attributes.qp_type = IBV_QPT_RC;
  attributes.sq_sig_all = 1;
  pair_ = ibv_create_qp(domain_, &attributes);
  demand_call(pair_ != nullptr, "no queue pair");
}

DistantEnd::~DistantEnd() {
  ibv_destroy_qp(pair_);
  ibv_dereg_mr(region_);
  ibv_destroy_cq(send_queue_);
  ibv_destroy_cq(receive_queue_);
  if (wishes_.domain == nullptr) {
    ibv_dealloc_pd(domain_);
  }
}

Address DistantEnd::address() const {
  return {pair_->qp_num, region_->rkey, reinterpret_cast<uint64_t>(memory_), gid_};
}

void DistantEnd::to_init() {
  ibv_qp_attr step{};
  step.qp_state = IBV_QPS_INIT;
  step.port_num = 1;
  step.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  modify(&step, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS, "INIT");
}

void DistantEnd::to_rtr_and_rts(const Address& peer) {
  ibv_qp_attr step{};
  step.qp_state = IBV_QPS_RTR;
  step.path_mtu = IBV_MTU_4096;
  step.dest_qp_num = peer.queue_pair;
  step.rq_psn = kFirstPsn;
  step.max_dest_rd_atomic = 4;
  step.min_rnr_timer = wishes_.rnr_timer;
  step.ah_attr.is_global = 1;
  step.ah_attr.port_num = 1;
  step.ah_attr.grh.dgid = peer.gid;
  step.ah_attr.grh.sgid_index = kGidIndex;
  step.ah_attr.grh.flow_label = 1;
  step.ah_attr.grh.hop_limit = 64;
  modify(&step,
         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
             IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
         "RTR");
  step = {};
  step.qp_state = IBV_QPS_RTS;
  step.timeout = wishes_.timeout;
  step.retry_cnt = wishes_.retries;
  step.rnr_retry = wishes_.rnr_retries;
  step.sq_psn = kFirstPsn;
  step.max_rd_atomic = 4;
  modify(&step,
         IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
             IBV_QP_MAX_QP_RD_ATOMIC,
         "RTS");
}

void DistantEnd::connect(const Address& peer) {
  to_init();
  to_rtr_and_rts(peer);
}

void DistantEnd::reset() {
  ibv_qp_attr step{};
  step.qp_state = IBV_QPS_RESET;
  modify(&step, IBV_QP_STATE, "RESET");
}

void DistantEnd::modify(ibv_qp_attr* step, int mask, const char* to) {
  errno = ibv_modify_qp(pair_, step, mask);
  demand_call(errno == 0, std::string("a queue pair does not go to ") + to);
}

ibv_qp_state DistantEnd::state() const {
  ibv_qp_attr attributes{};
  ibv_qp_init_attr initial{};
  demand_call(ibv_query_qp(pair_, &attributes, IBV_QP_STATE, &initial) == 0,
              "a queue pair does not say its state");
  return attributes.qp_state;
}

void DistantEnd::post(ibv_send_wr request, size_t bytes, size_t offset) {
  ibv_sge payload{reinterpret_cast<uint64_t>(memory_ + offset), static_cast<uint32_t>(bytes),
                  region_->lkey};
  request.sg_list = &payload;
  request.num_sge = 1;
  ibv_send_wr* bad = nullptr;
  errno = ibv_post_send(pair_, &request, &bad);
  demand_call(errno == 0, "a send is not taken");
}

void DistantEnd::write(const Address& peer, size_t bytes, uint64_t id, size_t offset,
                       size_t there) {
  ibv_send_wr request{};
  request.wr_id = id;
  request.opcode = IBV_WR_RDMA_WRITE;
  request.wr.rdma = {peer.memory + there, peer.key};
  post(request, bytes, offset);
}

void DistantEnd::write_with_immediate(const Address& peer, size_t bytes, uint32_t immediate,
                                      uint64_t id, size_t offset, size_t there) {
  ibv_send_wr request{};
  request.wr_id = id;
  request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  request.imm_data = immediate;
  request.wr.rdma = {peer.memory + there, peer.key};
  post(request, bytes, offset);
}

void DistantEnd::send(size_t bytes, uint64_t id) {
  ibv_send_wr request{};
  request.wr_id = id;
  request.opcode = IBV_WR_SEND;
  post(request, bytes, 0);
}

void DistantEnd::receive(size_t bytes, uint64_t id) {
  ibv_sge place{reinterpret_cast<uint64_t>(memory_), static_cast<uint32_t>(bytes), region_->lkey};
  ibv_recv_wr request{};
  request.wr_id = id;
  request.sg_list = &place;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  errno = ibv_post_recv(pair_, &request, &bad);
  demand_call(errno == 0, "a receive is not taken");
}

std::vector<ibv_wc> DistantEnd::poll(ibv_cq* queue) {
  std::vector<ibv_wc> result;
  std::array<ibv_wc, 64> some{};
  int taken = 0;
  while ((taken = ibv_poll_cq(queue, static_cast<int>(some.size()), some.data())) > 0) {
    result.insert(result.end(), some.begin(), some.begin() + taken);
  }
  demand(taken == 0, "a completion queue cannot be polled");
  return result;
}

ibv_wc DistantEnd::await_sent() {
  const Deadline deadline(5);
  ibv_wc completion{};
  while (ibv_poll_cq(send_queue_, 1, &completion) == 0) {
    demand(!deadline.is_over(), "a send does not complete");
    sched_yield();
  }
  return completion;
}

}  // namespace rocelane::softverbs_test
