#include "collperf/checked_call.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

namespace rocelane::collperf {
namespace {

// Offsets and lengths inside the content, in bytes.
struct Places {
  size_t send_at = 0;
  size_t send_bytes = 0;
  size_t receive_at = 0;
  size_t receive_bytes = 0;

  size_t shared_bytes() const { return std::max(send_at + send_bytes, receive_at + receive_bytes); }
};

Places places_of(const CallPlan& plan, int rank) {
  const size_t element_bytes = size_of(plan.type);
  Places places;
  places.send_bytes = plan.shape.send_count * element_bytes;
  places.receive_bytes = plan.shape.receive_count * element_bytes;
  if (plan.in_place) {
    const size_t steps = static_cast<size_t>(rank) * element_bytes;
    places.send_at = plan.shape.in_place_send_step * steps;
    places.receive_at = plan.shape.in_place_receive_step * steps;
  }
  return places;
}

// Bytes [from, to) of an image must not have changed.
Mismatches compare_untouched(std::span<const std::byte> before, std::span<const std::byte> after,
                             size_t from, size_t to, std::string_view buffer) {
  Mismatches mismatches;
  if (std::memcmp(before.data() + from, after.data() + from, to - from) == 0) {
    return mismatches;
  }
  for (size_t at = from; at < to; ++at) {
    if (before[at] != after[at]) {
      mismatches.note([&] {
        const auto relative =
            static_cast<int64_t>(at) - static_cast<int64_t>(GuardedBuffer::kGuardBytes);
        return fmt::format("byte {} of the {} buffer was written and must not be", relative,
                           buffer);
      });
    }
  }
  return mismatches;
}

}  // namespace

Result<RankBuffers> RankBuffers::allocate(size_t content_bytes) {
  Result<GuardedBuffer> send = GuardedBuffer::allocate(content_bytes);
  Result<GuardedBuffer> receive = GuardedBuffer::allocate(content_bytes);
  if (!send || !receive) {
    return send ? receive.error() : send.error();
  }
  return RankBuffers{std::move(*send), std::move(*receive)};
}

CallPointers pointers_of(const CallPlan& plan, int rank, const RankBuffers& buffers,
                         size_t shift_bytes) {
  const Places places = places_of(plan, rank);
  const GuardedBuffer& send = plan.in_place ? buffers.receive : buffers.send;
  return {send.content() + shift_bytes + places.send_at,
          buffers.receive.content() + shift_bytes + places.receive_at};
}

CheckedCall::CheckedCall(const CallPlan& plan, uint64_t seed, int rank, const RankBuffers& buffers)
    : plan_(plan),
      dataset_{plan.type, plan.op, plan.ranks, seed},
      rank_(rank),
      buffers_(&buffers),
      pieces_(
          expected_pieces(plan.collective, plan.shape.call_count, plan.ranks, rank, plan.root)) {}

Result<CheckedCall> CheckedCall::prepare(const CallPlan& plan, uint64_t seed, int rank,
                                         const RankBuffers& buffers) {
  const Places places = places_of(plan, rank);
  CheckedCall call(plan, seed, rank, buffers);
  const size_t receive_content = plan.in_place ? places.shared_bytes() : places.receive_bytes;
  if (receive_content > buffers.receive.content_bytes() ||
      places.send_bytes > buffers.send.content_bytes()) {
    return Error{
        ErrorCode::kInternal,
        fmt::format("A call of {} bytes was planned for buffers of {} bytes.",
                    std::max(receive_content, places.send_bytes), buffers.receive.content_bytes())};
  }
  call.receive_image_ = patterned_image(receive_content, seed);
  std::vector<std::byte>* sending = &call.receive_image_;
  if (!plan.in_place) {
    call.send_image_ = patterned_image(places.send_bytes, ~seed);
    sending = &call.send_image_;
  }
  fill_input(call.dataset_, rank, 0,
             content_of(*sending).subspan(places.send_at, places.send_bytes));
  Status uploaded = buffers.receive.upload(call.receive_image_);
  if (uploaded && !plan.in_place) {
    uploaded = buffers.send.upload(call.send_image_);
  }
  if (!uploaded) {
    return uploaded.error();
  }
  return call;
}

Result<Mismatches> CheckedCall::verify() const {
  std::vector<std::byte> after(receive_image_.size());
  const Status received = buffers_->receive.download(after);
  if (!received) {
    return received.error();
  }
  Mismatches mismatches = compare_content(after);
  if (!plan_.in_place) {
    after.resize(send_image_.size());
    const Status sent = buffers_->send.download(after);
    if (!sent) {
      return sent.error();
    }
    mismatches.add(compare_untouched(send_image_, after, 0, after.size(), "send"));
  }
  return mismatches;
}

Mismatches CheckedCall::compare_content(std::span<const std::byte> after) const {
  const size_t element_bytes = size_of(plan_.type);
  const size_t receive_at = GuardedBuffer::kGuardBytes + places_of(plan_, rank_).receive_at;
  Mismatches mismatches;
  size_t untouched_from = 0;
  for (const Piece& piece : pieces_) {  // in the order of their places
    const size_t at = receive_at + piece.receive_offset * element_bytes;
    const auto got = after.subspan(at, piece.count * element_bytes);
    mismatches.add(piece.source_rank
                       ? compare_with_input(dataset_, *piece.source_rank, piece.source_offset, got)
                       : compare_with_reduction(dataset_, piece.source_offset, got));
    mismatches.add(compare_untouched(receive_image_, after, untouched_from, at, "receive"));
    untouched_from = at + got.size();
  }
  mismatches.add(compare_untouched(receive_image_, after, untouched_from, after.size(), "receive"));
  return mismatches;
}

size_t CheckedCall::delivered_count() const {
  size_t count = 0;
  for (const Piece& piece : pieces_) {
    count += piece.count;
  }
  return count;
}

}  // namespace rocelane::collperf
