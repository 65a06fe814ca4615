#pragma once

// What one thread does in a measurement: short steps that never wait. Each plays the progress
// thread of one rank.

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "nccl_host/rank.h"

namespace rocelane::bench {

class Work {
 public:
  virtual ~Work() = default;
  // True: something moved.
  virtual Result<bool> step(uint64_t now_ns) = 0;
  virtual bool is_finished() const = 0;
};

// The ends of some connections that lie at one rank.
struct Ends {
  nccl_host::Net* net = nullptr;
  nccl_host::Caller* caller = nullptr;
  std::vector<nccl_host::ReceiveEnd*> receives;
  std::vector<nccl_host::SendEnd*> sends;
};

// Messages one after another, as many outstanding as the window allows: the first `messages` of
// each connection's plan.
class StreamWork final : public Work {
 public:
  StreamWork(Ends ends, size_t messages) : ends_(std::move(ends)), messages_(messages) {}
  Result<bool> step(uint64_t now_ns) override;
  bool is_finished() const override;

 private:
  Ends ends_;
  size_t messages_;
};

// Streams that go on until somebody says that it is enough; what is under way then still arrives.
// Shared by the two ranks.
class Load {
 public:
  Load(size_t connections, size_t most_messages)
      : limits_(connections), most_messages_(most_messages) {
    for (std::atomic<size_t>& limit : limits_) {
      limit.store(most_messages, std::memory_order_relaxed);
    }
  }
  void end() { over_.store(true, std::memory_order_release); }
  bool is_over() const { return over_.load(std::memory_order_acquire); }
  // It stopped by itself: whatever was measured beside it had an empty wire.
  bool ran_out() const { return ran_out_.load(); }

  Result<bool> step(const Ends& ends, uint64_t now_ns);
  bool is_finished(const Ends& ends) const;

 private:
  void stop_receives(const Ends& ends);

  std::vector<std::atomic<size_t>> limits_;  // by connection, of messages
  size_t most_messages_;
  std::atomic<bool> over_ = false;
  std::atomic<bool> ran_out_ = false;
  bool stopped_ = false;  // the receiving rank's thread
};

// One message at a time, there and back. The first side starts, and notes when each has come back.
class PingPongWork final : public Work {
 public:
  enum class Side : uint8_t { kFirst, kSecond };
  // `ends`: one sending and one receiving. `load` may be nullptr, and `load_ends` is then unused;
  // the first side ends it.
  PingPongWork(Side side, Ends ends, size_t round_trips, Load* load, Ends load_ends);

  Result<bool> step(uint64_t now_ns) override;
  bool is_finished() const override;
  // Of the first side, for each round trip.
  const std::vector<uint64_t>& round_trips_ns() const { return round_trips_ns_; }

 private:
  void note_arrivals(uint64_t now_ns);

  Side side_;
  Ends ends_;
  size_t round_trips_;
  Load* load_;
  Ends load_ends_;
  uint64_t last_arrival_ns_ = 0;
  size_t arrived_ = 0;
  std::vector<uint64_t> round_trips_ns_;
};

// Rounds over ends that have nothing to do: receives that nobody sends to, or sends that nobody
// receives.
class IdleWork final : public Work {
 public:
  // `limit`: messages the ends may start, of which the last cannot end.
  IdleWork(Ends ends, size_t limit, size_t rounds)
      : ends_(std::move(ends)), limit_(limit), rounds_(rounds) {}
  Result<bool> step(uint64_t now_ns) override;
  bool is_finished() const override { return done_ >= rounds_; }

 private:
  Ends ends_;
  size_t limit_;
  size_t rounds_;
  size_t done_ = 0;
};

}  // namespace rocelane::bench
