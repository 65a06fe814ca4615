#pragma once

// Processes that take part in a run of softverbs on the real clock. Each is forked from the test,
// which stays out of the run; they talk over lines, of which everybody has one to the test. Nothing
// hangs: every wait has a deadline, and who is still there at the end of a test is killed.

#include <chrono>
#include <functional>
#include <list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/types.h>

#include "base/file_descriptor.h"

namespace rocelane::softverbs_test {

// Throws std::runtime_error with the sentence unless it holds. The words of a process that ends so
// appear in the test's output.
void demand(bool holds, const std::string& sentence);
// The same, with what errno says.
void demand_call(bool succeeded, const std::string& sentence);

// So many seconds from now.
class Deadline {
 public:
  explicit Deadline(double seconds);
  bool is_over() const { return Clock::now() >= end_; }
  int left_ms() const;  // 0 when it is over

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_;
};

// One end of a line between two processes. Throws std::runtime_error when the other end is gone or
// silent for too long.
class Line {
 public:
  explicit Line(FileDescriptor socket) : socket_(std::move(socket)) {}

  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    write_all(&value, sizeof value);
  }
  template <class T>
  T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    read_all(&value, sizeof value);
    return value;
  }
  // For the order of things: says, or waits to hear, that it is the other one's turn.
  void say_go() { put('g'); }
  void await_go() { get<char>(); }
  // Both without waiting.
  bool has_something() const;
  bool is_closed() const;  // at the other end

 private:
  void write_all(const void* data, size_t bytes);
  void read_all(void* data, size_t bytes);

  FileDescriptor socket_;
};

struct LinePair {
  Line left, right;
};
// Made before the two processes that use it; the test itself keeps both ends open.
LinePair make_lines();

struct Ending {
  int exit_status = -1;  // -1: ended by `signal`
  int signal = 0;
  std::string words;  // on its standard error
};

class Process {
 public:
  Process(pid_t id, Line line, FileDescriptor words);
  ~Process();  // kills it, and shows words that nobody has asked for
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t id() const { return id_; }
  Line& line() { return line_; }
  bool has_ended();
  void kill();   // by SIGKILL, and waits for it
  Ending end();  // of its own accord; throws when it takes too long

 private:
  bool wait(int flags);
  std::string read_words() const;

  pid_t id_;
  Line line_;
  FileDescriptor words_;
  bool ended_ = false, asked_ = false;
  int status_ = 0;
};

// Whether it ends of its own accord with exit status 0; otherwise how, and its words.
testing::AssertionResult ends_well(Process& process);

// What a run has besides its name. With neither, data is there the moment it is posted; otherwise
// it takes time on a fabric.
struct RunFiles {
  std::string fabric{};
  bool timed = false;  // by an empty fault file, even if the fabric is ideal
};

// A run with the test's name. At the end its processes are killed and what they left is removed.
class LabRun {
 public:
  explicit LabRun(const RunFiles& files = {});
  ~LabRun();
  LabRun(const LabRun&) = delete;
  LabRun& operator=(const LabRun&) = delete;

  // Starts a process that sees the devices of all hosts. It ends, and leaves the run, when `body`
  // returns, with exit status 0; 1 after an exception.
  Process& start(const std::function<void(Line&)>& body);
  // As if it had been given other files than the run.
  Process& start(const RunFiles& files, const std::function<void(Line&)>& body);
  // For many short-lived ones.
  void forget(Process& process);

  std::string folder() const;  // what processes of the run share
  const std::string& name() const { return name_; }

 private:
  std::string write_fabric(const std::string& fabric);  // the file; none for none

  std::string name_;
  RunFiles files_;
  std::vector<std::string> fabric_files_;
  std::list<Process> processes_;
};

// The address of each goes to the other.
template <class T>
void introduce(Process& one, Process& other) {
  const T first = one.line().get<T>();
  const T second = other.line().get<T>();
  one.line().put(second);
  other.line().put(first);
}

}  // namespace rocelane::softverbs_test
