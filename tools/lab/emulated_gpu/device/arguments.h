#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "device/chunk_plan.h"
#include "device/connection.h"
#include "device/function.h"
#include "device/ring.h"
#include "device/tree.h"

namespace rocelane::lab {

// A kernel's argument block, freed of how one NCCL version lays it out.

struct CommFacts {
  int rank = 0;
  int rank_count = 0;
  std::array<size_t, 3> buffer_bytes = {};  // by Protocol
  size_t p2p_chunk_bytes = 0;
  bool all_nvlink = false;
  const uint32_t* abort_flag = nullptr;

  size_t buffer_of(Protocol protocol) const { return buffer_bytes[static_cast<size_t>(protocol)]; }
};

struct CollectiveWork {
  ChannelShares shares;
  int root = 0;
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  uint64_t argument = 0;  // of the operation, or its address
  bool argument_is_pointer = false;
  bool uses_registered_memory = false;
  bool profiled = false;
};

// One direction of a send and receive pair. No channels: nothing to do in this direction.
struct DirectedWork {
  std::byte* address = nullptr;
  size_t bytes = 0;
  int peer = 0;
  int channels = 0;
  uint32_t chunk_bytes = 0;
  bool ll = false;
  bool net_registered = false;
  bool ipc_registered = false;
};

struct SendReceiveWork {
  DirectedWork send;
  DirectedWork receive;
  int channel_count = 0;
  int channel_base = 0;
  bool profiled = false;
};

// Works of one kind that a channel does together. Collectives follow one another; sends and
// receives run at the same time.
struct Batch {
  Function function;
  std::vector<CollectiveWork> collectives;
  std::vector<SendReceiveWork> sends_and_receives;

  size_t works() const { return collectives.size() + sends_and_receives.size(); }
};

enum class Direction : uint8_t { kSend, kReceive };

// What a channel keeps in memory shared with the host, behind the layout of the NCCL in use.
class ChannelMemory {
 public:
  ChannelMemory() = default;
  ChannelMemory(const ChannelMemory&) = delete;
  ChannelMemory& operator=(const ChannelMemory&) = delete;
  virtual ~ChannelMemory() = default;

  virtual Connection connection(Direction direction, int peer, int index) const = 0;
  virtual uint64_t works_done() const = 0;
  virtual void set_works_done(uint64_t works) = 0;
  // For NCCL's profiler: work number `work` of this channel starts or is complete.
  virtual void note_start(uint64_t work, uint64_t nanoseconds) = 0;
  virtual void note_completion(uint64_t work, uint64_t nanoseconds) = 0;
};

struct ChannelWork {
  int channel = 0;
  RingPlace ring;
  TreePlace tree;
  std::vector<Batch> batches;
  std::shared_ptr<ChannelMemory> memory;
};

struct Launch {
  CommFacts comm;
  std::vector<ChannelWork> channels;
};

Result<Launch> decode_arguments_2_28(const FunctionTable& functions, const void* arguments,
                                     size_t bytes);

}  // namespace rocelane::lab
