#include "bench/worker_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rocelane::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto kTimeToEnd = 10s;

volatile std::sig_atomic_t g_interrupted = 0;

Error system_error(const std::string& what) {
  return {ErrorCode::kSystem, fmt::format("{}: {}.", what, std::strerror(errno))};
}

// Between fork and exec: only what signal handlers may do.
[[noreturn]] void become_worker(char* const* arguments, char* const* environment, int socket,
                                pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // An interrupt of the user is the parent's: it closes the channel, and the worker cleans up.
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGTERM, SIG_IGN);
  // What NCCL and plugins print is not a result.
  const bool ready = ::getppid() == parent && ::dup2(2, 1) == 1 &&
                     (socket == kWorkerDescriptor ? ::fcntl(socket, F_SETFD, 0) == 0
                                                  : ::dup2(socket, kWorkerDescriptor) >= 0);
  if (ready) {
    ::execvpe(arguments[0], arguments, environment);
  }
  ::_exit(127);
}

std::vector<std::string> environment_with(const std::map<std::string, std::string>& added) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!added.contains(text.substr(0, text.find('=')))) {
      result.push_back(text);
    }
  }
  for (const auto& [name, value] : added) {
    result.push_back(fmt::format("{}={}", name, value));
  }
  return result;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Result<WorkerProcess> WorkerProcess::start(const WorkerCommand& command) {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  std::array<int, 2> sockets{};
  if (error || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    return system_error("A process for the net cannot be prepared");
  }
  FileDescriptor ours(sockets[0]);
  const FileDescriptor theirs(sockets[1]);
  std::vector<std::string> arguments = command.before;
  arguments.push_back(program.string());
  arguments.emplace_back(kWorkerArgument);
  if (command.verbose) {
    arguments.emplace_back("--verbose");
  }
  std::vector<std::string> environment = environment_with(command.environment);
  const std::vector<char*> argument_pointers = pointers_to(arguments);
  const std::vector<char*> environment_pointers = pointers_to(environment);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    return system_error("A process for the net cannot be started");
  }
  if (pid == 0) {
    become_worker(argument_pointers.data(), environment_pointers.data(), theirs.get(), parent);
  }
  return WorkerProcess(Channel(std::move(ours)), pid);
}

WorkerProcess::~WorkerProcess() {
  if (pid_.value < 0) {
    return;
  }
  channel_.close();
  const auto deadline = std::chrono::steady_clock::now() + kTimeToEnd;
  while (::waitpid(pid_.value, nullptr, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      ::kill(pid_.value, SIGKILL);
      ::waitpid(pid_.value, nullptr, 0);
      return;
    }
    std::this_thread::sleep_for(2ms);
  }
}

Error WorkerProcess::why_silent() {
  if (was_interrupted()) {
    return {ErrorCode::kRemote, "Interrupted."};
  }
  int status = 0;
  channel_.close();
  ::waitpid(std::exchange(pid_.value, -1), &status, 0);
  const std::string how = WIFSIGNALED(status)
                              ? fmt::format("was killed by signal {}", WTERMSIG(status))
                              : fmt::format("ended with status {}", WEXITSTATUS(status));
  return {ErrorCode::kRemote,
          fmt::format("The process that drives the net {} in the middle of a measurement; "
                      "--verbose shows the net's log.",
                      how)};
}

Result<Json> WorkerProcess::ask(const Json& question) {
  const std::optional<Json> answer =
      channel_.send(question) ? channel_.receive() : std::optional<Json>();
  if (!answer) {
    return why_silent();
  }
  if (answer->contains("error")) {
    return Error{
        answer->at("bad_input").get<bool>() ? ErrorCode::kInvalidArgument : ErrorCode::kRemote,
        answer->at("error").get<std::string>()};
  }
  return answer->at("fine");
}

Result<SetUpAnswer> WorkerProcess::open(const SessionSettings& settings) {
  const Result<Json> answer = ask({{"do", "open"}, {"settings", settings}});
  return answer ? Result<SetUpAnswer>(answer->get<SetUpAnswer>())
                : Result<SetUpAnswer>(answer.error());
}

Result<Answer> WorkerProcess::measure(const Request& request) {
  const Result<Json> answer = ask({{"do", "measure"}, {"request", request}});
  return answer ? Result<Answer>(answer->get<Answer>()) : Result<Answer>(answer.error());
}

Result<PathAnswer> WorkerProcess::paths() {
  const Result<Json> answer = ask({{"do", "paths"}});
  return answer ? Result<PathAnswer>(answer->get<PathAnswer>())
                : Result<PathAnswer>(answer.error());
}

Status WorkerProcess::close() {
  const Result<Json> answer = ask({{"do", "close"}});
  return answer ? Status() : Status(answer.error());
}

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { g_interrupted = 1; };
  for (const int signal : {SIGINT, SIGTERM}) {
    ::sigaction(signal, &action, nullptr);
  }
}

bool was_interrupted() { return g_interrupted != 0; }

}  // namespace rocelane::bench
