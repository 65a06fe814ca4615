// stat() and its like, in front of the C library's.

#include <cstring>
#include <functional>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>

#include "softverbs/sysfs/judge.h"
#include "softverbs/sysfs/next.h"

namespace rocelane::softverbs {
namespace {

static_assert(sizeof(struct stat) == sizeof(struct stat64));

using Stat = int (*)(const char*, void*);
using StatAt = int (*)(int, const char*, void*, int);
using OldStat = int (*)(int, const char*, void*);
using OldStatAt = int (*)(int, int, const char*, void*, int);
using Statx = int (*)(int, const char*, int, unsigned, struct statx*);

constinit Next<Stat> next_stat{"stat"}, next_stat64{"stat64"}, next_lstat{"lstat"},
    next_lstat64{"lstat64"};
constinit Next<StatAt> next_fstatat{"fstatat"}, next_fstatat64{"fstatat64"};
constinit Next<OldStat> next_xstat{"__xstat", "GLIBC_2.2.5"},
    next_xstat64{"__xstat64", "GLIBC_2.2.5"}, next_lxstat{"__lxstat", "GLIBC_2.2.5"},
    next_lxstat64{"__lxstat64", "GLIBC_2.2.5"};
constinit Next<OldStatAt> next_fxstatat{"__fxstatat", "GLIBC_2.4"},
    next_fxstatat64{"__fxstatat64", "GLIBC_2.4"};
constinit Next<Statx> next_statx{"statx"};

constexpr int kPageBytes = 4096;  // what the kernel says of every attribute file's size

mode_t mode_of(const Node& node) {
  switch (node.kind()) {
    case NodeKind::kDirectory:
      return S_IFDIR | 0755;
    case NodeKind::kLink:
      return S_IFLNK | 0777;
    case NodeKind::kFile:
      break;
  }
  return S_IFREG | 0444;
}

ino_t inode_of(const Found& found) { return std::hash<std::string>{}(found.path) | 1; }

off_t size_of(const Node& node) { return node.kind() == NodeKind::kFile ? kPageBytes : 0; }

int describe(const Found& found, struct stat* facts) {
  *facts = {};
  facts->st_ino = inode_of(found);
  facts->st_mode = mode_of(found.node);
  facts->st_nlink = 1;
  facts->st_size = size_of(found.node);
  facts->st_blksize = kPageBytes;
  return 0;
}

int describe(const Found& found, struct statx* facts) {
  *facts = {};
  facts->stx_mask = STATX_TYPE | STATX_MODE | STATX_NLINK | STATX_INO | STATX_SIZE;
  facts->stx_blksize = kPageBytes;
  facts->stx_nlink = 1;
  facts->stx_mode = static_cast<uint16_t>(mode_of(found.node));
  facts->stx_ino = inode_of(found);
  facts->stx_size = static_cast<uint64_t>(size_of(found.node));
  return 0;
}

bool follows_last(int flags) { return (flags & AT_SYMLINK_NOFOLLOW) == 0; }

// `facts`: a struct stat, or a struct stat64, which is the same here.
template <class Theirs>
int stat_with(int folder, const char* path, bool follow_last, void* facts, Theirs theirs) {
  return answer(
      folder, path, follow_last, -1,
      [facts](const Found& found) { return describe(found, static_cast<struct stat*>(facts)); },
      theirs);
}

int stat_with(Next<Stat>& next, const char* path, bool follow_last, void* facts) {
  return stat_with(AT_FDCWD, path, follow_last, facts,
                   [&](int, const char* theirs) { return next.call(-1, theirs, facts); });
}

int stat_with(Next<StatAt>& next, int folder, const char* path, void* facts, int flags) {
  return stat_with(folder, path, follows_last(flags), facts, [&](int where, const char* theirs) {
    return next.call(-1, where, theirs, facts, flags);
  });
}

int stat_with(Next<OldStat>& next, int version, const char* path, bool follow_last, void* facts) {
  return stat_with(AT_FDCWD, path, follow_last, facts,
                   [&](int, const char* theirs) { return next.call(-1, version, theirs, facts); });
}

int stat_with(Next<OldStatAt>& next, int version, int folder, const char* path, void* facts,
              int flags) {
  return stat_with(folder, path, follows_last(flags), facts, [&](int where, const char* theirs) {
    return next.call(-1, version, where, theirs, facts, flags);
  });
}

}  // namespace
}  // namespace rocelane::softverbs

using namespace rocelane::softverbs;

SOFTVERBS_STANDS_IN int stat(const char* path, struct stat* facts) noexcept {
  return stat_with(next_stat, path, true, facts);
}

SOFTVERBS_STANDS_IN int stat64(const char* path, struct stat64* facts) noexcept {
  return stat_with(next_stat64, path, true, facts);
}

SOFTVERBS_STANDS_IN int lstat(const char* path, struct stat* facts) noexcept {
  return stat_with(next_lstat, path, false, facts);
}

SOFTVERBS_STANDS_IN int lstat64(const char* path, struct stat64* facts) noexcept {
  return stat_with(next_lstat64, path, false, facts);
}

SOFTVERBS_STANDS_IN int fstatat(int folder, const char* path, struct stat* facts,
                                int flags) noexcept {
  return stat_with(next_fstatat, folder, path, facts, flags);
}

SOFTVERBS_STANDS_IN int fstatat64(int folder, const char* path, struct stat64* facts,
                                  int flags) noexcept {
  return stat_with(next_fstatat64, folder, path, facts, flags);
}

// What programs call that were built before glibc 2.33; NCCL is one.
SOFTVERBS_STANDS_IN int __xstat(int version, const char* path, struct stat* facts) noexcept {
  return stat_with(next_xstat, version, path, true, facts);
}

SOFTVERBS_STANDS_IN int __xstat64(int version, const char* path, struct stat64* facts) noexcept {
  return stat_with(next_xstat64, version, path, true, facts);
}

SOFTVERBS_STANDS_IN int __lxstat(int version, const char* path, struct stat* facts) noexcept {
  return stat_with(next_lxstat, version, path, false, facts);
}

SOFTVERBS_STANDS_IN int __lxstat64(int version, const char* path, struct stat64* facts) noexcept {
  return stat_with(next_lxstat64, version, path, false, facts);
}

SOFTVERBS_STANDS_IN int __fxstatat(int version, int folder, const char* path, struct stat* facts,
                                   int flags) noexcept {
  return stat_with(next_fxstatat, version, folder, path, facts, flags);
}

SOFTVERBS_STANDS_IN int __fxstatat64(int version, int folder, const char* path,
                                     struct stat64* facts, int flags) noexcept {
  return stat_with(next_fxstatat64, version, folder, path, facts, flags);
}

SOFTVERBS_STANDS_IN int statx(int folder, const char* path, int flags, unsigned mask,
                              struct statx* facts) noexcept {
  return answer(
      folder, path, follows_last(flags), -1,
      [facts](const Found& found) { return describe(found, facts); },
      [=](int where, const char* theirs) {
        return next_statx.call(-1, where, theirs, flags, mask, facts);
      });
}
