#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_descriptor.h"
#include "base/settings_file.h"
#include "base/settings_names.h"

namespace rocelane {
namespace {

constexpr size_t kMostBytes = 64 << 10;  // the example with every setting has a tenth

Error refusal(const std::string& path, std::string_view why) {
  return {ErrorCode::kSystem, fmt::format("{} {}", shown(path), why)};
}

Error refusal_of_kernel(const std::string& path, std::string_view what) {
  return refusal(path, fmt::format("cannot be {}: {}", what, std::strerror(errno)));
}

}  // namespace

Result<std::string> read_text_file(const std::string& path) {
  // O_NONBLOCK: opening a pipe that nobody writes to would wait for ever.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) {
    return refusal_of_kernel(path, "opened");
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) {
    return refusal_of_kernel(path, "examined");
  }
  if (!S_ISREG(status.st_mode)) {
    return refusal(path, "is not a file of text");
  }
  std::string text;
  std::array<char, 4096> chunk{};
  while (text.size() <= kMostBytes) {
    const ssize_t got = ::read(file.get(), chunk.data(), chunk.size());
    if (got == 0) {
      return text;
    }
    if (got > 0) {
      text.append(chunk.data(), static_cast<size_t>(got));
    } else if (errno != EINTR) {
      return refusal_of_kernel(path, "read");
    }
  }
  return refusal(path, fmt::format("has more than {} bytes", kMostBytes));
}

}  // namespace rocelane
