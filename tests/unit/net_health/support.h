#pragma once

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/health/telemetry_page.h"
#include "net/health/telemetry_reader.h"

namespace rocelane::telemetry {

// In memory where the system has that, as pages are.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    const std::string parent = access("/dev/shm", W_OK) == 0
                                   ? "/dev/shm"
                                   : std::filesystem::temp_directory_path().string();
    path_ = parent + "/rocelane-test-XXXXXX";
    EXPECT_NE(mkdtemp(path_.data()), nullptr) << path_;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }
  size_t file_count() const {
    const std::filesystem::directory_iterator files(path_);
    return static_cast<size_t>(std::distance(begin(files), end(files)));
  }

 private:
  std::string path_;
};

// Runs `body` in a forked child; its answer is the exit status. Nothing of the parent's is
// destroyed there.
class Child {
 public:
  explicit Child(const std::function<int()>& body) : pid_(fork()) {
    if (pid_ == 0) {
      _exit(body());
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (!waited_) {
      kill();
      wait();
    }
  }

  uint32_t pid() const { return static_cast<uint32_t>(pid_); }
  void kill() const { ::kill(pid_, SIGKILL); }
  // The raw status of waitpid.
  int wait() {
    if (!waited_) {
      waitpid(pid_, &status_, 0);
      waited_ = true;
    }
    return status_;
  }

 private:
  pid_t pid_;
  int status_ = 0;
  bool waited_ = false;
};

inline PageSettings settings_in(const TemporaryDirectory& directory,
                                Capacities capacities = Capacities{}) {
  return {.directory = directory.path(), .capacities = capacities};
}

inline std::unique_ptr<TelemetryPage> page_in(const TemporaryDirectory& directory,
                                              Capacities capacities = Capacities{}) {
  return TelemetryPage::create(settings_in(directory, capacities), Surroundings{}, PageTime{});
}

inline TelemetryReader reader_of(const TelemetryPage& page) {
  Result<TelemetryReader> reader = TelemetryReader::open_file(*page.path(), geteuid());
  EXPECT_TRUE(reader.ok());
  return *std::move(reader);
}

inline PageReading reading_of(const TelemetryPage& page) {
  Result<PageReading> reading = reader_of(page).read();
  EXPECT_TRUE(reading.ok());
  return reading.ok() ? *std::move(reading) : PageReading{};
}

}  // namespace rocelane::telemetry
