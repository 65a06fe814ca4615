#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "nccl_host/expectations.h"
#include "nccl_host/life.h"
#include "nccl_host/log_lines.h"
#include "nccl_host/net_library.h"
#include "nccl_host/options.h"
#include "nccl_host/report.h"
#include "nccl_host/softverbs_access.h"

namespace {

using namespace rocelane;
using namespace rocelane::nccl_host;

enum ExitCode : int { kExitFine = 0, kExitWrong = 1, kExitBadOptions = 2, kExitFailed = 3 };

bool g_log_was_shown = false;  // as it came

// At once: threads of the plugin may hang.
[[noreturn]] void leave_now(const std::string& sentence) {
  for (const LogLine& line : take_log_lines()) {
    if (line.level <= kNcclLogWarn && !g_log_was_shown) {
      fmt::print(stderr, "{}\n", log_line_text(line));
    }
  }
  fmt::print(stderr, "nccl_host: {}\n", sentence);
  std::fflush(nullptr);
  std::_Exit(kExitFailed);
}

Result<std::string> read_text_file(const std::string& path) {
  if (path.empty()) {
    return std::string();
  }
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) {
    return Error{ErrorCode::kSystem,
                 fmt::format("{} cannot be read: {}.", path, std::strerror(errno))};
  }
  return text;
}

Status open_virtual_run(const Options& options, const Softverbs& softverbs) {
  if (!softverbs.has_virtual_clock()) {
    return Error{ErrorCode::kInvalidUsage,
                 "--clock virtual needs softverbs as libibverbs: put its folder first on "
                 "LD_LIBRARY_PATH."};
  }
  const Result<std::string> fabric = read_text_file(options.fabric_file);
  const Result<std::string> faults = read_text_file(options.set_up_faults_file);
  for (const auto* text : {&fabric, &faults}) {
    if (!*text) {
      return text->error();
    }
  }
  return softverbs.open_virtual(*fabric, *faults, options.life.seed);
}

Status run_lives(const Options& options, const NetChoice& choice, const LifeSettings& settings,
                 const Softverbs& softverbs, NetReport& report) {
  const Softverbs::Reader reader(softverbs);
  const LiveObjects before = live_objects(reader.read());
  for (int life = 0; life < options.lives; ++life) {
    Result<NetLibrary> library = NetLibrary::open(choice);
    if (!library) {
      return library.error();
    }
    Result<LifeResult> lived = live(library->net(), settings, softverbs, leave_now);
    if (!lived) {
      return lived.error();
    }
    report.lives.push_back(std::move(*lived));
    report.path = library->path();
    report.built_in = library->is_built_in();
    report.unloaded = library->close();
  }
  report.left_behind = live_objects(reader.read()) - before;
  return {};
}

Result<NetReport> run_net(const Options& options, const NetChoice& choice,
                          const LifeSettings& settings, const Softverbs& softverbs) {
  const bool is_virtual = settings.threading == Threading::kVirtual;
  if (is_virtual) {
    if (const Status opened = open_virtual_run(options, softverbs); !opened) {
      return opened.error();
    }
  }
  NetReport report;
  const Status lived = run_lives(options, choice, settings, softverbs, report);
  // NCCL keeps its devices open to the end of the process.
  if (is_virtual && lived && !report.built_in) {
    softverbs.close_virtual();
  }
  return lived ? Result<NetReport>(std::move(report)) : Result<NetReport>(lived.error());
}

Result<std::vector<NetReport>> run(const Options& options) {
  const Softverbs softverbs = Softverbs::find();
  const Result<std::string> faults = read_text_file(options.faults_file);
  if (!faults) {
    return faults.error();
  }
  LifeSettings settings = options.life;
  std::ofstream event_log;
  if (!options.event_log_file.empty()) {
    if (!softverbs.logs_events()) {
      return Error{ErrorCode::kInvalidUsage, "--event-log needs softverbs as libibverbs."};
    }
    event_log.open(options.event_log_file);
    settings.event_log = &event_log;
  }
  settings.faults = *faults;
  settings.plans = plan_messages(options.plan, routes_of(options.traffic, settings.ranks));
  std::vector<NetChoice> choices{options.net};
  if (options.compare) {
    choices.push_back({"ib", 0, options.net.nccl_library});
  }
  std::vector<NetReport> reports;
  for (const NetChoice& choice : choices) {
    Result<NetReport> report = run_net(options, choice, settings, softverbs);
    if (!report) {
      return report.error();
    }
    reports.push_back(std::move(*report));
  }
  return reports;
}

Status write_text_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) {
    return Error{ErrorCode::kSystem,
                 fmt::format("{} cannot be written: {}.", path, std::strerror(errno))};
  }
  return {};
}

int judge(const Options& options, const std::vector<NetReport>& reports) {
  const std::vector<std::string> disappointed =
      disappointments(options.expectations, reports.front());
  for (const std::string& sentence : disappointed) {
    fmt::print(stderr, "nccl_host: {}\n", sentence);
  }
  const bool right = std::ranges::all_of(reports, &NetReport::is_right);
  return right && disappointed.empty() ? kExitFine : kExitWrong;
}

}  // namespace

int main(int argument_count, char** arguments) {
  const Result<CommandLine> parsed =
      parse_command_line({arguments + 1, arguments + argument_count});
  if (!parsed) {
    fmt::print(stderr, "nccl_host: {}\n", parsed.error().what);
    return kExitBadOptions;
  }
  if (!parsed->options) {
    fmt::print("{}", parsed->help);
    return kExitFine;
  }
  const Options& options = *parsed->options;
  g_log_was_shown = options.verbose;
  show_log_lines(options.verbose);
  const Result<std::vector<NetReport>> reports = run(options);
  if (!reports) {
    leave_now(reports.error().what);
  }
  fmt::print("{}", text_report(options, *reports));
  std::fflush(stdout);
  if (!options.json_file.empty()) {
    if (const Status written = write_text_file(options.json_file, json_report(options, *reports));
        !written) {
      leave_now(written.error().what);
    }
  }
  return judge(options, *reports);
}
