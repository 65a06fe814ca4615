#include "report.h"

#include <string>

#include <unistd.h>

namespace rocelane::lab {

void report(std::string_view sentence) {
  std::string line = "emulated GPU: ";
  line += sentence;
  line += '\n';
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace rocelane::lab
