#include "softverbs/segment/pipes.h"

#include <array>
#include <cerrno>
#include <mutex>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rocelane::softverbs {
namespace {

std::mutex writing_ends_mutex;  // events are rare

// Nobody has read thousands of events: one more would not be read either.
void write_or_drop(int descriptor, const void* data, size_t bytes) {
  if (::write(descriptor, data, bytes) < 0) {
    return;
  }
}

int open_null() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

}  // namespace

Pipes::Pipes(std::string folder) : folder_(std::move(folder)), spare_(open_null()) {}

int Pipes::make(const char* kind, uint32_t slot) {
  if (folder_.empty()) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      return -1;
    }
    ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
    const std::lock_guard lock(writing_ends_mutex);
    writing_ends_[{kind, slot}] = ends[1];
    return ends[0];
  }
  const std::string path = path_of(kind, slot);
  ::unlink(path.c_str());
  if (::mkfifo(path.c_str(), 0600) != 0) {
    return -1;
  }
  // For reading and writing: so it opens at once, and never ends.
  return ::open(path.c_str(), O_RDWR | O_CLOEXEC);
}

void Pipes::write(const char* kind, uint32_t slot, const void* data, size_t bytes) {
  if (folder_.empty()) {
    const std::lock_guard lock(writing_ends_mutex);
    if (const auto end = writing_ends_.find({kind, slot}); end != writing_ends_.end()) {
      write_or_drop(end->second, data, bytes);
    }
    return;
  }
  const std::string path = path_of(kind, slot);
  FileDescriptor pipe = open_for_writing(path);
  if (!pipe.is_open() && (errno == EMFILE || errno == ENFILE)) {
    const std::lock_guard lock(writing_ends_mutex);
    spare_ = FileDescriptor();
    pipe = open_for_writing(path);
    if (pipe.is_open()) {
      write_or_drop(pipe.get(), data, bytes);
    }
    pipe = FileDescriptor();
    spare_ = FileDescriptor(open_null());
    return;
  }
  if (pipe.is_open()) {
    write_or_drop(pipe.get(), data, bytes);
  }
}

// For reading too: a pipe whose reader has just died would end this process by SIGPIPE.
FileDescriptor Pipes::open_for_writing(const std::string& path) {
  return FileDescriptor(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
}

void Pipes::remove(const char* kind, uint32_t slot) {
  if (!folder_.empty()) {
    ::unlink(path_of(kind, slot).c_str());
    return;
  }
  const std::lock_guard lock(writing_ends_mutex);
  if (const auto end = writing_ends_.find({kind, slot}); end != writing_ends_.end()) {
    ::close(end->second);
    writing_ends_.erase(end);
  }
}

std::string Pipes::path_of(const char* kind, uint32_t slot) const {
  return fmt::format("{}/{}.{}", folder_, kind, slot);
}

}  // namespace rocelane::softverbs
