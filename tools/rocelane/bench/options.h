#pragma once

// What `rocelane bench` was asked for.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "nccl_host/net_library.h"
#include "nccl_host/traffic.h"

namespace CLI {
class App;
}

namespace rocelane::bench {

enum class Subject : uint8_t {
  kSizes,   // latency, bandwidth and message rate by size
  kIdle,    // rounds over connections without work
  kSetUp,   // time and memory to set connections up
  kSpread,  // how evenly a fabric's paths are filled, over many seeds
};

struct Options {
  nccl_host::NetChoice net;
  std::optional<std::string> rival;  // "ib", or a plugin; none: one net alone
  Subject subject = Subject::kSizes;

  // Where messages go.
  std::vector<std::string> devices;  // of both ends; "a+b" is a and b as one
  int rails = 1;                     // devices each end uses as one, when none are named
  int connections = 1;               // kIdle, kSetUp: how many there are
  int window = 8;
  std::optional<int> lanes;
  int traffic_class = -1;  // of the communicator; -1: none

  // Which messages, how often.
  std::vector<size_t> sizes;
  int repeats = 9;
  double seconds = 20;
  std::optional<size_t> load_bytes;  // messages that fill the wire while latency is measured

  // Counts.
  bool counts = false;
  int messages = 1000;    // counted; kSpread: of all connections together
  bool callgrind = true;  // use it if it is there
  std::string profiles;   // folder to keep its profiles in; empty: they are removed

  // Runs on softverbs' virtual clock.
  std::string fabric_file;
  uint64_t seed = 1;                                       // kSpread: the first one
  int seeds = 0;                                           // kSpread
  nccl_host::Traffic traffic = nccl_host::Traffic::kRing;  // kSpread: among the hosts

  std::string json_file;
  double patience_s = 30;
  bool verbose = false;
};

// The command line as CLI11 has filled it, with words not yet looked at.
struct CommandLine {
  Options options;
  std::vector<std::string> sizes;
  std::string rival;
  std::string load;
  std::string traffic = "ring";
  int idle = 0;
  int set_up = 0;
  int spread = 0;
  int lanes = 0;
  int messages = 0;
  bool no_callgrind = false;
};

// Options of the subcommand. `line` must outlive `app`.
void declare_options(CLI::App& app, CommandLine& line);

// What the words mean together, or one sentence about what is wrong with them.
Result<Options> interpret(const CommandLine& line);

}  // namespace rocelane::bench
