#pragma once

#include <cstdint>
#include <source_location>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace rocelane {

enum class LogLevel : uint8_t {
  kWarn,   // a person has to know: shown by NCCL at its default level
  kInfo,   // what was chosen and why: shown with NCCL_DEBUG=INFO
  kTrace,  // for developers
};

// Receives finished lines. Called from any thread; must not throw and must not call back into us.
using LogSink = void (*)(LogLevel level, const char* file, int line, const char* message);

// Process-wide; nullptr drops everything. Thread-safe.
void set_log_sink(LogSink sink);
void log_message(LogLevel level, const std::source_location& where, std::string_view message);

// A format string that remembers where it was written.
template <class... Args>
struct FormatHere {
  template <class Text>
  consteval FormatHere(const Text& text,
                       std::source_location location = std::source_location::current())
      : format(text), where(location) {}
  fmt::format_string<Args...> format;
  std::source_location where;
};

template <class... Args>
void log_at(LogLevel level, const std::source_location& where, fmt::format_string<Args...> format,
            Args&&... args) {
  log_message(level, where, fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
void log_warn(FormatHere<std::type_identity_t<Args>...> text, Args&&... args) {
  log_at(LogLevel::kWarn, text.where, text.format, std::forward<Args>(args)...);
}

template <class... Args>
void log_info(FormatHere<std::type_identity_t<Args>...> text, Args&&... args) {
  log_at(LogLevel::kInfo, text.where, text.format, std::forward<Args>(args)...);
}

template <class... Args>
void log_trace(FormatHere<std::type_identity_t<Args>...> text, Args&&... args) {
  log_at(LogLevel::kTrace, text.where, text.format, std::forward<Args>(args)...);
}

}  // namespace rocelane
