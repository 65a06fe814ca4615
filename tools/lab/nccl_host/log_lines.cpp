#include "nccl_host/log_lines.h"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <deque>
#include <mutex>
#include <utility>

#include <fmt/format.h>

namespace rocelane::nccl_host {
namespace {

constexpr size_t kMostLines = 10000;

struct Collection {
  std::mutex mutex;  // the plugin's own threads log too
  bool show = false;
  std::deque<LogLine> lines;
};

// Never destroyed: a plugin may log while the process exits.
Collection& collection() {
  static auto* const only = new Collection;
  return *only;
}

[[gnu::format(printf, 5, 6)]] void collect(NcclLogLevel level, unsigned long flags,
                                           const char* /*file*/, int /*line*/, const char* format,
                                           ...) {
  std::array<char, 2048> text{};
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  LogLine line{level, flags, text.data()};
  Collection& all = collection();
  const std::lock_guard lock(all.mutex);
  if (all.show) {
    fmt::print(stderr, "{}\n", log_line_text(line));
  }
  all.lines.push_back(std::move(line));
  if (all.lines.size() > kMostLines) {
    all.lines.pop_front();
  }
}

}  // namespace

NcclLogFunction log_function() { return collect; }

void show_log_lines(bool show) {
  const std::lock_guard lock(collection().mutex);
  collection().show = show;
}

std::vector<LogLine> take_log_lines() {
  Collection& all = collection();
  const std::lock_guard lock(all.mutex);
  std::vector<LogLine> taken(std::make_move_iterator(all.lines.begin()),
                             std::make_move_iterator(all.lines.end()));
  all.lines.clear();
  return taken;
}

std::string log_line_text(const LogLine& line) {
  static constexpr std::array kLevels{"NONE", "VERSION", "WARN", "INFO", "ABORT", "TRACE"};
  const auto level = static_cast<size_t>(line.level);
  return fmt::format("{} {}", level < kLevels.size() ? kLevels[level] : "?", line.text);
}

}  // namespace rocelane::nccl_host
