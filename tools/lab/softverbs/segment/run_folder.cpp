#include "softverbs/segment/run_folder.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rocelane::softverbs {
namespace {

constexpr const char* kParent = "/dev/shm";

std::string prefix() { return fmt::format("rocelane-softverbs.{}.", ::geteuid()); }

Error failed(const std::string& what, const std::string& path) {
  return {ErrorCode::kSystem,
          fmt::format("softverbs: {} {} failed: {}", what, path, std::strerror(errno))};
}

FileDescriptor open_private(const std::string& path, int flags) {
  return FileDescriptor(::open(path.c_str(), flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600));
}

bool lock(const FileDescriptor& file, int operation) {
  int result = 0;
  do {
    result = ::flock(file.get(), operation);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

bool is_still_at(const FileDescriptor& file, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(file.get(), &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

std::optional<Error> make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return failed("creating", path);
  }
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0) {
    return failed("reading", path);
  }
  if (!S_ISDIR(facts.st_mode) || facts.st_uid != ::geteuid() || (facts.st_mode & 077) != 0) {
    return Error{ErrorCode::kSystem,
                 fmt::format("softverbs: {} is not a folder that only this user can open; remove "
                             "it, or give the run another name with ROCELANE_LAB_RUN",
                             path)};
  }
  return std::nullopt;
}

void remove_folder(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

void remove_if_abandoned(const std::string& path) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0 || facts.st_uid != ::geteuid()) {
    return;  // somebody else's, under a name that looks like ours
  }
  const FileDescriptor door = open_private(path + "/door", 0);
  if (door.get() < 0 || !lock(door, LOCK_EX | LOCK_NB) || !is_still_at(door, path + "/door")) {
    return;
  }
  const FileDescriptor segment = open_private(path + "/segment", 0);
  if (segment.get() < 0 || lock(segment, LOCK_EX | LOCK_NB)) {
    remove_folder(path);
  }
}

}  // namespace

Result<RunFolder> RunFolder::join(const std::string& run) {
  RunFolder folder;
  folder.path_ = fmt::format("{}/{}{}", kParent, prefix(), run);
  const std::string door_path = folder.path_ + "/door";
  // Once more whenever the last process of an older run has removed the folder under our hands.
  do {
    if (auto error = make_folder(folder.path_)) {
      return *std::move(error);
    }
    folder.door_ = open_private(door_path, O_CREAT);
    if (folder.door_.get() < 0 && errno != ENOENT) {
      return failed("opening", door_path);
    }
  } while (folder.door_.get() < 0 || !lock(folder.door_, LOCK_EX) ||
           !is_still_at(folder.door_, door_path));

  const std::string segment_path = folder.path_ + "/segment";
  folder.segment_ = open_private(segment_path, 0);
  folder.fresh_ = folder.segment_.get() < 0 || lock(folder.segment_, LOCK_EX | LOCK_NB);
  if (folder.fresh_) {
    ::unlink(segment_path.c_str());
    folder.segment_ = open_private(segment_path, O_CREAT | O_EXCL);
    if (folder.segment_.get() < 0) {
      return failed("creating", segment_path);
    }
  }
  if (!lock(folder.segment_, LOCK_SH)) {
    return failed("locking", segment_path);
  }
  if (!folder.fresh_) {
    lock(folder.door_, LOCK_UN);
  }
  return folder;
}

void RunFolder::announce() { lock(door_, LOCK_UN); }

void RunFolder::leave(const std::function<void()>& last) {
  lock(door_, LOCK_EX);
  if (lock(segment_, LOCK_EX | LOCK_NB)) {
    last();
    remove_folder(path_);
  }
  segment_ = FileDescriptor();
  door_ = FileDescriptor();
}

void remove_abandoned_runs() {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(kParent, error)) {
    if (entry.path().filename().string().starts_with(prefix())) {
      remove_if_abandoned(entry.path().string());
    }
  }
}

}  // namespace rocelane::softverbs
