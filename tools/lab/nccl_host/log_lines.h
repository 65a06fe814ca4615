#pragma once

// The log function a plugin gets from us in NCCL's place, and what it said.

#include <string>
#include <vector>

#include "nccl_plugin/common.h"

namespace rocelane::nccl_host {

struct LogLine {
  NcclLogLevel level = kNcclLogInfo;
  unsigned long flags = 0;
  std::string text;
};

// One for the process, because NCCL's log function has no argument of its caller's. Any thread.
NcclLogFunction log_function();
// As they come, on standard error too.
void show_log_lines(bool show);
// Takes what was collected; the oldest lines of very many are lost.
std::vector<LogLine> take_log_lines();

// "WARN text"
std::string log_line_text(const LogLine& line);

}  // namespace rocelane::nccl_host
