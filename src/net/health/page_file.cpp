#include "net/health/page_file.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rocelane::telemetry {
namespace {

// Names tried before giving up. More than one is needed only where PID namespaces share the
// directory, or when leftovers cannot be judged.
constexpr int kAttempts = 16;
constexpr int kInterruptions = 64;

Error failed(std::string_view step, const std::string& path, int error) {
  return {ErrorCode::kSystem, fmt::format("{} {} failed: {}.", step, path, std::strerror(error))};
}

struct flock whole_file(short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

// Open-file-description locks end with the last copy of the descriptor, whichever way a process
// ends, are seen across PID namespaces, and can be asked for without being taken.
bool try_lock(int descriptor) {
  struct flock lock = whole_file(F_WRLCK);
  return fcntl(descriptor, F_OFD_SETLK, &lock) == 0;
}

bool still_has_the_name(int descriptor, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  return fstat(descriptor, &opened) == 0 && lstat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

// A page, or a file that its creator did not get to fill.
bool looks_like_a_page(const PageHeader& header, ssize_t length) {
  constexpr char kNotYet[sizeof(header.magic)] = {};
  return length == 0 || std::memcmp(header.magic, kMagic, sizeof(kMagic)) == 0 ||
         std::memcmp(header.magic, kNotYet, sizeof(kNotYet)) == 0;
}

bool is_leftover(int descriptor, const OwnerFacts& me, const StartTicksOf& start_ticks_of) {
  PageHeader header{};
  const ssize_t length = pread(descriptor, &header, sizeof(header), 0);
  if (length < 0 || !looks_like_a_page(header, length)) {
    return false;
  }
  if (length < static_cast<ssize_t>(sizeof(header)) || header.magic[0] == 0) {
    return true;  // nobody holds its lock, so nobody is filling it either
  }
  const OwnerFate fate = fate_of(header.owner, me, start_ticks_of);
  return fate == OwnerFate::kEnded || fate == OwnerFate::kUnknown;
}

bool remove_if_leftover(const std::string& path, const OwnerFacts& me,
                        const StartTicksOf& start_ticks_of) {
  const Result<FileDescriptor> file = open_page_file(path, me.uid, O_RDWR);
  // While we hold the lock, nobody else removes this file and nobody takes its name.
  return file.ok() && try_lock(file->get()) && is_leftover(file->get(), me, start_ticks_of) &&
         still_has_the_name(file->get(), path) && unlink(path.c_str()) == 0;
}

}  // namespace

std::string page_name(uint32_t uid, uint32_t pid, int attempt) {
  return attempt == 0 ? fmt::format("rocelane.{}.{}", uid, pid)
                      : fmt::format("rocelane.{}.{}.{}", uid, pid, attempt);
}

std::optional<uint32_t> pid_in_page_name(std::string_view name, uint32_t uid) {
  const std::string beginning = fmt::format("rocelane.{}.", uid);
  if (name.substr(0, beginning.size()) != beginning) {
    return std::nullopt;
  }
  const char* const end = name.data() + name.size();
  uint32_t pid = 0;
  const auto [after_pid, error] = std::from_chars(name.data() + beginning.size(), end, pid);
  if (error != std::errc{} || pid == 0) {
    return std::nullopt;
  }
  int attempt = 0;
  if (after_pid != end) {
    const bool dot = *after_pid == '.';
    const auto [after, bad] = std::from_chars(after_pid + (dot ? 1 : 0), end, attempt);
    if (!dot || bad != std::errc{} || after != end || attempt <= 0) {
      return std::nullopt;
    }
  }
  return name == page_name(uid, pid, attempt) ? std::optional(pid) : std::nullopt;
}

std::vector<std::string> list_page_files(const std::string& directory, uint32_t uid) {
  std::vector<std::string> paths;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(directory.c_str()), &closedir);
  if (!folder) {
    return paths;
  }
  while (const dirent* entry = readdir(folder.get())) {
    if (pid_in_page_name(entry->d_name, uid)) {
      paths.push_back(directory + "/" + entry->d_name);
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

Result<FileDescriptor> open_page_file(const std::string& path, uint32_t uid, int access_mode) {
  FileDescriptor file(open(path.c_str(), access_mode | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) {
    return failed("Opening the telemetry page", path, errno);
  }
  struct stat facts {};
  if (fstat(file.get(), &facts) != 0) {
    return failed("Looking at the telemetry page", path, errno);
  }
  if (!S_ISREG(facts.st_mode) || facts.st_nlink != 1 || facts.st_uid != uid ||
      (facts.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{} is not a telemetry page: it must be a file with one name, owned "
                             "by user {} and closed to all others.",
                             path, uid)};
  }
  return file;
}

bool is_locked(int descriptor) {
  struct flock lock = whole_file(F_RDLCK);
  return fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

uint64_t file_size_limit() {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

int reserve_storage(int descriptor, off_t offset, off_t length) {
  if (static_cast<uint64_t>(offset + length) > file_size_limit()) {
    return EFBIG;
  }
  int error = EINTR;
  for (int i = 0; i < kInterruptions && error == EINTR; ++i) {
    error = posix_fallocate(descriptor, offset, length);
  }
  return error;
}

int remove_leftovers(const std::string& directory, const OwnerFacts& me,
                     const StartTicksOf& start_ticks_of) {
  int removed = 0;
  for (const std::string& path : list_page_files(directory, me.uid)) {
    removed += remove_if_leftover(path, me, start_ticks_of) ? 1 : 0;
  }
  return removed;
}

Result<PageFile> PageFile::create(const std::string& directory, const OwnerFacts& me) {
  int error = EEXIST;
  for (int attempt = 0; attempt < kAttempts && error == EEXIST; ++attempt) {
    const std::string path = directory + "/" + page_name(me.uid, me.pid, attempt);
    FileDescriptor file(
        open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!file.is_open()) {
      error = errno;
      continue;
    }
    PageFile page(path, std::move(file), me.pid);  // from here on removed unless it succeeds
    if (fchmod(page.descriptor(), S_IRUSR | S_IWUSR) != 0) {  // whatever the umask left of them
      return failed("Setting the permissions of the telemetry page", path, errno);
    }
    if (try_lock(page.descriptor()) && still_has_the_name(page.descriptor(), path)) {
      return page;
    }
    // Somebody who cleans up took the file, still without a lock, for a leftover: next name.
  }
  return failed("Creating a telemetry page in", directory, error);
}

PageFile::~PageFile() {
  // A forked child that ends must not take its parent's page away.
  const bool ours = descriptor_.is_open() && static_cast<uint32_t>(getpid()) == pid_;
  if (ours && still_has_the_name(descriptor_.get(), path_)) {
    unlink(path_.c_str());
  }
}

}  // namespace rocelane::telemetry
