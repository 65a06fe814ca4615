#pragma once

// The file of a page: its name, its lock, its removal, and what processes left behind that ended
// without removing theirs.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "net/health/page_owner.h"

namespace rocelane::telemetry {

// "rocelane.1000.4711", and for attempt 2 "rocelane.1000.4711.2".
std::string page_name(uint32_t uid, uint32_t pid, int attempt);
// The process a file name speaks of; nullopt: not the name of a page of this user.
std::optional<uint32_t> pid_in_page_name(std::string_view name, uint32_t uid);
// Paths of all files with such names, sorted; none when the directory cannot be read.
std::vector<std::string> list_page_files(const std::string& directory, uint32_t uid);

// Opens `path` without following a link, waiting for a pipe or creating anything. An error when it
// is anything but a regular file with one name that belongs to `uid` and is closed to others.
Result<FileDescriptor> open_page_file(const std::string& path, uint32_t uid, int access_mode);

// Somebody holds the owner's lock. Takes nothing: a reader must not look like an owner.
bool is_locked(int descriptor);

// Gives `length` bytes at `offset` of a file real storage, so that touching them through a mapping
// cannot fault. Returns 0 or an errno value; never raises SIGXFSZ.
using ReserveStorage = std::function<int(int descriptor, off_t offset, off_t length)>;
int reserve_storage(int descriptor, off_t offset, off_t length);
// The largest file this process may make before the kernel sends it SIGXFSZ.
uint64_t file_size_limit();

// Removes the pages of this user whose processes have ended; returns their number. Leaves alone:
// pages of running processes, of other users and hosts, and files that are no pages.
int remove_leftovers(const std::string& directory, const OwnerFacts& me,
                     const StartTicksOf& start_ticks_of);

// A new, empty, locked file of ours; removed by the destructor, in the process that made it only.
class PageFile {
 public:
  static Result<PageFile> create(const std::string& directory, const OwnerFacts& me);
  PageFile(PageFile&&) noexcept = default;
  PageFile& operator=(PageFile&&) = delete;
  ~PageFile();

  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_.get(); }

 private:
  PageFile(std::string path, FileDescriptor descriptor, uint32_t pid)
      : path_(std::move(path)), descriptor_(std::move(descriptor)), pid_(pid) {}

  std::string path_;
  FileDescriptor descriptor_;
  uint32_t pid_;
};

}  // namespace rocelane::telemetry
