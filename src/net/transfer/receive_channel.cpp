#include "net/transfer/receive_channel.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include <endian.h>
#include <fmt/format.h>

namespace rocelane::net {
namespace {

constexpr uint32_t kEpoch = 0;  // the first; a replay will begin the next
// Receives are put back in batches, long before the sender could run out of them.
constexpr uint32_t kRefillBatch = kReceiveDepth / 4;
// With so many groups announced the sender has enough to go on with, and the next ones may wait
// until as many come together. What is announced will arrive or fail, so they do not wait for ever.
constexpr uint32_t kEnoughAnnounced = 4;
constexpr uint32_t kTogether = 4;
// Without completions nothing tells how far the sender is. So one in a while has one, and there is
// never a ring's worth of clear-to-sends between two.
constexpr uint32_t kConfirmEvery = kReceiveSlots / 8;

}  // namespace

Result<std::unique_ptr<ReceiveChannel>> ReceiveChannel::create(
    std::unique_ptr<EstablishedConnection> connection, std::vector<FlushLane> flush_lanes,
    ChannelRecorders recorders) {
  auto announcements = ClearToSendQueue::create(*connection);
  if (!announcements) {
    return std::move(announcements).error();
  }
  return std::unique_ptr<ReceiveChannel>(
      new ReceiveChannel(std::move(connection), std::move(*announcements), std::move(flush_lanes),
                         std::move(recorders)));
}

ReceiveChannel::ReceiveChannel(std::unique_ptr<EstablishedConnection> connection,
                               ClearToSendQueue announcements, std::vector<FlushLane> flush_lanes,
                               ChannelRecorders recorders)
    : connection_(std::move(connection)),
      announcements_(std::move(announcements)),
      flush_lanes_(std::move(flush_lanes)),
      recorders_(std::move(recorders)) {
  for (uint32_t i = 0; i < kReceiveSlots; ++i) {
    requests_[i].receiver = this;
    requests_[i].watch = &watch_;
    requests_[i].slot = i;
  }
  for (uint32_t i = 0; i < kFlushes; ++i) {
    flushes_[i].receiver = this;
    flushes_[i].watch = &watch_;
    flushes_[i].slot = i;
  }
  connection_->lanes->completions().set_sink(this);
}

ReceiveChannel::~ReceiveChannel() {
  connection_->lanes->completions().set_sink(nullptr);
  connection_->lanes->stop();
}

Request* ReceiveChannel::claim_request() {
  Request& request = requests_[sequence_ % kReceiveSlots];
  const bool is_free = request.kind == RequestKind::kFree &&
                       sequence_ - confirmed_ < kReceiveSlots && announcements_.has_room();
  return is_free ? &request : nullptr;
}

bool ReceiveChannel::may_go_silent(bool completion_is_optional) const {
  return completion_is_optional && sequence_ % kConfirmEvery != 0;
}

Result<Request*> ReceiveChannel::receive(std::span<const Landing> landings,
                                         bool completion_is_optional) {
  const std::lock_guard held(watch_.hub());
  if (failure_.has_failed()) {
    return failure_.tell();
  }
  Request* request = claim_request();
  if (request == nullptr) {
    // What is full drains only by polling, and nobody may be testing.
    watch_.poll();
    if (failure_.has_failed()) {
      return failure_.tell();
    }
    return nullptr;
  }
  std::array<uint32_t, kGroupedReceives> capacities{};
  std::transform(landings.begin(), landings.end(), capacities.begin(),
                 [](const Landing& landing) { return landing.bytes; });
  const auto count = static_cast<uint32_t>(landings.size());
  const bool silent = may_go_silent(completion_is_optional);
  request->kind = RequestKind::kReceive;
  request->pending.store(silent ? 0 : 1, std::memory_order_relaxed);
  groups_[request->slot].start(count, capacities, kEpoch);
  sequences_[request->slot] = sequence_;
  open_ += silent ? 0 : 1;
  announce(landings, silent ? kNoCompletion : 0);
  ++sequence_;
  if (silent || held_groups_ == kTogether || open_ - held_groups_ < kEnoughAnnounced) {
    post_announcements();
  }
  if (failure_.has_failed()) {
    return failure_.tell();
  }
  return request;
}

void ReceiveChannel::announce(std::span<const Landing> landings, uint8_t flags) {
  const auto count = static_cast<uint32_t>(landings.size());
  for (uint32_t i = 0; i < count; ++i) {
    ClearToSend record{};
    record.address = landings[i].address;
    const Registration* const registration = landings[i].registration;
    record.key = registration == nullptr ? 0 : registration->remote_key();
    record.bytes = landings[i].bytes;
    record.tag = landings[i].tag;
    record.epoch = kEpoch;
    record.place = pack_place(i, count);
    record.flags = flags;
    if (connection_->agreement.receiver_ports > 1) {
      const ClearToSendKeys keys = other_keys(registration);
      announcements_.add(record, sequence_, &keys);
    } else {
      announcements_.add(record, sequence_, nullptr);
    }
  }
  ++held_groups_;
}

ClearToSendKeys ReceiveChannel::other_keys(const Registration* registration) const {
  ClearToSendKeys keys{};
  for (size_t rail = 1; registration != nullptr && rail < connection_->agreement.receiver_ports;
       ++rail) {
    keys.keys[rail - 1] = registration->remote_key(rail);
  }
  return keys;
}

void ReceiveChannel::post_announcements() {
  held_groups_ = 0;
  if (const int error = announcements_.post()) {
    failure_.note_post(error, *connection_);
  }
}

void ReceiveChannel::take(uint32_t id, const ibv_wc& completion, uint64_t /*now*/) {
  if (completion.status != IBV_WC_SUCCESS) {
    recorders_.connection.failed();
    recorders_.connection.set_state(telemetry::ConnectionState::kFailed);
    failure_.note(completion, *connection_);
  } else if ((id & work_kind::kReceive) != 0) {
    take_stripe(id & kLaneBits, completion);
  } else if ((id & work_kind::kClearToSend) != 0) {
    announcements_.complete_one();
  } else if ((id & work_kind::kFlush) != 0) {
    flushes_[id & kLaneBits].one_part_less();
  }
}

void ReceiveChannel::take_stripe(uint32_t lane, const ibv_wc& completion) {
  const StripeImmediate stripe = unpack_immediate(be32toh(completion.imm_data));
  ReceiveGroup& group = groups_[stripe.slot];
  std::string_view wrong = "a stripe for a receive that is not under way";
  if (lane < kMaxDataLanes && requests_[stripe.slot].pending.load(std::memory_order_relaxed) != 0) {
    wrong = group.add(stripe, completion.byte_len);
  }
  if (!wrong.empty()) {
    failure_.note(Error{
        ErrorCode::kRemote,
        fmt::format("{}: {} sent {} (immediate 0x{:08x}, {} bytes); the two ends disagree and the "
                    "connection is given up",
                    connection_->own_name, connection_->peer_name, wrong,
                    be32toh(completion.imm_data), completion.byte_len)});
    return;
  }
  // Clear-to-sends are used up in their order.
  if (sequences_[stripe.slot] - confirmed_ < kReceiveSlots) {
    confirmed_ = sequences_[stripe.slot];
  }
  recorders_.lanes[lane].completed(completion.byte_len);
  if (group.is_finished()) {
    finish(stripe.slot);
  }
  refill(lane);
}

void ReceiveChannel::finish(uint32_t slot) {
  for (uint32_t i = 0; i < groups_[slot].buffers(); ++i) {
    recorders_.connection.completed(groups_[slot].bytes(i));
  }
  requests_[slot].one_part_less();  // whoever waits for it may use the slot again
  --open_;
  if (held_groups_ > 0 && open_ - held_groups_ < kEnoughAnnounced) {
    post_announcements();
  }
}

void ReceiveChannel::refill(uint32_t lane) {
  if (++used_receives_[lane] < kRefillBatch) {
    return;
  }
  used_receives_[lane] = 0;
  const uint64_t id = connection_->lanes->completions().work_id(work_kind::kReceive | lane);
  if (Status status = post_empty_receives(connection_->lanes->data()[lane], id, kRefillBatch);
      !status) {
    failure_.note(std::move(status).error());
  }
}

Result<Request*> ReceiveChannel::flush(uint64_t address, const Registration& registration) {
  const std::lock_guard held(watch_.hub());
  if (failure_.has_failed()) {
    return failure_.tell();
  }
  const auto free = std::find_if(flushes_.begin(), flushes_.end(), [](const Request& request) {
    return request.kind == RequestKind::kFree;
  });
  if (free == flushes_.end()) {
    return failure_.tell(
        Error{ErrorCode::kInvalidUsage, "more flushes at once than NCCL promises"});
  }
  for (FlushLane& lane : flush_lanes_) {
    const uint32_t key = registration.remote_key(lane.rail());
    if (const int error = lane.post(address, key, work_id_of_flush(free->slot))) {
      failure_.note_post(error, *connection_);
      return failure_.tell();
    }
  }
  free->kind = RequestKind::kFlush;
  free->pending.store(static_cast<uint32_t>(flush_lanes_.size()), std::memory_order_relaxed);
  return &*free;
}

uint64_t ReceiveChannel::work_id_of_flush(uint32_t slot) const {
  return connection_->lanes->completions().work_id(work_kind::kFlush | slot);
}

Outcome ReceiveChannel::test(Request& request, int* sizes) {
  if (const Outcome outcome = watch_.look(request); outcome != Outcome::kEnded) {
    return outcome;
  }
  if (request.kind == RequestKind::kReceive && sizes != nullptr) {
    const ReceiveGroup& group = groups_[request.slot];
    for (uint32_t i = 0; i < group.buffers(); ++i) {
      sizes[i] = static_cast<int>(group.bytes(i));
    }
  }
  request.kind = RequestKind::kFree;
  return Outcome::kEnded;
}

}  // namespace rocelane::net
