// realpath(), readlink(), access() and their like, in front of the C library's.

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "softverbs/sysfs/judge.h"
#include "softverbs/sysfs/next.h"

namespace rocelane::softverbs {
namespace {

using Realpath = char* (*)(const char*, char*);
using RealpathChecked = char* (*)(const char*, char*, size_t);
using Readlink = ssize_t (*)(const char*, char*, size_t);
using ReadlinkChecked = ssize_t (*)(const char*, char*, size_t, size_t);
using ReadlinkAt = ssize_t (*)(int, const char*, char*, size_t);
using Access = int (*)(const char*, int);
using AccessAt = int (*)(int, const char*, int, int);

constinit Next<Realpath> next_realpath{"realpath", "GLIBC_2.3"};
constinit Next<RealpathChecked> next_realpath_checked{"__realpath_chk"};
constinit Next<Readlink> next_readlink{"readlink"};
constinit Next<ReadlinkChecked> next_readlink_checked{"__readlink_chk"};
constinit Next<ReadlinkAt> next_readlinkat{"readlinkat"};
constinit Next<Access> next_access{"access"};
constinit Next<AccessAt> next_faccessat{"faccessat"};

char* const kNoPath = nullptr;

char* give_path(const std::string& path, char* buffer) {
  if (path.size() >= PATH_MAX) {
    errno = ENAMETOOLONG;
    return nullptr;
  }
  if (buffer == nullptr) {
    return ::strdup(path.c_str());
  }
  return static_cast<char*>(std::memcpy(buffer, path.c_str(), path.size() + 1));
}

ssize_t give_target(const Found& found, char* buffer, size_t capacity) {
  const auto* link = std::get_if<SymbolicLink>(&found.node.is);
  if (link == nullptr) {
    errno = EINVAL;
    return -1;
  }
  const size_t length = std::min(link->target.size(), capacity);
  std::memcpy(buffer, link->target.data(), length);
  return static_cast<ssize_t>(length);
}

int allow(const Found& found, int mode) {
  const bool may_enter = found.node.kind() == NodeKind::kDirectory;
  if ((mode & W_OK) != 0 || ((mode & X_OK) != 0 && !may_enter)) {
    errno = EACCES;
    return -1;
  }
  return 0;
}

}  // namespace
}  // namespace rocelane::softverbs

using namespace rocelane::softverbs;

SOFTVERBS_STANDS_IN char* realpath(const char* path, char* buffer) noexcept {
  return answer(
      AT_FDCWD, path, true, kNoPath,
      [buffer](const Found& found) { return give_path(found.path, buffer); },
      [buffer](int, const char* theirs) { return next_realpath.call(kNoPath, theirs, buffer); });
}

SOFTVERBS_STANDS_IN char* __realpath_chk(const char* path, char* buffer, size_t capacity) noexcept {
  return answer(
      AT_FDCWD, path, true, kNoPath,
      [buffer, capacity](const Found& found) {
        if (buffer != nullptr && found.path.size() >= capacity) {
          std::abort();  // as the C library does
        }
        return give_path(found.path, buffer);
      },
      [buffer, capacity](int, const char* theirs) {
        return next_realpath_checked.call(kNoPath, theirs, buffer, capacity);
      });
}

SOFTVERBS_STANDS_IN ssize_t readlink(const char* path, char* buffer, size_t capacity) noexcept {
  return answer(
      AT_FDCWD, path, false, ssize_t{-1},
      [=](const Found& found) { return give_target(found, buffer, capacity); },
      [=](int, const char* theirs) {
        return next_readlink.call(ssize_t{-1}, theirs, buffer, capacity);
      });
}

SOFTVERBS_STANDS_IN ssize_t __readlink_chk(const char* path, char* buffer, size_t capacity,
                                           size_t buffer_bytes) noexcept {
  return answer(
      AT_FDCWD, path, false, ssize_t{-1},
      [=](const Found& found) {
        return give_target(found, buffer, std::min(capacity, buffer_bytes));
      },
      [=](int, const char* theirs) {
        return next_readlink_checked.call(ssize_t{-1}, theirs, buffer, capacity, buffer_bytes);
      });
}

SOFTVERBS_STANDS_IN ssize_t readlinkat(int folder, const char* path, char* buffer,
                                       size_t capacity) noexcept {
  return answer(
      folder, path, false, ssize_t{-1},
      [=](const Found& found) { return give_target(found, buffer, capacity); },
      [=](int where, const char* theirs) {
        return next_readlinkat.call(ssize_t{-1}, where, theirs, buffer, capacity);
      });
}

SOFTVERBS_STANDS_IN int access(const char* path, int mode) noexcept {
  return answer(
      AT_FDCWD, path, true, -1, [mode](const Found& found) { return allow(found, mode); },
      [mode](int, const char* theirs) { return next_access.call(-1, theirs, mode); });
}

SOFTVERBS_STANDS_IN int faccessat(int folder, const char* path, int mode, int flags) noexcept {
  return answer(
      folder, path, (flags & AT_SYMLINK_NOFOLLOW) == 0, -1,
      [mode](const Found& found) { return allow(found, mode); },
      [=](int where, const char* theirs) {
        return next_faccessat.call(-1, where, theirs, mode, flags);
      });
}
