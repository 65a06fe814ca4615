#include "softverbs/segment/process_table.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "softverbs/segment/run.h"

namespace rocelane::softverbs {
namespace {

// When the process was started, in ticks since boot; 0 when it has ended. Fields are counted behind
// the name, which may hold blanks: the first is the state, the 20th the time.
uint64_t start_time(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(file, text);
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) {
    return 0;
  }
  std::istringstream rest(text.substr(name_end + 1));
  std::string field;
  rest >> field;
  if (field == "Z" || field == "X") {
    return 0;
  }
  constexpr int kTimeField = 20;
  for (int i = 1; i < kTimeField && rest >> field; ++i) {
  }
  return field.empty() ? 0 : std::strtoull(field.c_str(), nullptr, 10);
}

bool is_dead(const Process& process) {
  return (::kill(process.pid, 0) != 0 && errno == ESRCH) ||
         start_time(process.pid) != process.started;
}

}  // namespace

uint32_t claim_process(Run& run) {
  Header& header = run.header();
  Process* slots = run.at(header.processes);
  const uint32_t slot = run.claim(header.process_table, header.processes, kMostProcesses);
  if (slot != kNone) {
    slots[slot].pid = ::getpid();
    slots[slot].started = start_time(::getpid());
    slots[slot].use.store(Use::kLive);
  }
  return slot;
}

void reap_dead_processes(Run& run) {
  const uint32_t high = std::min(run.header().process_table.high.load(), kMostProcesses);
  for (uint32_t slot = 0; slot < high; ++slot) {
    Process& process = run.process_slot(slot);
    if (process.use.load() == Use::kLive && is_dead(process)) {
      Use live = Use::kLive;
      if (process.use.compare_exchange_strong(live, Use::kClaimed)) {
        reap(run, slot);
      }
    }
  }
}

void reap_now_and_then(Run& run) {
  constexpr uint64_t kPauseNs = 100'000'000;
  std::atomic<uint64_t>& next_ns = run.header().next_reap_ns;
  uint64_t due_ns = next_ns.load(std::memory_order_relaxed);
  const uint64_t now_ns = run.now_ns();
  if (now_ns >= due_ns && next_ns.compare_exchange_strong(due_ns, now_ns + kPauseNs)) {
    reap_dead_processes(run);
  }
}

}  // namespace rocelane::softverbs
