#pragma once

// Which messages cross a connection, decided before anything runs: the two ends share the plan and
// nothing else.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nccl_host/traffic.h"

namespace rocelane::nccl_host {

// How NCCL's kernels would use the buffer: decides its memory, the hint and the flush.
enum class Protocol : uint8_t { kLl, kLl128, kSimple };
inline constexpr std::array kAllProtocols{Protocol::kLl, Protocol::kLl128, Protocol::kSimple};
std::string_view name_of(Protocol protocol);

enum class Mix : uint8_t {
  kLl,      // multiples of 16 bytes up to 16 KiB
  kLl128,   // multiples of 128 bytes up to 64 KiB
  kSimple,  // up to 512 KiB, as NCCL's steps are
  kOdd,     // empty, larger than their receive, at odd addresses
  kAll,     // some of each
};
std::string_view name_of(Mix mix);
std::optional<Mix> mix_named(std::string_view name);

struct Message {
  uint64_t number = 0;  // of the run: names its bytes
  int index = 0;        // of the connection
  int sub = 0;          // which of the senders that share the connection
  int tag = 0;
  size_t send_bytes = 0;
  size_t receive_bytes = 0;  // may be less: the rest is cut off
  size_t send_shift = 0;     // bytes off an aligned address
  size_t receive_shift = 0;

  size_t arriving_bytes() const { return send_bytes < receive_bytes ? send_bytes : receive_bytes; }
  size_t room_bytes() const { return send_bytes < receive_bytes ? receive_bytes : send_bytes; }
};

// What one irecv asks for.
struct Group {
  Protocol protocol = Protocol::kSimple;
  std::vector<Message> messages;  // by sub, ascending

  // The receiving GPU looks at the data itself and needs no completion.
  bool completion_is_optional() const {
    return protocol != Protocol::kSimple && messages.size() == 1;
  }
};

struct ConnectionPlan {
  int number = 0;
  Route route;
  int subs = 1;
  std::vector<Group> groups;

  size_t messages() const;
  // The largest of a protocol, with its shift; none: the protocol is not used.
  std::optional<size_t> largest_room_bytes(Protocol protocol) const;
};

struct PlanOptions {
  uint64_t seed = 1;
  int messages = 100;  // of each connection
  int group = 1;       // senders sharing a connection: the largest number of buffers of a receive
  Mix mix = Mix::kAll;
  std::vector<size_t>
      sizes;  // not empty: only these, drawn evenly, in full groups, in place of a mix
  Protocol protocol = Protocol::kSimple;  // of `sizes`
};

std::vector<ConnectionPlan> plan_messages(const PlanOptions& options,
                                          const std::vector<Route>& routes);

// "message 17 (65536 bytes, tag 8)"
std::string text_of(const Message& message);
// "connection 2 (rank 0 to rank 1)"
std::string text_of(const ConnectionPlan& connection);

}  // namespace rocelane::nccl_host
