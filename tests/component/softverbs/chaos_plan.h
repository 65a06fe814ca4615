#pragma once

// What a seed stands for: a fabric, what goes wrong in it, and how its queue pairs are set up.

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <infiniband/verbs.h>

namespace rocelane::softverbs_test {

// The same throws on every machine.
class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}

  uint64_t below(uint64_t limit) { return engine_() % limit; }
  uint64_t between(uint64_t least, uint64_t most) { return least + below(most - least + 1); }
  bool chance(uint64_t percent) { return below(100) < percent; }
  // Any size up to `most`, small ones as likely as large ones.
  uint32_t size(uint32_t most);
  template <class T>
  const T& one_of(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }

 private:
  std::mt19937_64 engine_;
};

struct PairWishes {
  uint32_t send_depth = 32;
  uint32_t receive_depth = 32;
  bool signal_all = false;
  ibv_mtu mtu = IBV_MTU_4096;
  uint8_t timeout = 14;
  uint8_t retries = 7;
  uint8_t rnr_retries = 7;
  uint8_t rnr_timer = 12;
  uint8_t reads = 4;
  uint8_t traffic_class = 0;
};

// Two devices that talk, which may be one and the same.
struct LanePlan {
  std::string from, to;
  PairWishes wishes;
  uint32_t most_bytes = 0;             // of a message
  std::vector<ibv_wr_opcode> opcodes;  // as often as they stand there
};

struct ChaosPlan {
  std::string fabric;
  std::string faults;
  // Nothing is lost and nobody stops: every request has to succeed.
  bool calm = false;
  bool shared_receives = false;
  bool one_completion_queue = false;  // of a device, for both directions
  std::vector<LanePlan> lanes;
  bool sins = false;  // some requests name memory that is not there
  int steps = 0;
  uint64_t restarts = 0;  // of connections, in a thousand steps
};

ChaosPlan make_plan(Dice& dice);
// One disaster that ends by itself, as TOML; its time counts from now.
std::string random_fault(Dice& dice, const ChaosPlan& plan);

}  // namespace rocelane::softverbs_test
