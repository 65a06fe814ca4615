#include "base/random.h"

#include <cerrno>

#include <fmt/format.h>
#include <sys/random.h>

namespace rocelane {

Status fill_random(std::span<std::byte> bytes) {
  size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = getrandom(bytes.data() + filled, bytes.size() - filled, 0);
    if (got < 0 && errno != EINTR) {
      return Error{ErrorCode::kSystem,
                   fmt::format("the kernel gave no random bytes (errno {}); a connection cannot be "
                               "protected without them",
                               errno)};
    }
    filled += got > 0 ? static_cast<size_t>(got) : 0;
  }
  return {};
}

}  // namespace rocelane
