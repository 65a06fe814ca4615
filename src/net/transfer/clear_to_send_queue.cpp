#include "net/transfer/clear_to_send_queue.h"

#include <algorithm>
#include <utility>

namespace rocelane::net {

Result<ClearToSendQueue> ClearToSendQueue::create(EstablishedConnection& connection) {
  const LaneSet& lanes = *connection.lanes;
  auto ring =
      RegisteredBuffer::create(lanes.ports()[lanes.control().rail],
                               clear_to_send_ring_bytes(connection.agreement.receiver_ports > 1));
  if (!ring) {
    return std::move(ring).error();
  }
  return ClearToSendQueue(connection, std::move(*ring));
}

ClearToSendQueue::ClearToSendQueue(EstablishedConnection& connection, RegisteredBuffer ring)
    : memory_(std::move(ring)),
      ring_{reinterpret_cast<ClearToSend*>(memory_.bytes().data()),
            connection.agreement.receiver_ports > 1 ? 1U : 0U},
      pair_(connection.lanes->control().pair.get()),
      work_id_(connection.lanes->completions().work_id(work_kind::kClearToSend)),
      peer_(connection.peer_ring),
      inline_bytes_(connection.lanes->control().pair.inline_bytes()) {}

void ClearToSendQueue::add(ClearToSend record, uint32_t sequence, const ClearToSendKeys* keys) {
  record.check = clear_to_send_check(record, sequence);
  ring_.record(next_) = record;
  if (keys != nullptr) {
    ClearToSendKeys& followers = ring_.keys(next_);
    followers = *keys;
    followers.check = clear_to_send_check(followers, record.check);
  }
  ++next_;
  ++held_;
}

int ClearToSendQueue::post() {
  const uint32_t first = (next_ - held_) % kClearToSendRecords;
  const uint32_t before_the_end = std::min(held_, kClearToSendRecords - first);
  int error = write(first, before_the_end);
  if (error == 0 && before_the_end < held_) {
    error = write(0, held_ - before_the_end);
  }
  held_ = 0;
  return error;
}

int ClearToSendQueue::write(uint32_t first, uint32_t count) {
  const size_t place_bytes = sizeof(ClearToSend) << ring_.with_keys;
  const size_t last_bytes = ring_.with_keys != 0 ? place_bytes : kClearToSendBytes;
  const size_t offset = first * place_bytes;
  ibv_sge piece{memory_.address() + offset,
                static_cast<uint32_t>((count - 1) * place_bytes + last_bytes), memory_.local_key()};
  ibv_send_wr work{};
  work.wr_id = work_id_;
  work.sg_list = &piece;
  work.num_sge = 1;
  work.opcode = IBV_WR_RDMA_WRITE;
  if (piece.length <= inline_bytes_) {
    work.send_flags |= IBV_SEND_INLINE;
  }
  if (++unsignalled_ == kSignalEvery) {
    unsignalled_ = 0;
    work.send_flags |= IBV_SEND_SIGNALED;
  }
  work.wr.rdma.remote_addr = peer_.address + offset;
  work.wr.rdma.rkey = peer_.key;
  ++writes_;
  ibv_send_wr* refused = nullptr;
  return ibv_post_send(pair_, &work, &refused);
}

void ClearToSendQueue::complete_one() { writes_ -= std::min(writes_, kSignalEvery); }

}  // namespace rocelane::net
