#include "chaos_endpoint.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <sys/mman.h>

namespace rocelane::softverbs_test {
namespace {

constexpr size_t kArenaBytes = size_t{1} << 30U;
constexpr int kCompletions = 8192;
constexpr uint32_t kSharedDepth = 24;
constexpr uint32_t kMostSges = 3;
constexpr uint32_t kInlineBytes = 64;
constexpr uint32_t kMostSharedBytes = 200'000;
constexpr uint64_t kReceiveBit = uint64_t{1} << 63U;
constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

// The area in up to kMostSges pieces.
std::vector<ibv_sge> split(Dice& dice, const Area& area, uint32_t key) {
  std::vector<ibv_sge> sges;
  uint32_t offset = 0;
  for (uint64_t left = dice.between(1, kMostSges); left > 0 && offset < area.bytes; --left) {
    const uint32_t rest = area.bytes - offset;
    const auto bytes = static_cast<uint32_t>(left == 1 ? rest : dice.between(1, rest));
    sges.push_back({reinterpret_cast<uint64_t>(area.at + offset), bytes, key});
    offset += bytes;
  }
  return sges;
}

int post_receive_of(const Receive& receive, uint32_t key, ibv_qp* pair, ibv_srq* shared) {
  ibv_sge sge{reinterpret_cast<uint64_t>(receive.area.at), receive.area.bytes, key};
  ibv_recv_wr request{};
  ibv_recv_wr* bad = nullptr;
  request.wr_id = receive.id;
  request.sg_list = &sge;
  request.num_sge = 1;
  return shared != nullptr ? ibv_post_srq_recv(shared, &request, &bad)
                           : ibv_post_recv(pair, &request, &bad);
}

void require_ok(int error, const std::string& what) {
  require(error == 0, what + " works: error " + std::to_string(error));
}

}  // namespace

Station::Station(ibv_context* context, const ChaosPlan& plan) : context_(context) {
  constexpr int kGidIndex = 3;
  require_ok(ibv_query_gid(context, 1, kGidIndex, &gid_), "ibv_query_gid");
  memory_ = static_cast<uint8_t*>(mmap(nullptr, kArenaBytes, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  domain_ = ibv_alloc_pd(context);
  region_ = ibv_reg_mr(domain_, memory_, kArenaBytes, kAccess);
  send_queue_ = ibv_create_cq(context, kCompletions, nullptr, nullptr, 0);
  receive_queue_ = plan.one_completion_queue
                       ? send_queue_
                       : ibv_create_cq(context, kCompletions, nullptr, nullptr, 0);
  if (plan.shared_receives) {
    ibv_srq_init_attr wishes{};
    wishes.attr.max_wr = kSharedDepth;
    wishes.attr.max_sge = 1;
    shared_ = ibv_create_srq(domain_, &wishes);
  }
}

Station::~Station() {
  if (shared_ != nullptr) {
    ibv_destroy_srq(shared_);
  }
  if (receive_queue_ != send_queue_) {
    ibv_destroy_cq(receive_queue_);
  }
  ibv_destroy_cq(send_queue_);
  ibv_dereg_mr(region_);
  ibv_dealloc_pd(domain_);
  munmap(memory_, kArenaBytes);
}

Area Station::claim(uint32_t bytes) {
  constexpr size_t kAlignment = 8;
  const Area area{memory_ + used_, bytes};
  used_ = (used_ + bytes + kGuardBytes + kAlignment - 1) / kAlignment * kAlignment;
  require(used_ <= kArenaBytes, "a scenario fits into its memory");
  return area;
}

void Station::retire(const Area& area) {
  spoil(area);
  retired_.push_back(area);
}

void Station::check_end() const {
  for (const Area& area : retired_) {
    require(std::all_of(area.at, area.at + area.bytes, [](uint8_t byte) { return byte == 0xEE; }),
            "nothing is written into a receive that was flushed");
  }
}

void Station::poll() {
  for (ibv_cq* queue : {send_queue_, receive_queue_}) {
    std::array<ibv_wc, 16> some{};
    int taken = 0;
    while ((taken = ibv_poll_cq(queue, static_cast<int>(some.size()), some.data())) > 0) {
      std::for_each_n(some.begin(), taken, [this](const ibv_wc& completion) { take(completion); });
    }
    require(taken == 0, "a completion queue with room has no error");
  }
}

void Station::take(const ibv_wc& completion) {
  const auto found = endpoints_.find(completion.qp_num);
  require(found != endpoints_.end(),
          "completion " + std::to_string(completion.wr_id) + " is of a queue pair that exists");
  if ((completion.wr_id & kReceiveBit) != 0) {
    found->second->take_received(completion);
  } else {
    found->second->take_sent(completion);
  }
}

void Station::post_shared_receive() {
  if (shared_receives_.size() >= kSharedDepth) {
    return;
  }
  const Receive receive{new_id() | kReceiveBit, claim(kMostSharedBytes)};
  require_ok(post_receive_of(receive, key(), nullptr, shared_), "posting a shared receive");
  shared_receives_[receive.id] = receive;
}

Endpoint::Endpoint(Station& station, const LanePlan& plan) : station_(station), plan_(plan) {
  create();
}

Endpoint::~Endpoint() { destroy(); }

void Endpoint::create() {
  ibv_qp_init_attr attributes{};
  attributes.send_cq = station_.send_queue_;
  attributes.recv_cq = station_.receive_queue_;
  attributes.srq = station_.shared_;
  attributes.cap = {plan_.wishes.send_depth, plan_.wishes.receive_depth, kMostSges, 1,
                    kInlineBytes};
  attributes.qp_type = IBV_QPT_RC;
  attributes.sq_sig_all = plan_.wishes.signal_all ? 1 : 0;
  pair_ = ibv_create_qp(station_.domain_, &attributes);
  require(pair_ != nullptr, "ibv_create_qp works");
  station_.endpoints_[pair_->qp_num] = this;
}

void Endpoint::destroy() {
  station_.endpoints_.erase(pair_->qp_num);
  ibv_destroy_qp(pair_);
}

int Endpoint::modify(ibv_qp_attr& attributes, int mask) {
  return ibv_modify_qp(pair_, &attributes, mask | IBV_QP_STATE);
}

void Endpoint::connect(const Endpoint& peer, std::shared_ptr<Stream> outgoing,
                       std::shared_ptr<Stream> incoming, uint32_t psn, uint32_t peer_psn) {
  ibv_qp_attr step{};
  step.qp_state = IBV_QPS_INIT;
  step.port_num = 1;
  step.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  require_ok(modify(step, IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS), "INIT");
  step.qp_state = IBV_QPS_RTR;
  step.path_mtu = plan_.wishes.mtu;
  step.dest_qp_num = peer.pair_->qp_num;
  step.rq_psn = peer_psn;
  step.max_dest_rd_atomic = plan_.wishes.reads;
  step.min_rnr_timer = plan_.wishes.rnr_timer;
  step.ah_attr.is_global = 1;
  step.ah_attr.port_num = 1;
  step.ah_attr.grh.dgid = peer.station_.gid();
  step.ah_attr.grh.sgid_index = 3;
  step.ah_attr.grh.traffic_class = plan_.wishes.traffic_class;
  step.ah_attr.grh.hop_limit = 64;
  require_ok(modify(step, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                              IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
             "RTR");
  step.qp_state = IBV_QPS_RTS;
  step.timeout = plan_.wishes.timeout;
  step.retry_cnt = plan_.wishes.retries;
  step.rnr_retry = plan_.wishes.rnr_retries;
  step.sq_psn = psn;
  step.max_rd_atomic = plan_.wishes.reads;
  require_ok(modify(step, IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                              IBV_QP_MAX_QP_RD_ATOMIC),
             "RTS");
  outgoing_ = std::move(outgoing);
  incoming_ = std::move(incoming);
}

// A READ of what was written before it or, behind a fence, a message of what was read before it.
bool Endpoint::choose_known_data(Dice& dice, Request& request) const {
  const std::vector<Request>& earlier = outgoing_->requests();
  if (earlier.empty()) {
    return false;
  }
  const Request& one = dice.one_of(earlier);
  if (one.state == Request::State::kFenced || one.sends() || request.reads() == one.reads()) {
    return false;
  }
  request.source = one.target;
  request.content = one.content;
  request.keeps_source = true;
  return true;
}

Request Endpoint::random_request(Dice& dice, Endpoint& peer) {
  Request request;
  request.id = station_.new_id();
  request.opcode = dice.one_of(plan_.opcodes);
  const bool silent_too_long = (silent_ + 1) * 2 >= plan_.wishes.send_depth;
  request.signalled = plan_.wishes.signal_all || silent_too_long || dice.chance(40);
  request.immediate = static_cast<uint32_t>(dice.below(UINT32_MAX));
  request.content = dice.below(UINT64_MAX);
  Station& here = request.reads() ? peer.station_ : station_;
  Station& there = request.reads() ? station_ : peer.station_;
  if (!dice.chance(30) || !choose_known_data(dice, request)) {
    request.source = here.claim(dice.size(plan_.most_bytes));
    fill(request.source, request.content);
  }
  if (!request.sends()) {
    request.target = there.claim(request.source.bytes);
  }
  return request;
}

// A key that is wrong at one of the two ends.
void Endpoint::sin(Dice& dice, Request& request) {
  const bool at_peer = !request.sends() && request.source.bytes > 0 && dice.chance(60);
  if (at_peer) {
    request.sin = IBV_WC_REM_ACCESS_ERR;
    incoming_->sender_told_to_stop();  // it is the peer's queue pair that objects, and stops
  } else if (request.source.bytes > 0) {
    request.sin = IBV_WC_LOC_PROT_ERR;
  }
}

void Endpoint::post(Dice& dice, const Request& request, const Endpoint& peer) {
  const Area& local = request.reads() ? request.target : request.source;
  const Area& remote = request.reads() ? request.source : request.target;
  constexpr uint32_t kWrong = 0x5a5a5a5a;
  const bool wrong_here = request.sin == IBV_WC_LOC_PROT_ERR;
  const bool wrong_there = request.sin == IBV_WC_REM_ACCESS_ERR;
  std::vector<ibv_sge> sges = split(dice, local, wrong_here ? kWrong : station_.key());
  const bool is_inline = !request.reads() && !request.keeps_source && !wrong_here &&
                         local.bytes <= kInlineBytes && dice.chance(50);
  ibv_send_wr work{};
  ibv_send_wr* bad = nullptr;
  work.wr_id = request.id;
  work.sg_list = sges.data();
  work.num_sge = static_cast<int>(sges.size());
  work.opcode = request.opcode;
  const auto flag = [](bool wanted, unsigned bit) { return wanted ? bit : 0U; };
  work.send_flags = flag(request.signalled, IBV_SEND_SIGNALED) |
                    flag(request.keeps_source, IBV_SEND_FENCE) | flag(is_inline, IBV_SEND_INLINE);
  work.imm_data = request.immediate;
  work.wr.rdma.remote_addr = reinterpret_cast<uint64_t>(remote.at);
  work.wr.rdma.rkey = wrong_there ? kWrong : peer.station_.key();
  const size_t unfinished = outgoing_->unfinished();
  const int error = ibv_post_send(pair_, &work, &bad);
  require(error == (unfinished < plan_.wishes.send_depth ? 0 : ENOMEM),
          "posting works until the queue is full: error " + std::to_string(error) + " with " +
              std::to_string(unfinished) + " of " + std::to_string(plan_.wishes.send_depth));
  if (error != 0) {
    return;
  }
  silent_ = request.signalled ? 0 : silent_ + 1;
  outgoing_->post(request);
  if (is_inline) {
    spoil(request.source);
  }
}

void Endpoint::post_random(Dice& dice, Endpoint& peer, bool sins) {
  Request request = random_request(dice, peer);
  if (sins && dice.chance(2)) {
    sin(dice, request);
  }
  post(dice, request, peer);
}

void Endpoint::post_last(Dice& dice, Endpoint& peer) {
  if (outgoing_->unsignalled_tail() == 0 || outgoing_->unfinished() >= plan_.wishes.send_depth) {
    return;
  }
  Request request;
  request.id = station_.new_id();
  request.opcode = IBV_WR_RDMA_WRITE;
  post(dice, request, peer);
}

void Endpoint::post_receive() {
  if (station_.shares_receives()) {
    station_.post_shared_receive();
    return;
  }
  if (receives_.size() >= plan_.wishes.receive_depth) {
    return;
  }
  const Receive receive{station_.new_id() | kReceiveBit, station_.claim(plan_.most_bytes)};
  receives_.push_back(receive);
  require_ok(post_receive_of(receive, station_.key(), pair_, nullptr), "posting a receive");
}

void Endpoint::post_receives_wanted() {
  const size_t left =
      station_.shares_receives() ? station_.shared_receives_left() : receives_.size();
  if (left < 2 || left < incoming_->receives_wanted()) {
    post_receive();
  }
}

void Endpoint::take_sent(const ibv_wc& completion) { outgoing_->complete(completion); }

Receive Endpoint::claim_receive(uint64_t id) {
  const std::string name = "receive " + std::to_string(id);
  if (station_.shares_receives()) {
    const auto found = station_.shared_receives_.find(id);
    require(found != station_.shared_receives_.end(), name + " completes once");
    const Receive receive = found->second;
    station_.shared_receives_.erase(found);
    return receive;
  }
  require(!receives_.empty() && receives_.front().id == id,
          name + " completes in its turn, and once");
  const Receive receive = receives_.front();
  receives_.pop_front();
  return receive;
}

void Endpoint::take_received(const ibv_wc& completion) {
  const Receive receive = claim_receive(completion.wr_id);
  if (completion.status == IBV_WC_SUCCESS) {
    require(!receives_flushed_, "nothing is received after a flush");
    incoming_->receive(completion, receive);
    return;
  }
  require(completion.status == IBV_WC_WR_FLUSH_ERR,
          std::string("a receive that fails is flushed: ") + ibv_wc_status_str(completion.status));
  receives_flushed_ = true;
  station_.retire(receive.area);
}

void Endpoint::note_failure() {
  failed_ = true;
  outgoing_->fence_sender();
  incoming_->fence_receiver();
}

void Endpoint::stop() {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  outgoing_->sender_told_to_stop();
  require_ok(modify(attributes, 0), "ERR");
}

void Endpoint::look() {
  ibv_qp_attr attributes{};
  ibv_qp_init_attr init{};
  require_ok(ibv_query_qp(pair_, &attributes, IBV_QP_STATE, &init), "ibv_query_qp");
  if (attributes.qp_state == IBV_QPS_ERR && !failed_) {
    note_failure();
  }
  require(!failed_ || receives_.empty(), "a queue pair in error has no receives left");
  require(!receives_flushed_ || failed_, "receives are flushed because of an error");
}

void Endpoint::reset(bool anew) {
  if (anew) {
    destroy();
    create();
  } else {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_RESET;
    require_ok(modify(attributes, 0), "RESET");
  }
  note_failure();
  outgoing_->sender_left();
  incoming_->receiver_left();
  for (const Receive& receive : receives_) {
    station_.retire(receive.area);
  }
  receives_.clear();
  receives_flushed_ = false;
  failed_ = false;
  silent_ = 0;
}

void Endpoint::pause() {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_SQD;
  require_ok(modify(attributes, 0), "SQD");
}

void Endpoint::go_on() {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTS;
  require_ok(modify(attributes, 0), "RTS again");
}

}  // namespace rocelane::softverbs_test
