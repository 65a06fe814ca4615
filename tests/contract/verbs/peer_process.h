#pragma once

// A second process with the other end of a connection. It runs this same program and takes orders
// over a socket.

#include <cstdint>
#include <optional>

#include <sys/types.h>

#include "attributes.h"
#include "memory.h"

namespace rocelane::contract {

constexpr const char* kPeerArgument = "--peer-of";

// What the peer process is asked to do. It answers each with an Answer.
enum class Order : uint32_t {
  kIntroduce,       // make a new endpoint; `address` and `memory` come back
  kConnect,         // to `address`
  kPostReceive,     // without memory
  kWaitForReceive,  // one completion; status, immediate and length come back
  kWrite,           // `bytes` of its pattern with `immediate` to `memory`; the status comes back
  kCheckPattern,    // are `bytes` of its memory the pattern of `seed`? status 0 if so
  kQuit,
};

struct Request {
  Order order = Order::kQuit;
  Address address{};
  RemoteMemory memory{};
  uint32_t bytes = 0;
  uint32_t immediate = 0;
  uint32_t seed = 0;
};

struct Answer {
  int32_t status = -1;
  Address address{};
  RemoteMemory memory{};
  uint32_t bytes = 0;
  uint32_t immediate = 0;
};

// The main function of the peer process: serves orders from the descriptor until the other end is
// closed.
int run_peer(int descriptor);

// Starts, asks and ends a peer process.
class PeerProcess {
 public:
  PeerProcess();
  ~PeerProcess();
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  // Nothing when it did not answer.
  std::optional<Answer> ask(const Request& request) const;

  // Kills it on the spot and returns when it is gone.
  void kill_now();

 private:
  pid_t process_ = -1;
  int descriptor_ = -1;
};

}  // namespace rocelane::contract
