#pragma once

// What was measured, and how it is shown.

#include <optional>
#include <string>
#include <vector>

#include "bench/options.h"
#include "bench/request.h"
#include "bench/statistics.h"

namespace rocelane::bench {

// All of one direction; medians and quartiles of the repeats.
struct SizeResult {
  size_t bytes = 0;
  Quartiles latency_us;  // one way: half a round trip; of each repeat, its median
  Quartiles slowest_us;  // the same of each repeat's slowest hundredth
  Quartiles megabytes_per_s;
  Quartiles messages_per_s;
};

// Of both ends together, for each message or round.
struct CountResult {
  size_t bytes = 0;      // of a message; 0: it is a round
  uint64_t counted = 0;  // messages or rounds
  std::optional<Counts> counts;
  std::optional<Instructions> instructions;
};

struct IdleResult {
  Quartiles receives_ns;  // a round over all receiving ends
  Quartiles sends_ns;
  std::optional<CountResult> receives;
  std::optional<CountResult> sends;
};

struct SetUpResult {
  Quartiles seconds;
  Quartiles own_bytes;  // of a connection, both ends
  Quartiles shared_bytes;
};

struct NetResult {
  SetUpAnswer net;
  std::vector<SizeResult> sizes;
  std::vector<CountResult> counts;  // with --counts
  std::optional<IdleResult> idle;
  std::optional<SetUpResult> set_up;
  std::vector<double> fullest_to_mean;  // by seed
};

struct Report {
  std::vector<NetResult> nets;      // the first is --net
  std::string why_no_instructions;  // empty: they were counted, or nobody asked
};

std::string text_report(const Options& options, const Report& report);
std::string json_report(const Options& options, const Report& report);

}  // namespace rocelane::bench
