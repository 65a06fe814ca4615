#include <bit>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "device/arguments.h"
#include "device/layout_2_28.h"

namespace rocelane::lab {
namespace {

namespace layout = layout_2_28;

static_assert(sizeof(FifoSlot) == sizeof(layout::FifoSlot));
static_assert(offsetof(FifoSlot, size) == offsetof(layout::FifoSlot, size));

Error not_emulated(std::string what) {
  return {.code = ErrorCode::kInvalidUsage, .what = std::move(what)};
}

Error malformed(std::string what) {
  return {.code = ErrorCode::kInternal, .what = std::move(what)};
}

class Memory228 : public ChannelMemory {
 public:
  Memory228(layout::KernelCommAndChannels& all, int channel)
      : comm_(all.comm), channel_(all.channels[channel]), index_(channel) {}

  Connection connection(Direction direction, int peer, int index) const override {
    layout::ChannelPeer& at = *channel_.peers[peer];
    layout::Connection& from = direction == Direction::kSend ? at.send[index] : at.receive[index];
    Connection connection{.tail = from.tail,
                          .head = from.head,
                          .slots = reinterpret_cast<FifoSlot*>(from.slots),
                          .step = &from.step,
                          .flags = from.flags,
                          .step_bytes = from.step_bytes};
    for (size_t i = 0; i < connection.buffers.size(); ++i) {
      connection.buffers[i] = reinterpret_cast<std::byte*>(from.buffers[i]);
    }
    return connection;
  }

  uint64_t works_done() const override { return channel_.work_counter; }
  void set_works_done(uint64_t works) override { channel_.work_counter = works; }

  void note_start(uint64_t work, uint64_t nanoseconds) override {
    note(comm_.started, work, nanoseconds);
  }
  void note_completion(uint64_t work, uint64_t nanoseconds) override {
    note(comm_.completed, work, nanoseconds);
  }

 private:
  void note(layout::ProfilerTable* tables, uint64_t work, uint64_t nanoseconds) const {
    layout::ProfilerEntry& entry = tables[index_].entries[work % layout::kProfiledWorks];
    store_shared(entry.timestamp, nanoseconds);
    store_shared(entry.counter, work);
  }

  layout::KernelComm& comm_;
  layout::Channel& channel_;
  int index_;
};

class Decoder {
 public:
  Decoder(const FunctionTable& functions, const std::byte* block, size_t bytes)
      : functions_(functions),
        block_(block),
        bytes_(bytes),
        head_(*reinterpret_cast<const layout::KernelArguments*>(block)) {}

  Result<Launch> decode() {
    Launch launch{.comm = comm_facts(), .channels = {}};
    size_t first_batch = 0;
    for (int channel = 0; channel < layout::kMaxChannels; ++channel) {
      if ((head_.channel_mask >> channel & 1) == 0) {
        continue;
      }
      Result<std::vector<Batch>> batches = decode_batches(first_batch++);
      if (!batches) {
        return std::move(batches).error();
      }
      launch.channels.push_back(channel_work(channel, std::move(batches).value()));
    }
    return launch;
  }

 private:
  CommFacts comm_facts() const {
    const layout::KernelComm& comm = head_.comm->comm;
    CommFacts facts{.rank = comm.rank,
                    .rank_count = comm.rank_count,
                    .p2p_chunk_bytes = static_cast<size_t>(comm.p2p_chunk_bytes),
                    .all_nvlink = comm.all_nvlink != 0,
                    .abort_flag = const_cast<const uint32_t*>(comm.abort_flag)};
    for (size_t i = 0; i < facts.buffer_bytes.size(); ++i) {
      facts.buffer_bytes[i] = static_cast<size_t>(comm.buffer_bytes[i]);
    }
    return facts;
  }

  ChannelWork channel_work(int channel, std::vector<Batch> batches) const {
    const layout::Channel& from = head_.comm->channels[channel];
    ChannelWork work{.channel = channel,
                     .ring = {},
                     .tree = {},
                     .batches = std::move(batches),
                     .memory = std::make_shared<Memory228>(*head_.comm, channel)};
    const auto ranks = static_cast<size_t>(head_.comm->comm.rank_count);
    work.ring = {.previous = from.ring.previous,
                 .next = from.ring.next,
                 .index = from.ring.index,
                 .ranks = {from.ring.user_ranks, from.ring.user_ranks == nullptr ? 0 : ranks}};
    work.tree.up = from.tree.up;
    for (const int down : from.tree.down) {
      if (down == -1) {
        break;
      }
      work.tree.down.push_back(down);
    }
    return work;
  }

  // A channel's batches are a linked list through an array; some list items extend the one before.
  Result<std::vector<Batch>> decode_batches(size_t at) const {
    std::vector<Batch> batches;
    std::optional<Batch> open;
    while (true) {
      const size_t offset = sizeof(layout::KernelArguments) + at * sizeof(layout::WorkBatch);
      if (offset + sizeof(layout::WorkBatch) > bytes_) {
        return malformed(fmt::format(
            "work batch {} lies outside the kernel's argument block of {} bytes", at, bytes_));
      }
      const auto& item = *reinterpret_cast<const layout::WorkBatch*>(block_ + offset);
      if (!open) {
        const std::optional<Function> function = functions_.find(item.function);
        if (!function) {
          return malformed(
              fmt::format("kernel function {} is not in NCCL's function table", item.function));
        }
        open = Batch{.function = *function, .collectives = {}, .sends_and_receives = {}};
      }
      if (Status added = add_works(item, *open); !added) {
        return std::move(added).error();
      }
      if (item.next_extends == 0) {
        batches.push_back(std::move(*open));
        open.reset();
        if (item.next_jump == 0) {
          return batches;
        }
      }
      at += item.next_jump;
    }
  }

  Status add_works(const layout::WorkBatch& item, Batch& batch) const {
    const auto type = static_cast<layout::WorkType>(item.work_type);
    for (size_t i = 0; i < 64; ++i) {
      if ((item.offset_bits >> i & 1) == 0) {
        continue;
      }
      switch (type) {
        case layout::WorkType::kSendReceive: {
          layout::SendReceiveWork work;
          if (!read_work(item.offset_base, i, work)) {
            return outside(i);
          }
          batch.sends_and_receives.push_back(neutral(work));
          break;
        }
        case layout::WorkType::kCollective: {
          layout::CollectiveWork work;
          if (!read_work(item.offset_base, i, work)) {
            return outside(i);
          }
          batch.collectives.push_back(neutral(work));
          break;
        }
        case layout::WorkType::kRegisteredCollective:
        default:
          return not_emulated(
              "a collective on NVLS-registered buffers is not emulated; set NCCL_NVLS_ENABLE=0");
      }
    }
    return {};
  }

  Error outside(size_t index) const {
    return malformed(fmt::format(
        "work {} of a batch lies outside the kernel's argument block of {} bytes", index, bytes_));
  }

  // A work in the FIFO may wrap around the FIFO's end at any multiple of 16 bytes.
  template <class Work>
  bool read_work(uint32_t base, size_t index, Work& work) const {
    constexpr size_t kUnit = 16;
    static_assert(sizeof(Work) % kUnit == 0);
    const size_t start = base + index * sizeof(Work);
    auto* to = reinterpret_cast<std::byte*>(&work);
    if (head_.storage == layout::WorkStorage::kArguments) {
      if (start + sizeof(Work) > bytes_) {
        return false;
      }
      std::memcpy(to, block_ + start, sizeof(Work));
      return true;
    }
    for (size_t done = 0; done < sizeof(Work); done += kUnit) {
      const uint32_t offset = static_cast<uint32_t>(start + done) & head_.work_mask;
      std::memcpy(to + done, head_.work_buffer + offset, kUnit);
    }
    return true;
  }

  static CollectiveWork neutral(const layout::CollectiveWork& from) {
    return {.shares = {.low = static_cast<int>(from.channel_low),
                       .high = static_cast<int>(from.channel_high),
                       .count_low = from.count_low,
                       .count_middle = from.count_middle,
                       .count_high = from.count_high,
                       .grains_low = static_cast<uint32_t>(from.grains_low),
                       .grains_middle = static_cast<uint32_t>(from.grains_middle),
                       .grains_high = static_cast<uint32_t>(from.grains_high)},
            .root = static_cast<int>(from.root),
            .input = static_cast<const std::byte*>(from.input),
            .output = static_cast<std::byte*>(from.output),
            .argument = from.argument,
            .argument_is_pointer = from.argument_is_pointer != 0,
            .uses_registered_memory = from.ipc_registered != 0 || from.net_registered != 0,
            .profiled = from.profiled != 0};
  }

  static SendReceiveWork neutral(const layout::SendReceiveWork& from) {
    return {.send = {.address = static_cast<std::byte*>(from.send_address),
                     .bytes = from.send_bytes,
                     .peer = from.send_rank,
                     .channels = from.send_channels,
                     .chunk_bytes = decode_size(from.send_chunk_code),
                     .ll = from.send_ll != 0,
                     .net_registered = from.send_net_registered != 0,
                     .ipc_registered = from.send_ipc_registered != 0},
            .receive = {.address = static_cast<std::byte*>(from.receive_address),
                        .bytes = from.receive_bytes,
                        .peer = from.receive_rank,
                        .channels = from.receive_channels,
                        .chunk_bytes = decode_size(from.receive_chunk_code),
                        .ll = from.receive_ll != 0,
                        .net_registered = from.receive_net_registered != 0,
                        .ipc_registered = from.receive_ipc_registered != 0},
            .channel_count = from.channel_count,
            .channel_base = from.channel_base,
            .profiled = from.profiled != 0};
  }

  const FunctionTable& functions_;
  const std::byte* block_;
  size_t bytes_;
  const layout::KernelArguments& head_;
};

}  // namespace

Result<Launch> decode_arguments_2_28(const FunctionTable& functions, const void* arguments,
                                     size_t bytes) {
  if (bytes < sizeof(layout::KernelArguments)) {
    return malformed(
        fmt::format("a kernel argument block of {} bytes is too short for NCCL 2.28", bytes));
  }
  return Decoder(functions, static_cast<const std::byte*>(arguments), bytes).decode();
}

}  // namespace rocelane::lab
