#pragma once

// What the responding side of a queue pair does with a message, or a part of one.

#include <cstdint>

#include "softverbs/engine/memory.h"
#include "softverbs/segment/run.h"

namespace rocelane::softverbs {

enum class Verdict : uint8_t {
  kTaken,
  kSilence,           // nobody there who would answer
  kReceiverNotReady,  // no receive work request
  kRemoteAccess,      // key, range or permission
  kRemoteInvalid,  // does not fit the receive or the path MTU, or is not allowed to the queue pair
  kRemoteOperation,  // the receive's own memory is wrong
  kOutOfSequence,    // timed runs
};

struct Fragment {
  uint32_t opcode = 0;          // ibv_wr_opcode
  uint64_t remote_address = 0;  // of the fragment
  uint32_t remote_key = 0;
  uint32_t immediate = 0;
  uint32_t offset = 0;  // in the message
  uint32_t bytes = 0;
  uint32_t message_bytes = 0;  // of all fragments: the first one says how much will be written
  bool first = true;
  bool last = true;
};

// Places the data of a SEND or a WRITE, and completes the receive it ends. The caller holds
// to.responder_mutex and has found out that the queue pair takes messages. An error verdict has put
// it into the error state; what waits in its queues is for the caller to flush, once it holds no
// mutex.
Verdict place(Run& run, uint32_t to, const Fragment& fragment, const Pieces& data);

// Checks a READ and finds where its data lie. `held` keeps them there. A repeated one was allowed
// once: if it is not any more, the answer is silence and the queue pair lives on.
Verdict find_read_data(Run& run, uint32_t to, const Fragment& fragment, bool repeated,
                       HeldRegions& held, Pieces* data);

// A process was killed while it placed data: finds out what the responder has.
void settle_responder(Run& run, uint32_t slot);

// Whether a queue pair is there that takes packets of `from`: alive, in a state that receives, and
// connected back.
bool listens_to(const QueuePair& to, uint32_t to_number, const QueuePair& from);

// The slot of a queue pair number; kNone when nobody has it.
uint32_t queue_pair_slot(Run& run, uint32_t number);

}  // namespace rocelane::softverbs
