#include "softverbs/sysfs/handle.h"

#include <array>
#include <cerrno>
#include <climits>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace rocelane::softverbs {
namespace {

constexpr std::string_view kMark = "softverbs:";

int fail(int error) {
  errno = error;
  return -1;
}

int close_and_fail(int descriptor, int error) {
  ::close(descriptor);
  return fail(error);
}

bool write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno != EINTR) {
      return false;
    }
    content.remove_prefix(written > 0 ? static_cast<size_t>(written) : 0);
  }
  return true;
}

int open_content(const std::string& path, std::string_view content, int flags) {
  const unsigned close_on_exec = (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0U;
  const std::string name = std::string(kMark) + path;
  const int descriptor = ::memfd_create(name.c_str(), MFD_ALLOW_SEALING | close_on_exec);
  if (descriptor < 0) {
    return fail(errno == EINVAL ? ENAMETOOLONG : errno);
  }
  constexpr int kSeals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  if (!write_all(descriptor, content) || ::lseek(descriptor, 0, SEEK_SET) != 0 ||
      ::fcntl(descriptor, F_ADD_SEALS, kSeals) != 0) {
    return close_and_fail(descriptor, errno);
  }
  return descriptor;
}

// Reading an epoll descriptor fails with EINVAL: the only error that files of the kernel's here
// give.
int open_unreadable(int flags) {
  return ::epoll_create1((flags & O_CLOEXEC) != 0 ? EPOLL_CLOEXEC : 0);
}

}  // namespace

int open_node(const Found& found, int flags) {
  const NodeKind kind = found.node.kind();
  if ((flags & O_CREAT) != 0 && (flags & O_EXCL) != 0) {
    return fail(EEXIST);
  }
  if (kind == NodeKind::kLink) {
    return fail(ELOOP);
  }
  if ((flags & O_ACCMODE) != O_RDONLY) {
    return fail(kind == NodeKind::kDirectory ? EISDIR : EACCES);
  }
  const auto* file = std::get_if<File>(&found.node.is);
  if (file == nullptr) {
    return open_content(found.path, "", flags);
  }
  if ((flags & O_DIRECTORY) != 0) {
    return fail(ENOTDIR);
  }
  return file->read_error != 0 ? open_unreadable(flags)
                               : open_content(found.path, file->content, flags);
}

std::string path_of_handle(int descriptor) {
  constexpr std::string_view kBefore = "/memfd:";
  constexpr std::string_view kAfter = " (deleted)";
  const int kept = errno;
  const std::string link = fmt::format("/proc/self/fd/{}", descriptor);
  std::array<char, PATH_MAX> target{};
  // Not readlink(): that is one of the functions we stand in front of.
  const long length =
      ::syscall(SYS_readlinkat, AT_FDCWD, link.c_str(), target.data(), target.size());
  errno = kept;
  std::string_view text(target.data(), length > 0 ? static_cast<size_t>(length) : 0);
  if (!text.starts_with(kBefore) || !text.substr(kBefore.size()).starts_with(kMark)) {
    return {};
  }
  text.remove_prefix(kBefore.size() + kMark.size());
  if (text.ends_with(kAfter)) {
    text.remove_suffix(kAfter.size());
  }
  return std::string(text);
}

}  // namespace rocelane::softverbs
