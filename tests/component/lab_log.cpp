#include "lab_log.h"

#include <mutex>

#include "base/log.h"

namespace rocelane::test {
namespace {

std::mutex g_mutex;
std::vector<std::string> g_warnings;

void sink(LogLevel level, const char*, int, const char* message) {
  if (level == LogLevel::kWarn) {
    const std::lock_guard lock(g_mutex);
    g_warnings.emplace_back(message);
  }
}

}  // namespace

void collect_log() { set_log_sink(&sink); }

std::vector<std::string> take_warnings() {
  const std::lock_guard lock(g_mutex);
  return std::exchange(g_warnings, {});
}

}  // namespace rocelane::test
