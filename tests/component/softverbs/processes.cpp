#include "processes.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rocelane::softverbs_test {
namespace {

constexpr double kLongestWait = 8;  // seconds
constexpr int kNapUs = 1000;

// Letters, digits and '-': what the name of a run may hold. No two tests and no two processes of
// tests have the same.
std::string name_of_this_test() {
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  std::string name = fmt::format("{}-{}", test->test_suite_name(), test->name());
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '-');
  constexpr size_t kMost = 48;
  return fmt::format("{}-{}", name.substr(0, kMost), getpid());
}

void set_or_unset(const char* variable, const std::string& value) {
  value.empty() ? unsetenv(variable) : setenv(variable, value.c_str(), 1);
}

// Does not return, and so ends nothing that the test has on its stack.
[[noreturn]] void be_child(const std::function<void(Line&)>& body, Line& line) {
  int status = 0;
  try {
    body(line);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    status = 1;
  }
  std::exit(status);  // and not _exit(): it leaves the run as programs do
}

}  // namespace

void demand(bool holds, const std::string& sentence) {
  if (!holds) {
    throw std::runtime_error(sentence);
  }
}

void demand_call(bool succeeded, const std::string& sentence) {
  const int error = errno;
  demand(succeeded, fmt::format("{}: {}", sentence, std::strerror(error)));
}

Deadline::Deadline(double seconds)
    : end_(Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}

int Deadline::left_ms() const {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now());
  return static_cast<int>(std::max<int64_t>(0, left.count()));
}

bool Line::has_something() const {
  pollfd socket{socket_.get(), POLLIN, 0};
  return ::poll(&socket, 1, 0) > 0;
}

bool Line::is_closed() const {
  pollfd socket{socket_.get(), POLLIN, 0};
  return ::poll(&socket, 1, 0) > 0 && (socket.revents & POLLHUP) != 0;
}

void Line::write_all(const void* data, size_t bytes) {
  // Words are a few bytes and a socket holds thousands: one call takes all of them.
  const ssize_t written = ::send(socket_.get(), data, bytes, MSG_NOSIGNAL);
  demand(written == static_cast<ssize_t>(bytes), "the other process does not listen any more");
}

void Line::read_all(void* data, size_t bytes) {
  const Deadline deadline(kLongestWait);
  pollfd socket{socket_.get(), POLLIN, 0};
  int ready = 0;
  do {
    ready = ::poll(&socket, 1, deadline.left_ms());
  } while (ready < 0 && errno == EINTR);
  demand(ready > 0, fmt::format("the other process has said nothing for {} s", kLongestWait));
  const ssize_t received = ::recv(socket_.get(), data, bytes, MSG_WAITALL);
  demand(received == static_cast<ssize_t>(bytes), "the other process has ended");
}

LinePair make_lines() {
  std::array<int, 2> sockets{};
  demand_call(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) == 0,
              "a line between two processes cannot be made");
  return {Line(FileDescriptor(sockets[0])), Line(FileDescriptor(sockets[1]))};
}

Process::Process(pid_t id, Line line, FileDescriptor words)
    : id_(id), line_(std::move(line)), words_(std::move(words)) {}

Process::~Process() {
  // A process that ends closes its line a moment before.
  for (const Deadline grace(1); line_.is_closed() && !has_ended() && !grace.is_over();) {
    ::usleep(kNapUs);
  }
  const bool killed = WIFSIGNALED(status_) && WTERMSIG(status_) == SIGKILL;  // by a test
  if (has_ended() && !asked_ && status_ != 0 && !killed) {
    std::fprintf(stderr, "process %d ended with %s %d\n", id_,
                 WIFSIGNALED(status_) ? "signal" : "exit status",
                 WIFSIGNALED(status_) ? WTERMSIG(status_) : WEXITSTATUS(status_));
  }
  if (const std::string words = read_words(); !asked_ && !words.empty()) {
    std::fprintf(stderr, "process %d said: %s", id_, words.c_str());
  }
  kill();
}

bool Process::wait(int flags) {
  while (!ended_) {
    const pid_t waited = ::waitpid(id_, &status_, flags);
    if (waited == id_) {
      ended_ = true;
    } else if (waited == 0 || errno != EINTR) {
      break;
    }
  }
  return ended_;
}

bool Process::has_ended() { return wait(WNOHANG); }

void Process::kill() {
  if (!has_ended()) {
    ::kill(id_, SIGKILL);
    wait(0);
    asked_ = true;  // nobody wonders how it ended
  }
}

Ending Process::end() {
  const Deadline deadline(kLongestWait);
  while (!has_ended() && !deadline.is_over()) {
    ::usleep(kNapUs);
  }
  demand(ended_, fmt::format("process {} does not end", id_));
  asked_ = true;
  Ending ending;
  if (WIFEXITED(status_)) {
    ending.exit_status = WEXITSTATUS(status_);
  } else {
    ending.signal = WTERMSIG(status_);
  }
  ending.words = read_words();
  return ending;
}

std::string Process::read_words() const {
  std::string words;
  std::array<char, 4096> some{};
  ssize_t taken = 0;
  while ((taken = ::pread(words_.get(), some.data(), some.size(),
                          static_cast<off_t>(words.size()))) > 0) {
    words.append(some.data(), static_cast<size_t>(taken));
  }
  return words;
}

testing::AssertionResult ends_well(Process& process) {
  const Ending ending = process.end();
  if (ending.exit_status == 0) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure()
         << "a process ended with "
         << (ending.signal != 0 ? fmt::format("signal {}", ending.signal)
                                : fmt::format("exit status {}", ending.exit_status))
         << ": " << ending.words;
}

LabRun::LabRun(const RunFiles& files) : name_(name_of_this_test()), files_(files) {}

LabRun::~LabRun() {
  processes_.clear();
  std::error_code ignored;
  std::filesystem::remove_all(folder(), ignored);
  for (const std::string& file : fabric_files_) {
    std::filesystem::remove(file, ignored);
  }
}

std::string LabRun::folder() const {
  return fmt::format("/dev/shm/rocelane-softverbs.{}.{}", geteuid(), name_);
}

Process& LabRun::start(const std::function<void(Line&)>& body) { return start(files_, body); }

Process& LabRun::start(const RunFiles& files, const std::function<void(Line&)>& body) {
  const std::string fabric_file = write_fabric(files.fabric);
  LinePair lines = make_lines();
  FileDescriptor words(::memfd_create("words", MFD_CLOEXEC));
  demand_call(words.is_open(), "there is no place for what a process says");
  std::fflush(nullptr);  // or the child says it again
  const pid_t parent = getpid();
  const pid_t id = ::fork();
  demand_call(id >= 0, "a process cannot be forked");
  if (id == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || ::dup2(words.get(), STDERR_FILENO) < 0) {
      _exit(1);
    }
    lines.left = Line(FileDescriptor());
    set_or_unset("ROCELANE_LAB_RUN", name_);
    set_or_unset("ROCELANE_LAB_HOST", "all");
    set_or_unset("ROCELANE_LAB_FABRIC", fabric_file);
    set_or_unset("ROCELANE_LAB_FAULTS", files.timed ? "/dev/null" : "");
    set_or_unset("ROCELANE_LAB_COUNTERS", "");
    be_child(body, lines.right);
  }
  return processes_.emplace_back(id, std::move(lines.left), std::move(words));
}

void LabRun::forget(Process& process) {
  processes_.remove_if([&process](const Process& other) { return &other == &process; });
}

// Every start has a file of its own, since processes of one run may be given different ones.
std::string LabRun::write_fabric(const std::string& fabric) {
  if (fabric.empty()) {
    return "";
  }
  const std::string file =
      fmt::format("{}{}-{}.toml", testing::TempDir(), name_, fabric_files_.size());
  std::ofstream(file) << fabric;
  fabric_files_.push_back(file);
  return file;
}

}  // namespace rocelane::softverbs_test
