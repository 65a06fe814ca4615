#include "device/work.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "device/ll128_fifo.h"
#include "device/ll_fifo.h"
#include "device/registered_fifo.h"
#include "device/send_receive.h"
#include "device/simple_fifo.h"

namespace rocelane::lab {
namespace {

// The network's largest message: what NCCL sends at once from a registered buffer.
constexpr size_t kRegisteredChunkBytes = size_t{1} << 30;

constexpr int kCollectiveConnection = 0;
constexpr int kSendReceiveConnection = 1;

// How the legs of a work use their connections.
struct Wire {
  Protocol protocol = Protocol::kSimple;
  SimpleSteps steps;
  size_t simple_step_bytes = 0;
  int connection_index = kCollectiveConnection;
  bool registered = false;
};

std::unique_ptr<Inlet> open_inlet(const CommFacts& comm, const Wire& wire,
                                  const Connection& connection) {
  switch (wire.protocol) {
    case Protocol::kLl:
      return std::make_unique<LlInlet>(connection, comm.buffer_of(Protocol::kLl));
    case Protocol::kLl128:
      return std::make_unique<Ll128Inlet>(connection, comm.buffer_of(Protocol::kLl128));
    case Protocol::kSimple:
      break;
  }
  if (wire.registered && (connection.flags & kDirectNicFlag) != 0) {
    return std::make_unique<RegisteredInlet>(connection);
  }
  return std::make_unique<SimpleInlet>(connection, wire.steps);
}

std::unique_ptr<Outlet> open_outlet(const CommFacts& comm, const Wire& wire,
                                    const Connection& connection) {
  switch (wire.protocol) {
    case Protocol::kLl:
      return std::make_unique<LlOutlet>(connection, comm.buffer_of(Protocol::kLl));
    case Protocol::kLl128:
      return std::make_unique<Ll128Outlet>(connection, comm.buffer_of(Protocol::kLl128));
    case Protocol::kSimple:
      break;
  }
  if (wire.registered && (connection.flags & kDirectNicFlag) != 0) {
    return std::make_unique<RegisteredOutlet>(connection);
  }
  return std::make_unique<SimpleOutlet>(connection, wire.steps);
}

Slicing slicing_of(const Wire& wire, size_t element_bytes) {
  if (wire.protocol != Protocol::kSimple) {
    return {};
  }
  const size_t step_elements = wire.simple_step_bytes / element_bytes;
  return {.slices = wire.steps.slices_per_chunk,
          .smallest = step_elements * wire.steps.steps_per_slice / 32};
}

Transfer open_transfer(const CommFacts& comm, const ChannelWork& channel, const Wire& wire,
                       const UserBuffers& buffers, const Arithmetic& arithmetic, Leg leg) {
  std::vector<std::unique_ptr<Inlet>> inlets;
  for (const int peer : leg.from) {
    inlets.push_back(open_inlet(
        comm, wire, channel.memory->connection(Direction::kReceive, peer, wire.connection_index)));
  }
  std::vector<std::unique_ptr<Outlet>> outlets;
  for (const int peer : leg.to) {
    outlets.push_back(open_outlet(
        comm, wire, channel.memory->connection(Direction::kSend, peer, wire.connection_index)));
  }
  return {std::move(leg.moves), buffers,
          arithmetic,           slicing_of(wire, arithmetic.element_bytes),
          std::move(inlets),    std::move(outlets)};
}

bool only_copies(Collective collective) {
  return collective == Collective::kAllGather || collective == Collective::kBroadcast;
}

SimpleSteps steps_of(const Function& function) {
  const bool pipelined_ring = function.algorithm == Algorithm::kRing &&
                              function.collective != Collective::kBroadcast &&
                              function.collective != Collective::kReduce;
  return pipelined_ring ? SimpleSteps{.slices_per_chunk = 2, .steps_per_slice = 2} : SimpleSteps{};
}

std::optional<Arithmetic> arithmetic_of(const Function& function, const CollectiveWork& work) {
  if (only_copies(function.collective)) {
    return copying();
  }
  const uint64_t argument = work.argument_is_pointer
                                ? load_argument(function.operation, function.element,
                                                reinterpret_cast<const void*>(work.argument))
                                : work.argument;
  return arithmetic_for(function.operation, function.element, argument);
}

std::vector<Leg> legs_of(const ChannelWork& channel, const Function& function,
                         const CollectiveWork& work, const Part& part, size_t element_bytes) {
  const RingPlace& ring = channel.ring;
  switch (function.collective) {
    case Collective::kAllReduce:
      if (function.algorithm == Algorithm::kTree) {
        return tree_all_reduce(channel.tree, part);
      }
      return {ring_all_reduce(ring, part, element_bytes)};
    case Collective::kAllGather: {
      const size_t share = static_cast<size_t>(ring.ranks[0]) * part.total * element_bytes;
      return {ring_all_gather(ring, part, work.input == work.output + share)};
    }
    case Collective::kReduceScatter:
      return {ring_reduce_scatter(ring, part)};
    case Collective::kBroadcast:
      return {ring_broadcast(ring, part, work.root, work.input == work.output)};
    case Collective::kReduce:
      return {ring_reduce(ring, part, work.root)};
    case Collective::kSendReceive:
      break;
  }
  return {};
}

// What of one direction falls to this channel; nullopt: nothing, not even an empty message.
std::optional<ByteRange> share_of(const DirectedWork& work, int part) {
  if (part >= work.channels) {
    return std::nullopt;
  }
  return bytes_of_part(work.channels, part, work.bytes);
}

Wire wire_of(const CommFacts& comm, const DirectedWork& work) {
  return {.protocol = work.ll ? Protocol::kLl : Protocol::kSimple,
          .steps = {},
          .simple_step_bytes = work.net_registered ? kRegisteredChunkBytes : comm.p2p_chunk_bytes,
          .connection_index = kSendReceiveConnection,
          .registered = work.net_registered};
}

size_t chunk_of(const DirectedWork& work) {
  return work.net_registered ? kRegisteredChunkBytes : size_t{work.chunk_bytes};
}

std::string not_emulated_in(const Function& function, const CollectiveWork& work) {
  if (work.uses_registered_memory) {
    return "a collective on registered user buffers is not emulated; "
           "set NCCL_LOCAL_REGISTER=0 and NCCL_GRAPH_REGISTER=0";
  }
  const bool has_idle_chunk = (work.shares.count_low != 0 && work.shares.grains_low == 0) ||
                              (work.shares.count_middle != 0 && work.shares.grains_middle == 0) ||
                              (work.shares.count_high != 0 && work.shares.grains_high == 0);
  if (has_idle_chunk) {
    return "NCCL asked for a collective in chunks of zero bytes; the emulated layouts do not fit "
           "this NCCL";
  }
  if (only_copies(function.collective)) {
    return {};
  }
  if (!element_bytes(function.element)) {
    return "reducing 8-bit floats is not emulated; use a wider type";
  }
  // An argument behind a pointer is read when the work starts; one that stands in for it will do.
  const uint64_t argument = work.argument_is_pointer ? 2 : work.argument;
  if (!arithmetic_for(function.operation, function.element, argument)) {
    return fmt::format("operation {} on element type {} is not emulated",
                       static_cast<int>(function.operation), static_cast<int>(function.element));
  }
  return {};
}

std::string not_emulated_in(const SendReceiveWork& work) {
  if (work.send.ipc_registered || work.receive.ipc_registered) {
    return "send and receive on buffers registered between the GPUs of a host are not emulated; "
           "set NCCL_LOCAL_REGISTER=0 and NCCL_GRAPH_REGISTER=0";
  }
  return {};
}

}  // namespace

std::string not_emulated_in(const Batch& batch) {
  switch (batch.function.algorithm) {
    case Algorithm::kRing:
    case Algorithm::kTree:
      break;
    case Algorithm::kCollNetDirect:
    case Algorithm::kCollNetChain:
      return fmt::format("algorithm {} is not emulated; set NCCL_COLLNET_ENABLE=0",
                         name_of(batch.function.algorithm));
    case Algorithm::kNvls:
    case Algorithm::kNvlsTree:
      return fmt::format("algorithm {} is not emulated; set NCCL_NVLS_ENABLE=0",
                         name_of(batch.function.algorithm));
    case Algorithm::kPat:
      return "algorithm PAT is not emulated; set NCCL_PAT_ENABLE=0";
  }
  for (const CollectiveWork& work : batch.collectives) {
    if (std::string sentence = not_emulated_in(batch.function, work); !sentence.empty()) {
      return sentence;
    }
  }
  for (const SendReceiveWork& work : batch.sends_and_receives) {
    if (std::string sentence = not_emulated_in(work); !sentence.empty()) {
      return sentence;
    }
  }
  return {};
}

std::vector<Transfer> start_collective(const CommFacts& comm, const ChannelWork& channel,
                                       const Function& function, const CollectiveWork& work) {
  std::vector<Transfer> transfers;
  const std::optional<Arithmetic> arithmetic = arithmetic_of(function, work);
  if (!arithmetic) {
    return transfers;
  }
  const Part part =
      part_of_channel(work.shares, channel.channel, function.protocol, arithmetic->element_bytes);
  const Wire wire{.protocol = function.protocol,
                  .steps = steps_of(function),
                  .simple_step_bytes = comm.buffer_of(Protocol::kSimple) / kFifoSteps};
  const UserBuffers buffers{.input = work.input, .output = work.output};
  for (Leg& leg : legs_of(channel, function, work, part, arithmetic->element_bytes)) {
    transfers.push_back(open_transfer(comm, channel, wire, buffers, *arithmetic, std::move(leg)));
  }
  return transfers;
}

std::vector<Transfer> start_sends_and_receives(const CommFacts& comm, const ChannelWork& channel,
                                               const std::vector<SendReceiveWork>& works) {
  std::vector<Transfer> transfers;
  for (const SendReceiveWork& work : works) {
    const int part = part_of_send_receive(work.channel_count, work.channel_base, channel.channel);
    const std::optional<ByteRange> sent = share_of(work.send, part);
    const std::optional<ByteRange> received = share_of(work.receive, part);
    if (work.send.peer == comm.rank) {
      if (sent && received && sent->end != sent->begin) {
        std::memmove(work.receive.address + received->begin, work.send.address + sent->begin,
                     sent->end - sent->begin);
      }
      continue;
    }
    if (sent) {
      transfers.push_back(open_transfer(
          comm, channel, wire_of(comm, work.send), {.input = work.send.address + sent->begin},
          copying(), send_leg(work.send.peer, sent->end - sent->begin, chunk_of(work.send))));
    }
    if (received) {
      transfers.push_back(open_transfer(
          comm, channel, wire_of(comm, work.receive),
          {.output = work.receive.address + received->begin}, copying(),
          receive_leg(work.receive.peer, received->end - received->begin, chunk_of(work.receive))));
    }
  }
  return transfers;
}

}  // namespace rocelane::lab
