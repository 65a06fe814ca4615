#include "net/abi/log_bridge.h"

#include <atomic>
#include <cstring>

namespace rocelane::net::abi {
namespace {

std::atomic<NcclLogFunction> g_log{nullptr};

const char* base_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

struct NcclLine {
  NcclLogLevel level;
  unsigned long flags;
};

// NCCL filters warnings by subsystem too, and its default set has no NET: a warning must carry
// every flag and a choice INIT, or nobody sees them.
NcclLine nccl_line(LogLevel level) {
  switch (level) {
    case LogLevel::kWarn:
      return {kNcclLogWarn, kNcclLogAll};
    case LogLevel::kInfo:
      return {kNcclLogInfo, kNcclLogInit | kNcclLogNet};
    case LogLevel::kTrace:
      break;
  }
  return {kNcclLogTrace, kNcclLogNet};
}

void pass_on(LogLevel level, const char* file, int line, const char* message) {
  const NcclLogFunction log = g_log.load(std::memory_order_acquire);
  if (log == nullptr) {
    return;
  }
  const NcclLine target = nccl_line(level);
  log(target.level, target.flags, base_name(file), line, "NET/Rocelane : %s", message);
}

}  // namespace

void send_logs_to(NcclLogFunction log) {
  g_log.store(log, std::memory_order_release);
  set_log_sink(log == nullptr ? nullptr : &pass_on);
}

void warn_without_memory(const char* call, const char* problem) noexcept {
  const NcclLogFunction log = g_log.load(std::memory_order_acquire);
  if (log != nullptr) {
    log(kNcclLogWarn, kNcclLogAll, base_name(__FILE__), __LINE__, "NET/Rocelane : %s %s", call,
        problem);
  }
}

}  // namespace rocelane::net::abi
