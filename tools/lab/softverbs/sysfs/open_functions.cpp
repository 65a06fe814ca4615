// open() and its like, in front of the C library's.

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "softverbs/sysfs/handle.h"
#include "softverbs/sysfs/judge.h"
#include "softverbs/sysfs/next.h"

namespace rocelane::softverbs {
namespace {

using Open = int (*)(const char*, int, ...);
using OpenAt = int (*)(int, const char*, int, ...);
using Fopen = FILE* (*)(const char*, const char*);

constinit Next<Open> next_open{"open"}, next_open64{"open64"}, next_open_2{"__open_2"},
    next_open64_2{"__open64_2"};
constinit Next<OpenAt> next_openat{"openat"}, next_openat64{"openat64"},
    next_openat_2{"__openat_2"}, next_openat64_2{"__openat64_2"};
constinit Next<Fopen> next_fopen{"fopen"}, next_fopen64{"fopen64"};

bool follows_last(int flags) {
  return (flags & O_NOFOLLOW) == 0 && !((flags & O_CREAT) != 0 && (flags & O_EXCL) != 0);
}

int open_with(Next<Open>& next, const char* path, int flags, mode_t mode) {
  return answer(
      AT_FDCWD, path, follows_last(flags), -1,
      [flags](const Found& found) { return open_node(found, flags); },
      [&](int, const char* theirs) { return next.call(-1, theirs, flags, mode); });
}

int openat_with(Next<OpenAt>& next, int folder, const char* path, int flags, mode_t mode) {
  return answer(
      folder, path, follows_last(flags), -1,
      [flags](const Found& found) { return open_node(found, flags); },
      [&](int where, const char* theirs) { return next.call(-1, where, theirs, flags, mode); });
}

FILE* open_stream(const Found& found, const char* mode) {
  if (mode[0] != 'r' || std::strchr(mode, '+') != nullptr) {
    errno = EACCES;
    return nullptr;
  }
  const int flags = O_RDONLY | (std::strchr(mode, 'e') != nullptr ? O_CLOEXEC : 0);
  const int descriptor = open_node(found, flags);
  if (descriptor < 0) {
    return nullptr;
  }
  FILE* stream = ::fdopen(descriptor, "r");
  if (stream == nullptr) {
    ::close(descriptor);
    errno = ENOMEM;
  }
  return stream;
}

FILE* fopen_with(Next<Fopen>& next, const char* path, const char* mode) {
  return answer(
      AT_FDCWD, path, true, static_cast<FILE*>(nullptr),
      [mode](const Found& found) { return open_stream(found, mode); },
      [&](int, const char* theirs) {
        return next.call(static_cast<FILE*>(nullptr), theirs, mode);
      });
}

bool takes_mode(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

}  // namespace
}  // namespace rocelane::softverbs

using namespace rocelane::softverbs;

#define MODE_AFTER(flags)        \
  mode_t mode = 0;               \
  if (takes_mode(flags)) {       \
    va_list more;                \
    va_start(more, flags);       \
    mode = va_arg(more, mode_t); \
    va_end(more);                \
  }

SOFTVERBS_STANDS_IN int open(const char* path, int flags, ...) {
  MODE_AFTER(flags)
  return open_with(next_open, path, flags, mode);
}

SOFTVERBS_STANDS_IN int open64(const char* path, int flags, ...) {
  MODE_AFTER(flags)
  return open_with(next_open64, path, flags, mode);
}

SOFTVERBS_STANDS_IN int openat(int folder, const char* path, int flags, ...) {
  MODE_AFTER(flags)
  return openat_with(next_openat, folder, path, flags, mode);
}

SOFTVERBS_STANDS_IN int openat64(int folder, const char* path, int flags, ...) {
  MODE_AFTER(flags)
  return openat_with(next_openat64, folder, path, flags, mode);
}

// What programs call that were built with _FORTIFY_SOURCE.
SOFTVERBS_STANDS_IN int __open_2(const char* path, int flags) {
  return open_with(next_open_2, path, flags, 0);
}

SOFTVERBS_STANDS_IN int __open64_2(const char* path, int flags) {
  return open_with(next_open64_2, path, flags, 0);
}

SOFTVERBS_STANDS_IN int __openat_2(int folder, const char* path, int flags) {
  return openat_with(next_openat_2, folder, path, flags, 0);
}

SOFTVERBS_STANDS_IN int __openat64_2(int folder, const char* path, int flags) {
  return openat_with(next_openat64_2, folder, path, flags, 0);
}

SOFTVERBS_STANDS_IN FILE* fopen(const char* path, const char* mode) {
  return fopen_with(next_fopen, path, mode);
}

SOFTVERBS_STANDS_IN FILE* fopen64(const char* path, const char* mode) {
  return fopen_with(next_fopen64, path, mode);
}
