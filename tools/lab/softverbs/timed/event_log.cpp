#include "softverbs/timed/event_log.h"

#include <atomic>

#include <fmt/format.h>

#include "softverbs/timed/bursts.h"

namespace rocelane::softverbs::timed {
namespace {

// Both are set together, while nothing runs.
std::atomic<LogLine> log_line{nullptr};
std::atomic<void*> log_user{nullptr};

template <class... Args>
void write(Run& run, fmt::format_string<Args...> format, Args&&... args) {
  if (const LogLine line = log_line.load(std::memory_order_acquire)) {
    const std::string text =
        fmt::format("{} ", run.now_ns()) + fmt::format(format, std::forward<Args>(args)...);
    line(log_user.load(), text.c_str());
  }
}

const char* kind_of(const Burst& burst) {
  switch (burst.kind) {
    case Burst::Kind::kData:
      return "data";
    case Burst::Kind::kReadRequest:
      return "read-request";
    case Burst::Kind::kReadData:
      return "read-data";
    case Burst::Kind::kAcknowledgement:
      return "acknowledgement";
    case Burst::Kind::kRefusal:
      return "refusal";
  }
  return "?";
}

}  // namespace

void set_event_log(LogLine line, void* user) {
  log_user.store(user);
  log_line.store(line, std::memory_order_release);
}

void log_burst(Run& run, const char* what, const Burst& burst) {
  if (log_line.load(std::memory_order_relaxed) != nullptr) {
    write(run, "{} {} from {} to {} psn {} bytes {} offset {} hop {}", what, kind_of(burst),
          burst.from_number, burst.to_number, burst.psn, burst.payload_bytes, burst.fragment.offset,
          burst.hop);
  }
}

void log_queue_pair(Run& run, const char* what, uint32_t slot) {
  if (log_line.load(std::memory_order_relaxed) != nullptr) {
    const QueuePair& pair = run.queue_pair(slot);
    write(run, "{} queue pair {} completed {} of {}", what, pair.number, pair.completed.load(),
          pair.posted.load());
  }
}

void log_fault(Run& run, const char* what, uint32_t fault) {
  write(run, "{} fault {} of line {}", what, fault, run.faults().faults[fault].line);
}

}  // namespace rocelane::softverbs::timed
