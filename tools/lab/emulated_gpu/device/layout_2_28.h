#pragma once

#include <cstddef>
#include <cstdint>

#include <sys/types.h>

// How NCCL 2.28 lays out what host and device share. Only the memory matters: names are ours.
namespace rocelane::lab::layout_2_28 {

inline constexpr int kProtocols = 3;
inline constexpr int kConnectionsPerPeer = 2;
inline constexpr int kMaxChannels = 64;
inline constexpr int kProfiledWorks = 64;

struct NetDeviceHandle {
  int type;
  int version;
  void* handle;
  size_t size;
  int needs_proxy_progress;
};

struct FifoSlot {
  int mode;
  int offset;
  ssize_t size;
  void* pointer;
};

struct Connection {
  char* buffers[kProtocols];
  void* memory_handles[kProtocols];
  uint64_t* tail;
  uint64_t* head;
  int flags;
  int shared;
  int step_bytes;
  void** pointer_exchange;
  uint64_t* argument_exchange;
  FifoSlot* slots;
  uint64_t step;
  uint64_t last_cleaning;
  NetDeviceHandle net_device;
};

struct ChannelPeer {
  Connection send[kConnectionsPerPeer];
  Connection receive[kConnectionsPerPeer];
};

struct Ring {
  int previous;
  int next;
  int* user_ranks;
  int index;
};

struct Tree {
  int depth;
  int up;
  int down[3];
};

struct CollNetDirect {
  int scalars[5];
  int heads[8];
  int up[7];
  int down[7];
};

struct Nvls {
  int scalars[3];
  int up[32];
  int down;
  int tree_up;
  int tree_down[3];
};

struct alignas(16) Channel {
  ChannelPeer** peers;
  Ring ring;
  Tree tree;
  Tree collnet_chain;
  CollNetDirect collnet_direct;
  Nvls nvls;
  uint32_t* work_fifo_done;
  uint64_t work_counter;
};

struct ProfilerEntry {
  uint64_t counter;
  uint64_t timestamp;
};

struct ProfilerTable {
  ProfilerEntry entries[kProfiledWorks];
};

struct KernelComm {
  int rank;
  int rank_count;
  int node;
  int node_count;
  int buffer_bytes[kProtocols];
  int p2p_chunk_bytes;
  int all_nvlink;
  int* dense_to_user_rank;
  volatile uint32_t* abort_flag;
  Channel* channels;
  int* rank_to_local_rank;
  ProfilerTable* started;
  ProfilerTable* completed;
};

struct alignas(16) KernelCommAndChannels {
  KernelComm comm;
  Channel channels[kMaxChannels];
};

enum class WorkStorage : uint8_t { kArguments, kFifo, kPersistent };

struct alignas(16) KernelArguments {
  KernelCommAndChannels* comm;
  uint64_t channel_mask;
  WorkStorage storage;
  uint32_t work_mask;
  char* work_buffer;
};

enum class WorkType : uint8_t { kSendReceive, kCollective, kRegisteredCollective };

struct alignas(16) WorkBatch {
  uint32_t next_jump : 14, next_extends : 1, work_type : 2, function : 15;
  uint32_t offset_base;
  uint64_t offset_bits;
};

struct alignas(16) CollectiveWork {
  uint32_t channel_low : 8, channel_high : 8, warps : 8;
  uint32_t argument_is_pointer : 1, ipc_registered : 1, net_registered : 1, one_node : 1;
  uint32_t direct : 2, one_rank_per_node : 1, profiled : 1;
  uint32_t root;
  void* output;
  void* input;
  uintptr_t input_offset;
  uintptr_t output_offset;
  uintptr_t* remote_inputs;
  uintptr_t* remote_outputs;
  size_t count_low;
  size_t count_middle;
  size_t count_high;
  uint64_t grains_low : 21, grains_middle : 21, grains_high : 21;
  uint64_t argument;
};

struct alignas(16) SendReceiveWork {
  void* send_address;
  void* receive_address;
  size_t send_bytes;
  size_t receive_bytes;
  int send_rank;
  int receive_rank;
  uint8_t channel_count;
  uint8_t channel_base;
  uint8_t send_channels;
  uint8_t receive_channels;
  uint8_t send_chunk_code;
  uint8_t receive_chunk_code;
  uint8_t send_ll : 1, receive_ll : 1, send_net_registered : 1, receive_net_registered : 1;
  uint8_t send_ipc_registered : 1, receive_ipc_registered : 1, profiled : 1;
};

static_assert(sizeof(FifoSlot) == 24);
static_assert(sizeof(Connection) == 152);
static_assert(offsetof(Connection, tail) == 48);
static_assert(offsetof(Connection, flags) == 64);
static_assert(offsetof(Connection, step_bytes) == 72);
static_assert(offsetof(Connection, pointer_exchange) == 80);
static_assert(offsetof(Connection, slots) == 96);
static_assert(offsetof(Connection, step) == 104);
static_assert(offsetof(Connection, net_device) == 120);
static_assert(sizeof(ChannelPeer) == 608);
static_assert(sizeof(CollNetDirect) == 108);
static_assert(sizeof(Nvls) == 160);
static_assert(sizeof(Channel) == 368);
static_assert(offsetof(Channel, ring) == 8);
static_assert(offsetof(Channel, tree) == 32);
static_assert(offsetof(Channel, nvls) == 180);
static_assert(offsetof(Channel, work_fifo_done) == 344);
static_assert(offsetof(Channel, work_counter) == 352);
static_assert(sizeof(ProfilerTable) == 1024);
static_assert(sizeof(KernelComm) == 88);
static_assert(offsetof(KernelComm, buffer_bytes) == 16);
static_assert(offsetof(KernelComm, abort_flag) == 48);
static_assert(offsetof(KernelComm, started) == 72);
static_assert(offsetof(KernelCommAndChannels, channels) == 96);
static_assert(sizeof(KernelCommAndChannels) == 23648);
static_assert(sizeof(KernelArguments) == 32);
static_assert(offsetof(KernelArguments, storage) == 16);
static_assert(offsetof(KernelArguments, work_mask) == 20);
static_assert(sizeof(WorkBatch) == 16);
static_assert(sizeof(CollectiveWork) == 96);
static_assert(offsetof(CollectiveWork, root) == 4);
static_assert(offsetof(CollectiveWork, count_low) == 56);
static_assert(offsetof(CollectiveWork, argument) == 88);
static_assert(sizeof(SendReceiveWork) == 48);
static_assert(offsetof(SendReceiveWork, send_rank) == 32);
static_assert(offsetof(SendReceiveWork, send_chunk_code) == 44);

}  // namespace rocelane::lab::layout_2_28
