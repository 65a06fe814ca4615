#include "bench/worker.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/resource.h>

#include "bench/callgrind.h"
#include "bench/paths.h"
#include "bench/request.h"
#include "bench/session.h"
#include "nccl_host/log_lines.h"

namespace rocelane::bench {
namespace {

constexpr int kExitHung = 3;
constexpr int kWatchMs = 50;

// Every connection takes a few sockets while it is made.
void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

bool is_bad_input(ErrorCode code) {
  return code == ErrorCode::kInvalidArgument || code == ErrorCode::kInvalidUsage;
}

class Worker {
 public:
  Worker(Channel channel, bool verbose)
      : channel_(std::move(channel)), verbose_(verbose), softverbs_(nccl_host::Softverbs::find()) {}

  int run() {
    const std::jthread watch([this](const std::stop_token& end) { watch_parent(end); });
    while (const std::optional<Json> question = channel_.receive()) {
      const Result<Json> answer = answer_to(*question);
      if (is_alone_) {
        break;
      }
      if (!answer) {
        return report(answer.error(), session_ == nullptr || !session_->has_ranks());
      }
      channel_.send({{"fine", *answer}});
    }
    // Nobody wants anything any more: leave as one came.
    return session_ == nullptr || is_closed_ || session_->close() ? 0 : 1;
  }

 private:
  Result<Json> answer_to(const Json& question) {
    const std::string what = question.at("do");
    if (what == "open") {
      return open(question.at("settings").get<SessionSettings>());
    }
    if (what == "measure") {
      const Result<Answer> answer = session_->measure(question.at("request").get<Request>());
      return answer ? Result<Json>(Json(*answer)) : Result<Json>(answer.error());
    }
    if (what == "paths") {
      return Json(PathAnswer{uplink_bytes(softverbs_.counters_json())});
    }
    const Status closed = session_->close();
    is_closed_ = true;
    return closed ? Result<Json>(Json(nullptr)) : Result<Json>(closed.error());
  }

  Result<Json> open(const SessionSettings& settings) {
    if (const Status opened = open_virtual(settings); !opened) {
      return opened.error();
    }
    Result<nccl_host::NetLibrary> library = nccl_host::NetLibrary::open(settings.net);
    if (!library) {
      return library.error();
    }
    library_.emplace(std::move(*library));
    {
      const std::lock_guard lock(mutex_);
      session_ =
          std::make_unique<Session>(library_->net(), settings, softverbs_, counting(settings));
    }
    Result<SetUpAnswer> answer =
        session_->set_up([this](const std::string& sentence) { hung(sentence); });
    if (!answer) {
      return answer.error();
    }
    answer->path = library_->path();
    return Json(*answer);
  }

  // Whoever asked may leave in the middle of an answer.
  void watch_parent(const std::stop_token& end) {
    pollfd socket{channel_.descriptor(), POLLRDHUP, 0};
    while (!end.stop_requested() && !is_alone_) {
      if (::poll(&socket, 1, kWatchMs) > 0) {
        const std::lock_guard lock(mutex_);
        is_alone_ = true;
        if (session_ != nullptr) {
          session_->stop();
        }
      }
    }
  }

  Status open_virtual(const SessionSettings& settings) const {
    if (!settings.fabric) {
      return {};
    }
    if (!softverbs_.has_virtual_clock()) {
      return Error{ErrorCode::kInvalidUsage,
                   "--fabric needs softverbs as libibverbs: use tools/lab/run, or preload it."};
    }
    const Status opened = softverbs_.open_virtual(*settings.fabric, {}, settings.seed);
    return opened ? opened
                  : Status(Error{
                        ErrorCode::kInvalidArgument,
                        fmt::format("The file of --fabric is not right: {}", opened.error().what)});
  }

  Session::InstructionCounting counting(const SessionSettings& settings) {
    if (settings.profile_folder.empty()) {
      return {};
    }
    return {start_counting_instructions, [settings, this]() -> Result<Instructions> {
              ++profiles_;
              const Result<InstructionsByObject> objects = stop_counting_instructions(
                  settings.profile_folder,
                  settings.keep_profiles.empty()
                      ? std::string()
                      : fmt::format("{}/{}-{}.callgrind", settings.keep_profiles,
                                    library_->net().name(), profiles_));
              if (!objects) {
                return objects.error();
              }
              std::error_code ignored;
              const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
              const auto library = std::filesystem::canonical(library_->path(), ignored);
              return by_part(*objects, library.string(), program.string());
            }};
  }

  int report(const Error& error, bool in_the_beginning) {
    for (const nccl_host::LogLine& line : nccl_host::take_log_lines()) {
      if (line.level <= kNcclLogWarn && !verbose_) {
        fmt::print(stderr, "{}\n", nccl_host::log_line_text(line));
      }
    }
    std::fflush(nullptr);
    channel_.send(
        {{"error", error.what}, {"bad_input", in_the_beginning || is_bad_input(error.code)}});
    return 1;
  }

  // On the watch's thread. A call into the net will never return.
  [[noreturn]] void hung(const std::string& sentence) {
    report({ErrorCode::kRemote, sentence}, false);
    std::_Exit(kExitHung);
  }

  Channel channel_;
  bool verbose_;
  nccl_host::Softverbs softverbs_;
  std::optional<nccl_host::NetLibrary> library_;
  std::mutex mutex_;  // guards the pointer session_ between the two threads
  std::unique_ptr<Session> session_;
  bool is_closed_ = false;
  int profiles_ = 0;
  std::atomic<bool> is_alone_ = false;
};

}  // namespace

int run_worker(Channel channel, bool verbose) {
  allow_many_files();
  nccl_host::show_log_lines(verbose);
  return Worker(std::move(channel), verbose).run();
}

}  // namespace rocelane::bench
