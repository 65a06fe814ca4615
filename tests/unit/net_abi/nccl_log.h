#pragma once

// Stands where NCCL's log function stands and keeps what it was told.

#include <cstdarg>
#include <cstdio>
#include <string>
#include <vector>

#include "net/abi/log_bridge.h"

namespace rocelane::net::abi {

struct NcclLine {
  NcclLogLevel level;
  unsigned long flags;
  std::string file;
  std::string text;
};

class NcclLog {
 public:
  NcclLog() {
    lines().clear();
    send_logs_to(&NcclLog::log);
  }
  ~NcclLog() { send_logs_to(nullptr); }
  NcclLog(const NcclLog&) = delete;
  NcclLog& operator=(const NcclLog&) = delete;

  static std::vector<NcclLine>& lines() {
    static std::vector<NcclLine> kept;
    return kept;
  }

 private:
  [[gnu::format(printf, 5, 6)]] static void log(NcclLogLevel level, unsigned long flags,
                                                const char* file, int /*line*/, const char* format,
                                                ...) {
    std::string text(4096, '\0');
    va_list arguments;
    va_start(arguments, format);
    const int length = std::vsnprintf(text.data(), text.size(), format, arguments);
    va_end(arguments);
    text.resize(static_cast<size_t>(length));
    lines().push_back({level, flags, file, text});
  }
};

}  // namespace rocelane::net::abi
