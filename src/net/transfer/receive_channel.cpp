#include "net/transfer/receive_channel.h"

#include <algorithm>
#include <cstring>

#include <endian.h>
#include <fmt/format.h>

namespace rocelane::net {
namespace {

constexpr int kPollBatch = 16;
constexpr uint32_t kEpoch = 0;  // the first; a replay will begin the next
// Every so many clear-to-sends one is signalled: enough to know that the queue drains, few enough
// to be cheap.
constexpr uint32_t kSignalEvery = kControlDepth / 4;
// Receives are put back in batches, long before the sender could run out of them.
constexpr uint32_t kRefillBatch = kReceiveDepth / 4;

}  // namespace

Result<std::unique_ptr<ReceiveChannel>> ReceiveChannel::create(
    std::unique_ptr<EstablishedConnection> connection, std::optional<FlushLane> flush_lane) {
  auto staging = RegisteredBuffer::create(connection->lanes->shared_port(), kClearToSendRingBytes);
  if (!staging) {
    return std::move(staging).error();
  }
  return std::unique_ptr<ReceiveChannel>(
      new ReceiveChannel(std::move(connection), std::move(*staging), std::move(flush_lane)));
}

ReceiveChannel::ReceiveChannel(std::unique_ptr<EstablishedConnection> connection,
                               RegisteredBuffer staging, std::optional<FlushLane> flush_lane)
    : connection_(std::move(connection)),
      staging_(std::move(staging)),
      flush_lane_(std::move(flush_lane)) {
  for (uint32_t i = 0; i < kReceiveSlots; ++i) {
    requests_.at(i).receiver = this;
    requests_.at(i).slot = i;
  }
  for (uint32_t i = 0; i < kFlushes; ++i) {
    flushes_.at(i).receiver = this;
    flushes_.at(i).slot = i;
  }
}

ReceiveChannel::~ReceiveChannel() { connection_->lanes->stop(); }

Result<Request*> ReceiveChannel::receive(std::span<const Landing> landings) {
  if (failure_.has_failed()) {
    return failure_.again();
  }
  Request& request = requests_.at(sequence_ % kReceiveSlots);
  if (request.kind != RequestKind::kFree || announced_ == kControlDepth) {
    // A full control queue drains only by polling, and nobody tests while there is no request.
    if (Status status = poll(); !status) {
      return std::move(status).error();
    }
    return nullptr;
  }
  std::array<uint32_t, kGroupedReceives> capacities{};
  std::transform(landings.begin(), landings.end(), capacities.begin(),
                 [](const Landing& landing) { return landing.bytes; });
  groups_.at(request.slot).start(static_cast<uint32_t>(landings.size()), capacities, kEpoch);
  if (const int error = announce(landings); error != 0) {
    return failure_.fail_post(error, *connection_);
  }
  request.kind = RequestKind::kReceive;
  ++sequence_;
  return &request;
}

int ReceiveChannel::announce(std::span<const Landing> landings) {
  const size_t first = ring_index(sequence_, 0);
  auto* records = reinterpret_cast<ClearToSend*>(staging_.bytes().data()) + first;
  for (uint32_t i = 0; i < landings.size(); ++i) {
    ClearToSend record{};
    record.address = landings[i].address;
    record.key = landings[i].key;
    record.bytes = landings[i].bytes;
    record.tag = landings[i].tag;
    record.epoch = kEpoch;
    record.index = static_cast<uint8_t>(i);
    record.count = static_cast<uint8_t>(landings.size());
    record.sequence = sequence_;
    record.check = clear_to_send_check(record);
    records[i] = record;
  }
  const Lane& control = connection_->lanes->control();
  ibv_sge piece{reinterpret_cast<uintptr_t>(records),
                static_cast<uint32_t>(landings.size() * sizeof(ClearToSend)), staging_.local_key()};
  ibv_send_wr work{};
  work.sg_list = &piece;
  work.num_sge = 1;
  work.opcode = IBV_WR_RDMA_WRITE;
  if (piece.length <= control.pair.inline_bytes()) {
    work.send_flags |= IBV_SEND_INLINE;
  }
  if (sequence_ % kSignalEvery == 0) {
    work.send_flags |= IBV_SEND_SIGNALED;
  }
  work.wr.rdma.remote_addr = connection_->peer_ring.address + first * sizeof(ClearToSend);
  work.wr.rdma.rkey = connection_->peer_ring.key;
  ++announced_;
  ibv_send_wr* refused = nullptr;
  return ibv_post_send(control.pair.get(), &work, &refused);
}

Status ReceiveChannel::poll() {
  std::array<ibv_wc, kPollBatch> completions;
  const int count = ibv_poll_cq(connection_->lanes->completions(), kPollBatch, completions.data());
  if (count < 0) {
    return failure_.fail_post(-count, *connection_);
  }
  for (int i = 0; i < count; ++i) {
    if (Status status = take(completions.at(static_cast<size_t>(i))); !status) {
      return status;
    }
  }
  return {};
}

Status ReceiveChannel::take(const ibv_wc& completion) {
  if (completion.status != IBV_WC_SUCCESS) {
    return failure_.fail(completion, *connection_);
  }
  if (completion.opcode == IBV_WC_RDMA_WRITE) {
    // A signalled clear-to-send; the unsignalled ones before it are finished too.
    announced_ -= std::min(announced_, kSignalEvery);
    return {};
  }
  const StripeImmediate stripe = unpack_immediate(be32toh(completion.imm_data));
  std::string_view wrong = "a stripe for a receive that is not under way";
  if (requests_.at(stripe.slot).kind == RequestKind::kReceive) {
    wrong = groups_.at(stripe.slot).add(stripe, completion.byte_len);
  }
  if (!wrong.empty()) {
    return failure_.fail(Error{
        ErrorCode::kRemote,
        fmt::format("{}: {} sent {} (immediate 0x{:08x}, {} bytes); the two ends disagree and the "
                    "connection is given up",
                    connection_->own_name, connection_->peer_name, wrong,
                    be32toh(completion.imm_data), completion.byte_len)});
  }
  return refill(completion.qp_num);
}

Status ReceiveChannel::refill(uint32_t queue_pair_number) {
  const auto& lanes = connection_->lanes->data();
  const size_t lane = static_cast<size_t>(
      std::find_if(lanes.begin(), lanes.end(),
                   [&](const Lane& each) { return each.pair.number() == queue_pair_number; }) -
      lanes.begin());
  if (lane == lanes.size() || ++used_receives_.at(lane) < kRefillBatch) {
    return {};
  }
  used_receives_.at(lane) = 0;
  if (Status status = post_empty_receives(lanes[lane], kRefillBatch); !status) {
    return failure_.fail(std::move(status).error());
  }
  return {};
}

Result<Request*> ReceiveChannel::flush(uint64_t address, uint32_t key) {
  if (failure_.has_failed()) {
    return failure_.again();
  }
  const auto free = std::find_if(flushes_.begin(), flushes_.end(), [](const Request& request) {
    return request.kind == RequestKind::kFree;
  });
  if (free == flushes_.end()) {
    return failure_.fail(
        Error{ErrorCode::kInvalidUsage, "more flushes at once than NCCL promises"});
  }
  if (const int error = flush_lane_->post(address, key, free->slot); error != 0) {
    return failure_.fail_post(error, *connection_);
  }
  free->kind = RequestKind::kFlush;
  free->pending = 1;
  return &*free;
}

Result<bool> ReceiveChannel::test_flush(Request& request) {
  ibv_wc completion;
  while (request.pending > 0 && flush_lane_->poll(completion)) {
    if (completion.status != IBV_WC_SUCCESS) {
      return failure_.fail(completion, *connection_);
    }
    flushes_.at(completion.wr_id).pending = 0;
  }
  if (request.pending > 0) {
    return false;
  }
  request.kind = RequestKind::kFree;
  return true;
}

Result<bool> ReceiveChannel::test(Request& request, int* sizes) {
  if (failure_.has_failed()) {
    return failure_.again();
  }
  if (request.kind == RequestKind::kFlush) {
    return test_flush(request);
  }
  ReceiveGroup& group = groups_.at(request.slot);
  if (!group.is_finished()) {
    if (Status status = poll(); !status) {
      return std::move(status).error();
    }
  }
  if (!group.is_finished()) {
    return false;
  }
  for (uint32_t i = 0; sizes != nullptr && i < group.buffers(); ++i) {
    sizes[i] = static_cast<int>(group.bytes(i));
  }
  request.kind = RequestKind::kFree;
  return true;
}

}  // namespace rocelane::net
