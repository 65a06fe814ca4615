#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rocelane::nccl_host {

enum class Stage : uint8_t {
  kSetUp,     // service threads connect and register
  kMessages,  // progress threads send and receive
  kClosing,   // progress threads have to leave, then service threads close
  kDone,
};

// What the conductor tells the ranks' threads.
struct RunState {
  std::atomic<Stage> stage = Stage::kSetUp;
  std::atomic<int> connection_limit = 0;  // connections below it may be set up
  std::atomic<size_t> group_limit = 0;    // groups below it may be sent and received
};

}  // namespace rocelane::nccl_host
