#pragma once

// Writes clear-to-send records into the sender's ring. Several share a write while the sender still
// has enough of them to go on with.

#include <cstdint>

#include <infiniband/verbs.h>

#include "base/result.h"
#include "net/connection/clear_to_send.h"
#include "net/connection/established_connection.h"
#include "net/memory/registered_buffer.h"
#include "net/transfer/clear_to_send_ring.h"

namespace rocelane::net {

class ClearToSendQueue {
 public:
  static Result<ClearToSendQueue> create(EstablishedConnection& connection);

  // Whether the control lane takes another write.
  bool has_room() const { return writes_ + 2 <= kControlDepth; }

  // Appends a record of the group `sequence`; the check is filled in here, as is that of the keys
  // which follow it where the receiver has several ports.
  void add(ClearToSend record, uint32_t sequence, const ClearToSendKeys* keys);
  uint32_t held() const { return held_; }
  // Writes what is held. Needs room. 0, or what the NIC refused it with.
  int post();
  // A signalled write has completed.
  void complete_one();

 private:
  // Of so many writes one is signalled: enough to know that the queue drains, few enough to be
  // cheap.
  static constexpr uint32_t kSignalEvery = kControlDepth / 4;

  ClearToSendQueue(EstablishedConnection& connection, RegisteredBuffer ring);
  int write(uint32_t first, uint32_t count);

  RegisteredBuffer memory_;  // of a copy of the sender's ring
  ClearToSendRing ring_;
  ibv_qp* pair_;
  uint64_t work_id_;
  RemoteRing peer_;
  uint32_t inline_bytes_;
  uint32_t next_ = 0;  // record, not wrapped
  uint32_t held_ = 0;
  uint32_t writes_ = 0;  // not known to be finished
  uint32_t unsignalled_ = 0;
};

}  // namespace rocelane::net
