#include "simulation.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>

#include <fcntl.h>
#include <gtest/gtest.h>

namespace rocelane::softverbs_test {
namespace {

constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

}  // namespace

End::End(ibv_context* context, const Wishes& wishes) : wishes_(wishes), memory_(wishes.bytes) {
  EXPECT_EQ(ibv_query_gid(context, 1, wishes.gid_index, &gid_), 0);
  domain_ = ibv_alloc_pd(context);
  send_queue_ = ibv_create_cq(context, static_cast<int>(wishes.depth) * 2, nullptr, nullptr, 0);
  receive_queue_ = ibv_create_cq(context, static_cast<int>(wishes.depth) * 2, nullptr, nullptr, 0);
  region_ = ibv_reg_mr(domain_, memory_.data(), memory_.size(), kAccess);
  if (wishes.shared_receives > 0) {
    ibv_srq_init_attr shared{};
    shared.attr = {wishes.shared_receives, 1, 0};
    shared_ = ibv_create_srq(domain_, &shared);
    EXPECT_NE(shared_, nullptr);
  }
  ibv_qp_init_attr attributes{};
  attributes.send_cq = send_queue_;
  attributes.recv_cq = receive_queue_;
  attributes.srq = shared_;
  attributes.cap.max_send_wr = wishes.depth;
  attributes.cap.max_recv_wr = wishes.depth;
  attributes.cap.max_send_sge = 1;
  attributes.cap.max_recv_sge = 1;
  attributes.qp_type = IBV_QPT_RC;
  attributes.sq_sig_all = 1;
  pair_ = ibv_create_qp(domain_, &attributes);
  EXPECT_NE(pair_, nullptr);
}

End::~End() {
  ibv_destroy_qp(pair_);
  if (shared_ != nullptr) {
    ibv_destroy_srq(shared_);
  }
  ibv_dereg_mr(region_);
  ibv_destroy_cq(send_queue_);
  ibv_destroy_cq(receive_queue_);
  ibv_dealloc_pd(domain_);
}

int End::connect(const End& peer) {
  ibv_qp_attr step{};
  step.qp_state = IBV_QPS_INIT;
  step.port_num = 1;
  step.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  EXPECT_EQ(ibv_modify_qp(pair_, &step,
                          IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS),
            0);
  step = {};
  step.qp_state = IBV_QPS_RTR;
  step.path_mtu = IBV_MTU_4096;
  step.dest_qp_num = peer.pair_->qp_num;
  step.rq_psn = peer.pair_->qp_num;
  step.max_dest_rd_atomic = 4;
  step.min_rnr_timer = 12;
  step.ah_attr.is_global = 1;
  step.ah_attr.port_num = 1;
  step.ah_attr.grh.dgid = peer.gid_;
  step.ah_attr.grh.sgid_index = wishes_.gid_index;
  step.ah_attr.grh.flow_label = wishes_.flow_label;
  step.ah_attr.grh.traffic_class = wishes_.traffic_class;
  step.ah_attr.grh.hop_limit = 64;
  const int error =
      ibv_modify_qp(pair_, &step,
                    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                        IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  if (error != 0) {
    return error;
  }
  step = {};
  step.qp_state = IBV_QPS_RTS;
  step.timeout = wishes_.timeout;
  step.retry_cnt = wishes_.retries;
  step.rnr_retry = wishes_.rnr_retries;
  step.sq_psn = pair_->qp_num;
  step.max_rd_atomic = 4;
  EXPECT_EQ(ibv_modify_qp(pair_, &step,
                          IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                              IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
            0);
  return 0;
}

int End::post(ibv_wr_opcode opcode, const End* peer, size_t bytes, uint32_t immediate,
              uint64_t id) {
  ibv_sge local{reinterpret_cast<uint64_t>(memory_.data()), static_cast<uint32_t>(bytes),
                region_->lkey};
  ibv_send_wr request{};
  ibv_send_wr* bad = nullptr;
  request.wr_id = id;
  request.sg_list = &local;
  request.num_sge = 1;
  request.opcode = opcode;
  request.imm_data = immediate;
  if (peer != nullptr) {
    request.wr.rdma.remote_addr = reinterpret_cast<uint64_t>(peer->memory_.data());
    request.wr.rdma.rkey = peer->region_->rkey;
  }
  return ibv_post_send(pair_, &request, &bad);
}

int End::write(const End& peer, size_t bytes, uint64_t id) {
  return post(IBV_WR_RDMA_WRITE, &peer, bytes, 0, id);
}
int End::write_with_immediate(const End& peer, size_t bytes, uint32_t immediate, uint64_t id) {
  return post(IBV_WR_RDMA_WRITE_WITH_IMM, &peer, bytes, immediate, id);
}
int End::read(const End& peer, size_t bytes, uint64_t id) {
  return post(IBV_WR_RDMA_READ, &peer, bytes, 0, id);
}
int End::send(size_t bytes, uint64_t id) { return post(IBV_WR_SEND, nullptr, bytes, 0, id); }

int End::receive(uint64_t id) {
  ibv_sge local{reinterpret_cast<uint64_t>(memory_.data()), static_cast<uint32_t>(memory_.size()),
                region_->lkey};
  ibv_recv_wr request{};
  ibv_recv_wr* bad = nullptr;
  request.wr_id = id;
  request.sg_list = &local;
  request.num_sge = 1;
  return shared_ != nullptr ? ibv_post_srq_recv(shared_, &request, &bad)
                            : ibv_post_recv(pair_, &request, &bad);
}

int End::reset() {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RESET;
  return ibv_modify_qp(pair_, &attributes, IBV_QP_STATE);
}

std::vector<ibv_wc> End::poll(ibv_cq* queue) {
  std::vector<ibv_wc> result;
  std::array<ibv_wc, 64> some{};
  int taken = 0;
  while ((taken = ibv_poll_cq(queue, static_cast<int>(some.size()), some.data())) > 0) {
    result.insert(result.end(), some.begin(), some.begin() + taken);
  }
  return result;
}

softverbs_qp_counters End::counters() const {
  softverbs_qp_counters counters{};
  EXPECT_EQ(softverbs_query_qp(pair_, &counters), 0);
  return counters;
}

bool End::has_bytes_of(const End& other, size_t bytes) const {
  return std::equal(memory_.begin(), memory_.begin() + static_cast<ptrdiff_t>(bytes),
                    other.memory_.begin());
}

Simulation::Simulation(const std::string& fabric, const std::string& faults, uint64_t seed) {
  std::array<char, 512> error{};
  softverbs_log_events(
      [](void* user, const char* line) { static_cast<std::string*>(user)->append(line) += '\n'; },
      &log_);
  const int failed =
      softverbs_open_virtual(fabric.c_str(), faults.c_str(), seed, error.data(), error.size());
  if (failed != 0) {
    throw std::runtime_error(error.data());
  }
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  for (int i = 0; i < count; ++i) {
    ibv_context* context = ibv_open_device(list[i]);
    if (context != nullptr) {
      fcntl(context->async_fd, F_SETFL, O_NONBLOCK);
      contexts_[ibv_get_device_name(list[i])] = context;
    }
  }
  ibv_free_device_list(list);
}

Simulation::~Simulation() {
  for (const auto& [name, context] : contexts_) {
    ibv_close_device(context);
  }
  softverbs_log_events(nullptr, nullptr);
  softverbs_close_virtual();
}

ibv_context* Simulation::device(const std::string& name) { return contexts_.at(name); }

std::unique_ptr<End> Simulation::end(const std::string& device_name, const Wishes& wishes) {
  return std::make_unique<End>(device(device_name), wishes);
}

Connection Simulation::connect(const std::string& from, const std::string& to,
                               const Wishes& wishes) {
  Connection connection{end(from, wishes), end(to, wishes)};
  EXPECT_EQ(connection.from->connect(*connection.to), 0);
  EXPECT_EQ(connection.to->connect(*connection.from), 0);
  std::iota(connection.from->memory().begin(), connection.from->memory().end(), uint8_t{7});
  return connection;
}

bool Simulation::run_dry(uint64_t limit_ns) {
  const uint64_t end_ns = now_ns() + limit_ns;
  while (softverbs_next_event_ns() <= end_ns) {
    softverbs_run_until(softverbs_next_event_ns());
  }
  return softverbs_next_event_ns() == UINT64_MAX;
}

softverbs_link_counters Simulation::link(const std::string& name) const {
  softverbs_link_counters counters{};
  EXPECT_EQ(softverbs_query_link(name.c_str(), &counters), 0) << name;
  return counters;
}

softverbs_device_counters Simulation::counters(const std::string& name) {
  softverbs_device_counters counters{};
  EXPECT_EQ(softverbs_query_device(device(name), &counters), 0);
  return counters;
}

std::string Simulation::counters_json() const {
  std::string text(softverbs_counters_json(nullptr, 0) + 1, '\0');
  softverbs_counters_json(text.data(), text.size());
  text.pop_back();
  return text;
}

int Simulation::next_event(const std::string& name) {
  ibv_async_event event{};
  if (ibv_get_async_event(device(name), &event) != 0) {
    return -1;
  }
  ibv_ack_async_event(&event);
  return event.event_type;
}

}  // namespace rocelane::softverbs_test
