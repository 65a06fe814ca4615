#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "bench/session.h"

namespace rocelane::bench {
namespace {

constexpr size_t kLoadMessages = 50'000;
constexpr int kSender = 0;
constexpr int kReceiver = 1;
// An idle end has one message: its receive is posted and not sent to, or it is never asked for.
constexpr size_t kIdleMessages = 1;
constexpr size_t kIdleBytes = 8;
constexpr size_t kRoundsBeforeIdle = 3;

Counts counts_of(const softverbs_device_counters& c) {
  const softverbs_qp_counters& q = c.queue_pairs;
  return {q.sends + q.writes + q.writes_with_immediate + q.reads,
          q.send_posts,
          q.receives,
          q.receive_posts,
          q.completions,
          c.polls,
          c.empty_polls};
}

}  // namespace

Players& Session::players(bool one_thread) {
  return one_thread || threads_ == nullptr ? *rounds_ : *threads_;
}

void Session::follow(int connection, size_t bytes, size_t messages) {
  nccl_host::ConnectionPlan& plan = plans_[static_cast<size_t>(connection)];
  const nccl_host::Route route = plan.route;
  plan = plan_of_equal_messages(connection, route, bytes, messages);
  for (const auto& send : ranks_[static_cast<size_t>(route.from)]->sends()) {
    if (&send->plan() == &plan) {
      send->follow(plan);
    }
  }
  for (const auto& receive : ranks_[static_cast<size_t>(route.to)]->receives()) {
    if (&receive->plan() == &plan) {
      receive->follow(plan);
    }
  }
}

Ends Session::ends_at(int rank, int first, int last) {
  nccl_host::Rank& there = *ranks_[static_cast<size_t>(rank)];
  Ends ends;
  ends.net = &net_;
  ends.caller = &there.progress_caller();
  const auto is_meant = [&](const auto& end) {
    return end->plan().number >= first && end->plan().number < last;
  };
  for (const auto& receive : there.receives()) {
    if (is_meant(receive)) {
      ends.receives.push_back(receive.get());
    }
  }
  for (const auto& send : there.sends()) {
    if (is_meant(send)) {
      ends.sends.push_back(send.get());
    }
  }
  return ends;
}

Works Session::stream(int connections, size_t messages) {
  Works works;
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    works.push_back(
        std::make_unique<StreamWork>(ends_at(static_cast<int>(rank), 0, connections), messages));
  }
  return works;
}

Works Session::ping_pong(const Request& request) {
  const bool loaded = request.load_bytes > 0;
  load_ = loaded ? std::make_unique<Load>(static_cast<size_t>(request.connections), kLoadMessages)
                 : nullptr;
  const int load_connections = loaded ? request.connections : 0;
  const auto both_ways = [&](int rank) {
    Ends ends = ends_at(rank, request.ping, request.ping + 1);
    const Ends others = ends_at(rank, request.pong, request.pong + 1);
    ends.receives.insert(ends.receives.end(), others.receives.begin(), others.receives.end());
    ends.sends.insert(ends.sends.end(), others.sends.begin(), others.sends.end());
    return ends;
  };
  Works works;
  works.push_back(std::make_unique<PingPongWork>(PingPongWork::Side::kFirst, both_ways(kSender),
                                                 request.messages, load_.get(),
                                                 ends_at(kSender, 0, load_connections)));
  works.push_back(std::make_unique<PingPongWork>(PingPongWork::Side::kSecond, both_ways(kReceiver),
                                                 request.messages, load_.get(),
                                                 ends_at(kReceiver, 0, load_connections)));
  return works;
}

Result<Answer> Session::count_while(const Request& request, const Works& works) {
  if (request.count_instructions && !(request.one_thread && counting_.start != nullptr)) {
    return Error{ErrorCode::kInternal, "Instructions are counted in callgrind, of one thread."};
  }
  Answer answer;
  const softverbs_device_counters before = nccl_host::sum_of(reader_.read());
  if (request.count_instructions) {
    counting_.start();
  }
  const Result<PlayedTime> time = players(request.one_thread).play(works);
  if (request.count_instructions) {
    Result<Instructions> counted = counting_.stop();
    if (!counted) {
      return counted.error();
    }
    answer.instructions = *counted;
  }
  if (!time) {
    return time.error();
  }
  if (const Status fine = check_findings(); !fine) {
    return fine.error();
  }
  answer.seconds = time->seconds();
  if (softverbs_.counts()) {
    answer.counts = counts_of(nccl_host::difference(nccl_host::sum_of(reader_.read()), before));
  }
  return answer;
}

// Bytes are not looked at here; that a receive reports its size is.
Status Session::check_findings() const {
  const std::vector<std::string> wrong = findings_.sentences();
  return wrong.empty() ? Status() : Status(Error{ErrorCode::kRemote, wrong.front()});
}

Result<Answer> Session::measure_idle(const Request& request) {
  const bool receives = request.what == Measurement::kIdleReceives;
  const int connections = static_cast<int>(plans_.size());
  for (int connection = 0; connection < connections; ++connection) {
    follow(connection, kIdleBytes, kIdleMessages);
  }
  const Ends ends = ends_at(receives ? kReceiver : kSender, 0, connections);
  Works before;
  before.push_back(std::make_unique<IdleWork>(ends, kIdleMessages, kRoundsBeforeIdle));
  if (const Result<PlayedTime> settled = rounds_->play(before); !settled) {
    return settled.error();
  }
  Works rounds;
  rounds.push_back(std::make_unique<IdleWork>(ends, kIdleMessages, request.messages));
  Result<Answer> answer = count_while(request, rounds);
  if (!answer) {
    return answer;
  }
  const Result<PlayedTime> finished = rounds_->play(stream(connections, kIdleMessages));
  return finished ? answer : Result<Answer>(finished.error());
}

Result<Answer> Session::measure(const Request& request) {
  if (request.what == Measurement::kIdleReceives || request.what == Measurement::kIdleSends) {
    return measure_idle(request);
  }
  if (request.what == Measurement::kStream) {
    for (int connection = 0; connection < request.connections; ++connection) {
      follow(connection, request.bytes, request.messages);
    }
    return count_while(request, stream(request.connections, request.messages));
  }
  follow(request.ping, request.bytes, request.messages);
  follow(request.pong, request.bytes, request.messages);
  for (int connection = 0; request.load_bytes > 0 && connection < request.connections;
       ++connection) {
    follow(connection, request.load_bytes, kLoadMessages);
  }
  const Works works = ping_pong(request);
  Result<Answer> answer = count_while(request, works);
  if (!answer) {
    return answer;
  }
  if (load_ != nullptr && load_->ran_out()) {
    return Error{
        ErrorCode::kInvalidUsage,
        fmt::format("The load ended before the latency was measured; ask for fewer than {} "
                    "round trips, or for a larger load.",
                    request.messages)};
  }
  for (const uint64_t round_trip_ns :
       static_cast<const PingPongWork&>(*works[kSender]).round_trips_ns()) {
    answer->round_trips_us.push_back(static_cast<double>(round_trip_ns) * 1e-3);
  }
  return answer;
}

}  // namespace rocelane::bench
