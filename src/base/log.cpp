#include "base/log.h"

#include <atomic>
#include <string>

namespace rocelane {
namespace {
std::atomic<LogSink> g_sink{nullptr};
}  // namespace

void set_log_sink(LogSink sink) { g_sink.store(sink, std::memory_order_release); }

void log_message(LogLevel level, const std::source_location& where, std::string_view message) {
  const LogSink sink = g_sink.load(std::memory_order_acquire);
  if (sink == nullptr) {
    return;
  }
  const std::string line(message);
  sink(level, where.file_name(), static_cast<int>(where.line()), line.c_str());
}

}  // namespace rocelane
