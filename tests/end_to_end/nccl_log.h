#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rocelane::end_to_end {

// One line in which NCCL says how it runs a collective, e.g.
// "AllReduce: 400 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..1}". Only rank 0 writes them,
// and only for collectives that are not made of sends and receives.
struct TuningChoice {
  std::string function;
  std::string algorithm;
  std::string protocol;

  auto operator<=>(const TuningChoice&) const = default;
};

std::map<TuningChoice, size_t> count_choices(std::string_view log_text);

// The networks of "Using network Rocelane" lines; every communicator writes one.
std::map<std::string, size_t> count_networks(std::string_view log_text);

// Makes NCCL write these lines to a file, and reads what is in it. NCCL reads the environment once,
// so this has to come before the first call of NCCL in the process.
class NcclLog {
 public:
  NcclLog();

  // What was chosen since the last call.
  Result<std::map<TuningChoice, size_t>> new_choices();
  // An error unless every communicator so far used `network`. NCCL turns to another one silently
  // when a plugin cannot be used, and everything would be right over the wrong network.
  Status expect_network(std::string_view network) const;

 private:
  Result<std::string> text_from(size_t offset) const;

  std::string path_;
  size_t read_bytes_ = 0;
};

}  // namespace rocelane::end_to_end
