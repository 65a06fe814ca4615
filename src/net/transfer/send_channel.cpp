#include "net/transfer/send_channel.h"

#include <algorithm>
#include <mutex>

#include <endian.h>
#include <fmt/format.h>

namespace rocelane::net {
namespace {

constexpr uint32_t kLaneShift = 16;  // in ids: place of the request, then the lane
constexpr uint32_t kSlotMask = (1U << kLaneShift) - 1;

}  // namespace

SendChannel::SendChannel(std::unique_ptr<EstablishedConnection> connection,
                         ChannelRecorders recorders)
    : connection_(std::move(connection)),
      ring_{reinterpret_cast<ClearToSend*>(connection_->own_ring->bytes().data()),
            connection_->agreement.receiver_ports > 1 ? 1U : 0U},
      lane_count_(static_cast<uint32_t>(connection_->lanes->large_lane_count())),
      small_bytes_(
          connection_->lanes->has_small_message_lane() ? connection_->small_message_bytes + 1 : 0),
      limits_{connection_->smallest_stripe_bytes, connection_->agreement.max_message_bytes},
      has_several_ports_(connection_->lanes->ports().size() > 1 ||
                         connection_->agreement.receiver_ports > 1),
      recorder_(std::move(recorders.connection)) {
  verbs::CompletionPlace& place = connection_->lanes->completions();
  for (uint32_t i = 0; i < kRequests; ++i) {
    requests_[i].sender = this;
    requests_[i].watch = &watch_;
    requests_[i].slot = i;
    free_[i] = static_cast<uint16_t>(kRequests - 1 - i);
  }
  for (uint32_t lane = 0; lane < connection_->lanes->data().size(); ++lane) {
    const Lane& opened = connection_->lanes->data()[lane];
    rails_[lane] = {opened.rail, opened.peer.rail};
    lanes_[lane].open(opened.pair.get(), place.work_id(work_kind::kData | lane << kLaneShift),
                      std::move(recorders.lanes[lane]));
  }
  await_next_group();
  place.set_sink(this);
}

SendChannel::~SendChannel() {
  connection_->lanes->completions().set_sink(nullptr);
  connection_->lanes->stop();
}

bool SendChannel::read_group() {
  if (group_.count != 0) {
    return true;
  }
  group_.count = take_group(ring_, cursor_, sequence_, group_);
  if (group_.count == 0) {
    return false;
  }
  group_.claimed = 0;
  awaited_ = &group_.count;
  return true;
}

void SendChannel::await_next_group() {
  group_.count = 0;
  awaited_ = &ring_.record(cursor_).check;
}

const ClearToSend* SendChannel::claim(uint32_t tag) {
  for (uint32_t i = 0; i < group_.count; ++i) {
    if (group_.records[i].tag == tag && (group_.claimed >> i & 1U) == 0) {
      return &group_.records[i];
    }
  }
  return nullptr;
}

void SendChannel::note_claimed(uint32_t index) {
  group_.claimed |= 1U << index;
  if (group_.claimed == (1U << group_.count) - 1) {
    cursor_ += group_.count;
    await_next_group();
    ++sequence_;
  }
}

bool SendChannel::lanes_have_room(uint32_t stripes) const {
  const uint32_t most_on_one_lane = (stripes + lane_count_ - 1) / lane_count_;
  return std::all_of(lanes_.begin(), lanes_.begin() + lane_count_,
                     [&](const SendLane& lane) { return lane.has_room(most_on_one_lane); });
}

Error SendChannel::too_large(size_t bytes) const {
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("{} to {}: a message of {} bytes needs more than {} work requests, "
                           "because one of the ports "
                           "carries only {} bytes in each; use ports of one kind",
                           connection_->own_name, connection_->peer_name, bytes, kMaxStripes,
                           limits_.max_work_request_bytes)};
}

Result<Request*> SendChannel::send(const void* data, size_t bytes, uint32_t tag,
                                   const Registration* registration) {
  const std::lock_guard held(watch_.hub());
  if (failure_.has_failed()) {
    return failure_.tell();
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
  const bool small = is_small(sent_bytes);
  const StripePlan plan = plan_stripes(sent_bytes, small ? 1 : lane_count_, limits_);
  if (plan.stripes > kMaxStripes) {
    return failure_.tell(too_large(sent_bytes));
  }
  const uint32_t lane = small ? lane_count_ : least_loaded(loads(), next_lane_);
  const bool has_room = small || plan.stripes == 1 ? lanes_[lane].has_room(plan.stripes)
                                                   : lanes_have_room(plan.stripes);
  if (free_count_ == 0 || !has_room) {
    return nullptr;
  }
  Request& request = requests_[free_[--free_count_]];
  request.kind = RequestKind::kSend;
  request.bytes = sent_bytes;
  Departure message;
  message.stripe.id = static_cast<uint16_t>(request.slot);
  message.stripe.local_key = registration == nullptr ? 0 : registration->local_key();
  message.stripe.remote_key = record->key;
  message.stripe.with_immediate = (record->flags & kNoCompletion) == 0;
  message.immediate = {sequence_ % kReceiveSlots, index_of(*record), 0, plan.stripes,
                       record->epoch % kEpochs};
  message.registration = registration;
  message.record = index_of(*record);
  message.from = reinterpret_cast<uintptr_t>(data);
  message.to = record->address;
  message.bytes = sent_bytes;
  if (const int error = post(message, plan, lane, request)) {
    failure_.note_post(error, *connection_);
    return failure_.tell();
  }
  note_claimed(index_of(*record));
  return &request;
}

int SendChannel::post(Departure& message, const StripePlan& plan, uint32_t lane, Request& request) {
  request.pending.store(plan.stripes, std::memory_order_relaxed);
  if (plan.stripes == 1) {
    return post_whole(message, lane);
  }
  const bool small = lane == lane_count_;
  // Beyond that a lane takes more than one stripe, and equal ones need the fewest.
  return small || message.bytes > limits_.max_work_request_bytes
             ? post_evenly(message, plan, small)
             : post_shares(message, plan.stripes, request);
}

int SendChannel::post_whole(Departure& message, uint32_t lane) {
  if (lane != lane_count_) {
    next_lane_ = lane + 1 == lane_count_ ? 0 : lane + 1;
  }
  const int error = add(message, lane, 0, 0, message.bytes);
  return error != 0 ? error : lanes_[lane].post_if_idle();
}

int SendChannel::post_shares(Departure& message, uint32_t stripes, Request& request) {
  const LaneShares shares =
      share_out(message.bytes, stripes, loads(), next_lane_, limits_.smallest_bytes);
  request.pending.store(shares.count, std::memory_order_relaxed);
  message.immediate.stripes = shares.count;
  size_t offset = 0;
  for (uint32_t i = 0; i < shares.count; ++i) {
    const LaneShare share = shares.parts[i];
    if (const int error = add(message, share.lane, i, offset, share.bytes)) {
      return error;
    }
    if (const int error = lanes_[share.lane].post_if_idle()) {
      return error;
    }
    offset += share.bytes;
  }
  pass_turn(shares.count);
  return 0;
}

int SendChannel::post_evenly(Departure& message, const StripePlan& plan, bool small) {
  const uint32_t step = small ? 1 : lane_count_;
  const uint32_t lanes_used = std::min(step, plan.stripes);
  for (uint32_t used = 0; used < lanes_used; ++used) {
    const uint32_t lane = small ? lane_count_ : (next_lane_ + used) % lane_count_;
    for (uint32_t number = used; number < plan.stripes; number += step) {
      const size_t offset = number * plan.stripe_bytes;
      const size_t bytes = std::min(plan.stripe_bytes, message.bytes - offset);
      if (const int error = add(message, lane, number, offset, bytes)) {
        return error;
      }
    }
    if (const int error = lanes_[lane].post_if_idle()) {
      return error;
    }
  }
  pass_turn(small ? 0 : lanes_used);
  return 0;
}

void SendChannel::use_keys_of(Departure& message, uint32_t lane) const {
  const Rails rails = rails_[lane];
  if (message.registration != nullptr) {
    message.stripe.local_key = message.registration->local_key(rails.own);
  }
  message.stripe.remote_key = rails.peer == 0 ? group_.records[message.record].key
                                              : group_.keys[message.record].keys[rails.peer - 1U];
}

int SendChannel::add(Departure& message, uint32_t lane, uint32_t number, size_t offset,
                     size_t bytes) {
  if (has_several_ports_) {
    use_keys_of(message, lane);
  }
  SendLane::Stripe& stripe = message.stripe;
  stripe.from = message.from + offset;
  stripe.to = message.to + offset;
  stripe.bytes = static_cast<uint32_t>(bytes);
  message.immediate.stripe = number;
  stripe.immediate = htobe32(pack(message.immediate));
  loads_[lane] += bytes + kStripeLoad;
  return lanes_[lane].add(stripe);
}

void SendChannel::take(uint32_t id, const ibv_wc& completion, uint64_t now) {
  if (completion.status != IBV_WC_SUCCESS) {
    recorder_.failed();
    recorder_.set_state(telemetry::ConnectionState::kFailed);
    failure_.note(completion, *connection_);
    return;
  }
  if ((id & work_kind::kReceive) != 0) {
    failure_.note(
        Error{ErrorCode::kRemote,
              fmt::format("{}: {} wrote with immediate data to the sending end, which no receiver "
                          "does; the connection is given up",
                          connection_->own_name, connection_->peer_name)});
    return;
  }
  requests_[id & kSlotMask].one_part_less();
  const uint32_t lane = id >> kLaneShift;
  loads_[lane] -= lanes_[lane].oldest_bytes() + kStripeLoad;
  if (const int error = lanes_[lane].complete_one(now)) {
    failure_.note_post(error, *connection_);
  }
}

Outcome SendChannel::test(Request& request, int* size) {
  if (const Outcome outcome = watch_.look(request); outcome != Outcome::kEnded) {
    return outcome;
  }
  if (size != nullptr) {
    *size = static_cast<int>(request.bytes);
  }
  recorder_.completed(request.bytes);
  request.kind = RequestKind::kFree;
  free_[free_count_++] = static_cast<uint16_t>(request.slot);
  return Outcome::kEnded;
}

}  // namespace rocelane::net
