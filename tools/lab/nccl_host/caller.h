#pragma once

// Calls into the plugin: watched, so that one that never returns is named, and measured.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "nccl_host/instruction_counter.h"
#include "nccl_plugin/common.h"

namespace rocelane::nccl_host {

// What an end's data path did. Written by the end's progress thread.
struct Meter {
  uint64_t messages = 0;  // that are done
  uint64_t bytes = 0;     // that arrived with them
  uint64_t starts = 0;    // isend or irecv
  uint64_t refusals = 0;  // of these, "not now"
  uint64_t flushes = 0;
  uint64_t tests = 0;
  uint64_t empty_tests = 0;  // of these, "not yet"
  uint64_t call_ns = 0;      // in all of these calls
  uint64_t instructions = 0;

  Meter& operator+=(const Meter& other);
  friend Meter operator-(Meter a, const Meter& b);
};

// One of NCCL's threads as the plugin sees them. Used by one thread at a time.
class Caller {
 public:
  explicit Caller(std::string who) : who_(std::move(who)) {}

  // "rank 3's progress thread"
  const std::string& who() const { return who_; }

  // `call` must be a literal.
  template <class Function>
  NcclResult call(const char* call, Function&& function) {
    const InCall in_call(*this, call);
    return std::forward<Function>(function)();
  }

  // Whether `measured` measures. Two looks at the clock and two at the counter are a good part of
  // what a small message costs.
  void set_metering(bool on) { metering_ = on; }

  template <class Function>
  NcclResult measured(Meter& meter, const char* call, Function&& function) {
    const InCall in_call(*this, call);
    if (!metering_) {
      return std::forward<Function>(function)();
    }
    const InstructionCounter& counter = InstructionCounter::of_this_thread();
    const uint64_t instructions = counter.read();
    const auto start = std::chrono::steady_clock::now();
    const NcclResult result = std::forward<Function>(function)();
    const auto end = std::chrono::steady_clock::now();
    const uint64_t counted = counter.read() - instructions;
    meter.call_ns += static_cast<uint64_t>((end - start).count());
    meter.instructions +=
        counted > counter.cost_of_reading() ? counted - counter.cost_of_reading() : 0;
    return result;
  }

  // For the watch, from any thread. Odd: inside the call of this number.
  uint64_t sequence() const { return sequence_.load(std::memory_order_acquire); }
  const char* last_call() const { return call_.load(std::memory_order_relaxed); }

 private:
  class InCall {
   public:
    InCall(Caller& caller, const char* call) : caller_(caller) {
      caller_.call_.store(call, std::memory_order_relaxed);
      caller_.sequence_.fetch_add(1, std::memory_order_release);
    }
    InCall(const InCall&) = delete;
    InCall& operator=(const InCall&) = delete;
    ~InCall() { caller_.sequence_.fetch_add(1, std::memory_order_release); }

   private:
    Caller& caller_;
  };

  std::string who_;
  bool metering_ = true;
  std::atomic<uint64_t> sequence_ = 0;
  std::atomic<const char*> call_ = "";
};

}  // namespace rocelane::nccl_host
