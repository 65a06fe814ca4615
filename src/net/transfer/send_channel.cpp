#include "net/transfer/send_channel.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include <endian.h>
#include <fmt/format.h>

namespace rocelane::net {
namespace {

constexpr int kPollBatch = 16;
constexpr uint64_t kLaneShift = 16;  // wr_id: place of the request, then the lane

// The NIC may be writing the record while we read it, so every word is read once, in order, and the
// digest decides.
ClearToSend read_record(ClearToSend& source) {
  std::array<uint64_t, sizeof(ClearToSend) / sizeof(uint64_t)> words{};
  auto* from = reinterpret_cast<uint64_t*>(&source);
  for (size_t i = 0; i < words.size(); ++i) {
    words.at(i) = std::atomic_ref(from[i]).load(std::memory_order_acquire);
  }
  ClearToSend record;
  std::memcpy(&record, words.data(), sizeof(record));
  return record;
}

bool is_record_of(const ClearToSend& record, uint32_t sequence, uint32_t index) {
  return record.sequence == sequence && record.index == index && record.count >= 1 &&
         record.count <= kGroupedReceives && record.check == clear_to_send_check(record);
}

}  // namespace

SendChannel::SendChannel(std::unique_ptr<EstablishedConnection> connection)
    : connection_(std::move(connection)),
      ring_(reinterpret_cast<ClearToSend*>(connection_->own_ring->bytes().data())) {
  for (uint32_t i = 0; i < kRequests; ++i) {
    requests_.at(i).sender = this;
    requests_.at(i).slot = i;
    free_.at(i) = static_cast<uint16_t>(kRequests - 1 - i);
  }
  for (uint32_t i = 0; i < kMaxStripes; ++i) {
    work_.at(i).sg_list = &pieces_.at(i);
    work_.at(i).opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
    work_.at(i).send_flags = IBV_SEND_SIGNALED;
  }
}

SendChannel::~SendChannel() { connection_->lanes->stop(); }

bool SendChannel::read_group() {
  if (group_.complete) {
    return true;
  }
  for (uint32_t i = 0, count = 1; i < count; ++i) {
    const ClearToSend record = read_record(ring_[ring_index(sequence_, i)]);
    if (!is_record_of(record, sequence_, i) || (i > 0 && record.count != count)) {
      return false;
    }
    count = record.count;
    group_.records.at(i) = record;
  }
  group_.complete = true;
  group_.claimed = 0;
  return true;
}

const ClearToSend* SendChannel::claim(uint32_t tag) {
  const uint32_t count = group_.records[0].count;
  for (uint32_t i = 0; i < count; ++i) {
    if (group_.records.at(i).tag == tag && (group_.claimed >> i & 1U) == 0) {
      return &group_.records.at(i);
    }
  }
  return nullptr;
}

bool SendChannel::lanes_have_room(uint32_t stripes) const {
  const size_t lanes = connection_->lanes->data().size();
  const auto most_on_one_lane = static_cast<uint32_t>((stripes + lanes - 1) / lanes);
  return std::all_of(outstanding_.begin(), outstanding_.begin() + static_cast<ptrdiff_t>(lanes),
                     [&](uint32_t count) { return count + most_on_one_lane <= kSendDepth; });
}

Error SendChannel::too_large(size_t bytes) const {
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("{} to {}: a message of {} bytes needs more than {} work requests, "
                           "because one of the ports "
                           "carries only {} bytes in each; use ports of one kind",
                           connection_->own_name, connection_->peer_name, bytes, kMaxStripes,
                           connection_->agreement.max_message_bytes)};
}

Request* SendChannel::take_request() {
  return free_count_ == 0 ? nullptr : &requests_.at(free_.at(--free_count_));
}

Result<Request*> SendChannel::send(const void* data, size_t bytes, uint32_t tag,
                                   uint32_t local_key) {
  if (failure_.has_failed()) {
    return failure_.again();
  }
  if (!read_group()) {
    return nullptr;
  }
  const ClearToSend* record = claim(tag);
  if (record == nullptr) {
    return nullptr;
  }
  // The receiver's buffer is the limit; NCCL may offer more than fits.
  const size_t sent_bytes = std::min<size_t>(bytes, record->bytes);
  const StripePlan plan = plan_stripes(sent_bytes, connection_->lanes->data().size(),
                                       connection_->agreement.max_message_bytes);
  if (plan.stripes > kMaxStripes) {
    return failure_.fail(too_large(sent_bytes));
  }
  if (!lanes_have_room(plan.stripes)) {
    return nullptr;
  }
  Request* request = take_request();
  if (request == nullptr) {
    return nullptr;
  }
  request->kind = RequestKind::kSend;
  request->pending = plan.stripes;
  request->bytes = sent_bytes;
  int error_number = 0;
  post(*record, plan, static_cast<const std::byte*>(data), sent_bytes, local_key, *request,
       &error_number);
  if (error_number != 0) {
    return failure_.fail_post(error_number, *connection_);
  }
  group_.claimed |= 1U << record->index;
  if (group_.claimed == (1U << record->count) - 1) {
    group_.complete = false;
    ++sequence_;
  }
  return request;
}

void SendChannel::post(const ClearToSend& record, const StripePlan& plan, const std::byte* data,
                       size_t bytes, uint32_t local_key, Request& request, int* error_number) {
  auto& lanes = connection_->lanes->data();
  StripeImmediate immediate{sequence_ % kReceiveSlots, record.index, 0, plan.stripes,
                            record.epoch % kEpochs};
  const size_t lanes_used = std::min<size_t>(lanes.size(), plan.stripes);
  for (size_t used = 0; used < lanes_used; ++used) {
    const size_t lane = (next_lane_ + used) % lanes.size();
    ibv_send_wr* previous = nullptr;
    ibv_send_wr* first = nullptr;
    for (size_t stripe = used; stripe < plan.stripes; stripe += lanes.size()) {
      const size_t offset = stripe * plan.stripe_bytes;
      const size_t length = std::min(plan.stripe_bytes, bytes - offset);
      ibv_send_wr& work = work_.at(stripe);
      immediate.stripe = static_cast<uint32_t>(stripe);
      pieces_.at(stripe) = {reinterpret_cast<uintptr_t>(data + offset),
                            static_cast<uint32_t>(length), local_key};
      work.wr_id = request.slot | static_cast<uint64_t>(lane) << kLaneShift;
      work.num_sge = length > 0 ? 1 : 0;
      work.imm_data = htobe32(pack(immediate));
      work.wr.rdma.remote_addr = record.address + offset;
      work.wr.rdma.rkey = record.key;
      work.next = nullptr;
      (previous != nullptr ? previous->next : first) = &work;
      previous = &work;
      ++outstanding_.at(lane);
    }
    ibv_send_wr* refused = nullptr;
    if (const int error = ibv_post_send(lanes[lane].pair.get(), first, &refused); error != 0) {
      *error_number = error;
      return;
    }
  }
  next_lane_ = (next_lane_ + lanes_used) % lanes.size();
}

Status SendChannel::poll() {
  std::array<ibv_wc, kPollBatch> completions;
  const int count = ibv_poll_cq(connection_->lanes->completions(), kPollBatch, completions.data());
  if (count < 0) {
    return failure_.fail_post(-count, *connection_);
  }
  for (int i = 0; i < count; ++i) {
    const ibv_wc& completion = completions.at(static_cast<size_t>(i));
    if (completion.status != IBV_WC_SUCCESS) {
      return failure_.fail(completion, *connection_);
    }
    if ((completion.opcode & IBV_WC_RECV) != 0) {
      return failure_.fail(
          Error{ErrorCode::kRemote,
                fmt::format(
                    "{}: {} wrote with immediate data to the sending end, which no receiver does; "
                    "the connection is given up",
                    connection_->own_name, connection_->peer_name)});
    }
    --outstanding_.at(completion.wr_id >> kLaneShift);
    --requests_.at(completion.wr_id & ((1U << kLaneShift) - 1)).pending;
  }
  return {};
}

Result<bool> SendChannel::test(Request& request, int* size) {
  if (failure_.has_failed()) {
    return failure_.again();
  }
  if (request.pending > 0) {
    if (Status status = poll(); !status) {
      return std::move(status).error();
    }
  }
  if (request.pending > 0) {
    return false;
  }
  if (size != nullptr) {
    *size = static_cast<int>(request.bytes);
  }
  request.kind = RequestKind::kFree;
  free_.at(free_count_++) = static_cast<uint16_t>(request.slot);
  return true;
}

}  // namespace rocelane::net
