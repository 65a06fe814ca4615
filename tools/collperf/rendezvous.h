#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "collperf/rank_layout.h"
#include "collperf/tcp_stream.h"

namespace rocelane::collperf {

// Where the processes of one run meet: a star of TCP connections with process 0 in the middle.
// Every process makes the same calls in the same order; `what` names the step, and a process that
// is elsewhere, late or gone ends the step for all with a sentence that names it.
// One thread at a time.
class Rendezvous {
 public:
  // `patience` is for each step; zero means for ever.
  static Result<std::unique_ptr<Rendezvous>> join(const RankLayout& layout,
                                                  std::chrono::milliseconds patience);

  // Everybody's contribution, by process.
  Result<std::vector<std::string>> exchange(std::string_view what, std::string_view mine);
  Status barrier(std::string_view what);
  // What process 0 passed; the others' `mine` is ignored.
  Result<std::string> from_first(std::string_view what, std::string_view mine);
  Result<std::vector<double>> exchange_numbers(std::string_view what, double mine);

  // Looks, without waiting, whether another process has gone or has given up.
  Status look_at_peers();
  // Tells the others why this process gives up, as well as it can.
  void give_up(std::string_view sentence);

 private:
  Rendezvous(const RankLayout& layout, std::chrono::milliseconds patience);

  Status gather_hellos(Deadline deadline);
  Status say_hello(Deadline deadline);
  Result<std::vector<std::string>> exchange_as_first(std::string_view what, std::string_view mine);
  Result<std::vector<std::string>> exchange_as_other(std::string_view what, std::string_view mine);
  Result<std::string> contribution_of(size_t process, std::string_view what, Deadline deadline);
  std::vector<const Socket*> sockets_of(const std::vector<size_t>& processes) const;
  Error fail_everybody(std::string sentence);
  Deadline deadline_from_now() const;
  double patience_s() const;

  RankLayout layout_;
  std::chrono::milliseconds patience_;
  uint64_t step_ = 0;
  std::vector<Socket> peers_;                // process 0: by process; others: only [0]
  std::vector<std::optional<Frame>> early_;  // process 0: contributions read while looking
};

}  // namespace rocelane::collperf
