// opendir() and its like, in front of the C library's.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "softverbs/sysfs/handle.h"
#include "softverbs/sysfs/judge.h"
#include "softverbs/sysfs/next.h"

namespace rocelane::softverbs {
namespace {

static_assert(sizeof(dirent) == sizeof(dirent64));

// What a program holds as a DIR* when the directory is ours. It is told from the C library's by how
// it begins: that one begins with a descriptor, which is never negative.
constexpr uint64_t kMark = 0xFFFFFFFF'736F6674;

struct Listing {
  uint64_t mark = kMark;
  int descriptor = -1;
  size_t next = 0;
  std::vector<dirent> entries;
};

using Opendir = DIR* (*)(const char*);
using Fdopendir = DIR* (*)(int);
using Readdir = dirent* (*)(DIR*);
using Readdir64 = dirent64* (*)(DIR*);
using OfStream = int (*)(DIR*);
using Rewind = void (*)(DIR*);
using Tell = long (*)(DIR*);
using Seek = void (*)(DIR*, long);
using Filter = int (*)(const dirent*);
using Compare = int (*)(const dirent**, const dirent**);
using Scandir = int (*)(const char*, dirent***, Filter, Compare);
using Filter64 = int (*)(const dirent64*);
using Compare64 = int (*)(const dirent64**, const dirent64**);
using Scandir64 = int (*)(const char*, dirent64***, Filter64, Compare64);

constinit Next<Opendir> next_opendir{"opendir"};
constinit Next<Fdopendir> next_fdopendir{"fdopendir"};
constinit Next<Readdir> next_readdir{"readdir"};
constinit Next<Readdir64> next_readdir64{"readdir64"};
constinit Next<OfStream> next_closedir{"closedir"}, next_dirfd{"dirfd"};
constinit Next<Rewind> next_rewinddir{"rewinddir"};
constinit Next<Tell> next_telldir{"telldir"};
constinit Next<Seek> next_seekdir{"seekdir"};
constinit Next<Scandir> next_scandir{"scandir"};
constinit Next<Scandir64> next_scandir64{"scandir64"};

DIR* const kNoStream = nullptr;

// nullptr: the C library's.
Listing* ours(DIR* stream) {
  uint64_t mark = 0;
  std::memcpy(&mark, stream, sizeof mark);
  return mark == kMark ? reinterpret_cast<Listing*>(stream) : nullptr;
}

unsigned char type_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::kDirectory:
      return DT_DIR;
    case NodeKind::kLink:
      return DT_LNK;
    case NodeKind::kFile:
      break;
  }
  return DT_REG;
}

dirent entry(const std::string& path, const std::string& name, NodeKind kind, size_t place) {
  dirent result{};
  result.d_ino = std::hash<std::string>{}(path + "/" + name) | 1;
  result.d_off = static_cast<off_t>(place + 1);
  result.d_reclen = sizeof result;
  result.d_type = type_of(kind);
  std::memcpy(result.d_name, name.c_str(), std::min(name.size(), sizeof result.d_name - 1));
  return result;
}

std::vector<dirent> entries_of(const std::string& path, const Directory& directory) {
  std::vector<dirent> entries;
  entries.push_back(entry(path, ".", NodeKind::kDirectory, 0));
  entries.push_back(entry(path, "..", NodeKind::kDirectory, 1));
  for (const Child& child : directory.children) {
    entries.push_back(entry(path, child.name, child.kind, entries.size()));
  }
  return entries;
}

const Directory* as_directory(const Found& found) {
  const auto* directory = std::get_if<Directory>(&found.node.is);
  if (directory == nullptr) {
    errno = ENOTDIR;
  }
  return directory;
}

// Takes `descriptor`, which is the directory's.
DIR* listing_of(const Found& found, int descriptor) {
  const Directory* directory = as_directory(found);
  if (directory == nullptr) {
    return nullptr;
  }
  auto listing = std::make_unique<Listing>();
  listing->entries = entries_of(found.path, *directory);
  listing->descriptor = descriptor;
  return reinterpret_cast<DIR*>(listing.release());
}

DIR* open_listing(const Found& found) {
  const int descriptor = open_node(found, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* stream = descriptor >= 0 ? listing_of(found, descriptor) : nullptr;
  if (stream == nullptr && descriptor >= 0) {
    ::close(descriptor);
  }
  return stream;
}

dirent* next_entry(Listing& listing) {
  return listing.next < listing.entries.size() ? &listing.entries[listing.next++] : nullptr;
}

void free_entries(std::vector<dirent*>& entries) {
  for (dirent* each : entries) {
    std::free(each);
  }
}

// As scandir() gives them: every entry, and their array, allocated with malloc.
int give_entries(std::vector<dirent*>& chosen, dirent*** list, Compare compare) {
  auto** array =
      static_cast<dirent**>(std::malloc(std::max<size_t>(1, chosen.size()) * sizeof(dirent*)));
  if (array == nullptr) {
    free_entries(chosen);
    errno = ENOMEM;
    return -1;
  }
  if (compare != nullptr) {
    std::ranges::sort(chosen,
                      [compare](const dirent* a, const dirent* b) { return compare(&a, &b) < 0; });
  }
  std::ranges::copy(chosen, array);
  *list = array;
  return static_cast<int>(chosen.size());
}

int scan(const Found& found, dirent*** list, Filter wanted, Compare compare) {
  const Directory* directory = as_directory(found);
  if (directory == nullptr) {
    return -1;
  }
  std::vector<dirent*> chosen;
  for (const dirent& each : entries_of(found.path, *directory)) {
    if (wanted != nullptr && wanted(&each) == 0) {
      continue;
    }
    auto* copy = static_cast<dirent*>(std::malloc(sizeof(dirent)));
    if (copy == nullptr) {
      free_entries(chosen);
      errno = ENOMEM;
      return -1;
    }
    *copy = each;
    chosen.push_back(copy);
  }
  return give_entries(chosen, list, compare);
}

}  // namespace
}  // namespace rocelane::softverbs

using namespace rocelane::softverbs;

SOFTVERBS_STANDS_IN DIR* opendir(const char* path) {
  return answer(
      AT_FDCWD, path, true, kNoStream, [](const Found& found) { return open_listing(found); },
      [](int, const char* theirs) { return next_opendir.call(kNoStream, theirs); });
}

SOFTVERBS_STANDS_IN DIR* fdopendir(int descriptor) {
  return answer(
      descriptor, "", true, kNoStream,
      [descriptor](const Found& found) { return listing_of(found, descriptor); },
      [](int folder, const char*) { return next_fdopendir.call(kNoStream, folder); });
}

SOFTVERBS_STANDS_IN dirent* readdir(DIR* stream) {
  Listing* listing = ours(stream);
  return listing != nullptr ? next_entry(*listing)
                            : next_readdir.call(static_cast<dirent*>(nullptr), stream);
}

SOFTVERBS_STANDS_IN dirent64* readdir64(DIR* stream) {
  Listing* listing = ours(stream);
  return listing != nullptr ? reinterpret_cast<dirent64*>(next_entry(*listing))
                            : next_readdir64.call(static_cast<dirent64*>(nullptr), stream);
}

SOFTVERBS_STANDS_IN int closedir(DIR* stream) {
  const std::unique_ptr<Listing> listing(ours(stream));
  return listing != nullptr ? ::close(listing->descriptor) : next_closedir.call(-1, stream);
}

SOFTVERBS_STANDS_IN int dirfd(DIR* stream) noexcept {
  const Listing* listing = ours(stream);
  return listing != nullptr ? listing->descriptor : next_dirfd.call(-1, stream);
}

SOFTVERBS_STANDS_IN void rewinddir(DIR* stream) noexcept {
  if (Listing* listing = ours(stream)) {
    listing->next = 0;
  } else {
    next_rewinddir.call_procedure(stream);
  }
}

SOFTVERBS_STANDS_IN long telldir(DIR* stream) noexcept {
  const Listing* listing = ours(stream);
  return listing != nullptr ? static_cast<long>(listing->next) : next_telldir.call(-1L, stream);
}

SOFTVERBS_STANDS_IN void seekdir(DIR* stream, long place) noexcept {
  if (Listing* listing = ours(stream)) {
    listing->next = static_cast<size_t>(place);
  } else {
    next_seekdir.call_procedure(stream, place);
  }
}

SOFTVERBS_STANDS_IN int scandir(const char* path, dirent*** list, Filter wanted, Compare compare) {
  return answer(
      AT_FDCWD, path, true, -1,
      [=](const Found& found) { return scan(found, list, wanted, compare); },
      [=](int, const char* theirs) {
        return next_scandir.call(-1, theirs, list, wanted, compare);
      });
}

SOFTVERBS_STANDS_IN int scandir64(const char* path, dirent64*** list, Filter64 wanted,
                                  Compare64 compare) {
  return answer(
      AT_FDCWD, path, true, -1,
      [=](const Found& found) {
        return scan(found, reinterpret_cast<dirent***>(list), reinterpret_cast<Filter>(wanted),
                    reinterpret_cast<Compare>(compare));
      },
      [=](int, const char* theirs) {
        return next_scandir64.call(-1, theirs, list, wanted, compare);
      });
}
