#include "nccl_host/options.h"

#include <charconv>
#include <map>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rocelane::nccl_host {
namespace {

constexpr size_t kLargestMessage = size_t{1} << 30;

// As typed, where it is not a number.
struct Words {
  std::string traffic = "pair";
  std::string mix = "all";
  std::string protocol = "simple";
  std::string threading = "threads";
  std::string memory = "auto";
  std::string flush = "auto";
  std::vector<std::string> sizes;
  std::vector<std::string> expectations;
  int warm_up = 8;
  bool no_hint = false;
  bool plain_arguments = false;
};

const std::map<std::string, Threading> kThreadings{{"threads", Threading::kThreads},
                                                   {"rounds", Threading::kRounds},
                                                   {"virtual", Threading::kVirtual}};
const std::map<std::string, MemoryChoice> kMemories{
    {"host", MemoryChoice::kHost}, {"gpu", MemoryChoice::kGpu}, {"auto", MemoryChoice::kAuto}};
const std::map<std::string, std::optional<bool>> kFlushes{
    {"auto", std::nullopt}, {"always", true}, {"never", false}};
const std::map<std::string, Protocol> kProtocols{
    {"ll", Protocol::kLl}, {"ll128", Protocol::kLl128}, {"simple", Protocol::kSimple}};
const std::map<std::string, Traffic> kTraffics{
    {"pair", Traffic::kPair},
    {"exchange", Traffic::kExchange},
    {"ring", Traffic::kRing},
    {"all-to-all", Traffic::kAllToAll}};
const std::map<std::string, Mix> kMixes{{"ll", Mix::kLl},
                                        {"ll128", Mix::kLl128},
                                        {"simple", Mix::kSimple},
                                        {"odd", Mix::kOdd},
                                        {"all", Mix::kAll}};

template <class Value>
std::vector<std::string> names(const std::map<std::string, Value>& all) {
  std::vector<std::string> result;
  for (const auto& [name, value] : all) {
    result.push_back(name);
  }
  return result;
}

template <class Value>
CLI::Option* add_word(CLI::App& app, const std::string& flag, std::string& word,
                      const std::map<std::string, Value>& all, const std::string& help) {
  return app.add_option(flag, word, help + fmt::format(" ({})", fmt::join(names(all), ", ")))
      ->check([&all, flag](const std::string& text) {
        return all.contains(text) ? std::string()
                                  : fmt::format("'{}' is unknown; allowed are {}.", text,
                                                fmt::join(names(all), ", "));
      })
      ->capture_default_str();
}

void declare_net(CLI::App& app, Options& options) {
  app.add_option("--net", options.net.plugin,
                 "The net: a library as NCCL_NET_PLUGIN names it, or ib for NCCL's own")
      ->capture_default_str();
  app.add_option("--abi", options.net.abi, "Version of its table; 0: the newest it has")
      ->check(CLI::Range(0, kNewestAbi))
      ->capture_default_str();
  app.add_option("--nccl-library", options.net.nccl_library, "Where NCCL's own net is")
      ->capture_default_str();
  app.add_flag("--compare", options.compare,
               "Run NCCL's own IB transport on the same messages too, side by side");
  app.add_option("--lives", options.lives, "From loading to unloading, so many times")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
}

void declare_messages(CLI::App& app, Options& options, Words& words) {
  app.add_option("--ranks", options.life.ranks, "Ranks in this process")
      ->check(CLI::Range(2, 1024))
      ->capture_default_str();
  app.add_option("--devices", options.life.devices,
                 "Device of each rank, by name or number; not given: rank modulo their number")
      ->delimiter(',');
  add_word(app, "--traffic", words.traffic, kTraffics, "Who sends to whom");
  app.add_option("--messages", options.plan.messages, "Messages on each connection")
      ->check(CLI::Range(1, 100'000'000))
      ->capture_default_str();
  app.add_option("--warm-up", words.warm_up, "Receives of each connection that are not counted")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  add_word(app, "--mix", words.mix, kMixes, "Kinds of messages");
  app.add_option("--sizes", words.sizes,
                 "Only these sizes (K, M: powers of 1024) in place of a mix, in full groups")
      ->delimiter(',');
  add_word(app, "--protocol", words.protocol, kProtocols, "What --sizes are messages of");
  app.add_option("--group", options.plan.group, "Senders sharing a connection: buffers of an irecv")
      ->check(CLI::Range(1, 8))
      ->capture_default_str();
  app.add_option("--window", options.life.window, "Outstanding receives, and sends of a sender")
      ->check(CLI::Range(1, int{kNcclNetMaxRequests}))
      ->capture_default_str();
  app.add_option("--seed", options.life.seed, "Of all chance")->capture_default_str();
  app.add_option("--traffic-class", options.life.traffic_class, "Of the communicator; -1: none")
      ->check(CLI::Range(-1, 255))
      ->capture_default_str();
}

void declare_manner(CLI::App& app, Options& options, Words& words) {
  add_word(app, "--clock", words.threading, kThreadings,
           "threads: as in NCCL; rounds: one thread plays all, by seed; virtual: the same on "
           "softverbs' virtual clock");
  add_word(app, "--memory", words.memory, kMemories, "How LL128 and Simple buffers are registered");
  add_word(app, "--flush", words.flush, kFlushes, "iflush after receives of Simple");
  app.add_flag("--no-optional-completions", words.no_hint,
               "Do not say that LL and LL128 receives need no completion");
  app.add_flag("--plain-arguments", words.plain_arguments,
               "Never leave out sizes and profiler parents");
  app.add_option("--abort-after", options.life.abort_after,
                 "Close everything, with requests outstanding, after so many receives; 0: never")
      ->capture_default_str();
  app.add_option("--fabric", options.fabric_file, "Fabric of a virtual run (docs/lab.md)")
      ->check(CLI::ExistingFile);
  app.add_option("--faults", options.faults_file,
                 "Faults; their times count from the first counted message")
      ->check(CLI::ExistingFile);
  app.add_option("--set-up-faults", options.set_up_faults_file,
                 "Faults of a virtual run; their times count from its beginning")
      ->check(CLI::ExistingFile);
  app.add_option("--deadline", options.life.patience_s,
                 "Seconds any wait may last without anything moving")
      ->check(CLI::Range(0.01, 1e6))
      ->capture_default_str();
  app.add_option(
         "--expect", words.expectations,
         "Fail unless a cost for each message of --net is as said: send_posts=2, polls=1..3")
      ->allow_extra_args(false);
  app.add_option("--event-log", options.event_log_file,
                 "Write what happens on software devices during the counted messages to this file");
  app.add_option("--json", options.json_file, "Also write the results to this file");
  app.add_flag("--verbose", options.verbose, "Show the plugin's log lines");
}

Status read_sizes(const Words& words, Options& options) {
  for (const std::string& word : words.sizes) {
    const std::optional<size_t> bytes = parse_size_bytes(word);
    if (!bytes || *bytes > kLargestMessage) {
      return Error{
          ErrorCode::kInvalidArgument,
          fmt::format("--sizes '{}' is not a size from 0 to 1G; write 64, 4K or 1M.", word)};
    }
    options.plan.sizes.push_back(*bytes);
  }
  return {};
}

Status check_together(const Options& options) {
  const auto& devices = options.life.devices;
  if (!devices.empty() && devices.size() != static_cast<size_t>(options.life.ranks)) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--devices names {} devices for {} ranks; name one for each.",
                             devices.size(), options.life.ranks)};
  }
  const bool is_virtual = options.life.threading == Threading::kVirtual;
  if (!is_virtual && (!options.fabric_file.empty() || !options.set_up_faults_file.empty())) {
    return Error{ErrorCode::kInvalidArgument,
                 "--fabric and --set-up-faults describe a virtual run: add --clock virtual, or "
                 "give the files to tools/lab/run."};
  }
  if (options.compare && options.net.plugin == "ib") {
    return Error{ErrorCode::kInvalidArgument,
                 "--compare sets a plugin beside NCCL's own IB transport: name the plugin with "
                 "--net."};
  }
  return {};
}

Status interpret(const Words& words, Options& options) {
  options.traffic = kTraffics.at(words.traffic);
  options.plan.mix = kMixes.at(words.mix);
  options.plan.protocol = kProtocols.at(words.protocol);
  options.plan.seed = options.life.seed;
  options.life.threading = kThreadings.at(words.threading);
  options.life.memory = kMemories.at(words.memory);
  options.life.flush = kFlushes.at(words.flush);
  options.life.group = options.plan.group;
  options.life.warm_up_groups = static_cast<size_t>(words.warm_up);
  options.life.optional_completions = !words.no_hint;
  options.life.vary_arguments = !words.plain_arguments;
  // Warm-up comes on top.
  options.plan.messages += words.warm_up * options.plan.group;
  if (const Status sizes = read_sizes(words, options); !sizes) {
    return sizes;
  }
  for (const std::string& word : words.expectations) {
    Result<Expectation> expectation = parse_expectation(word);
    if (!expectation) {
      return expectation.error();
    }
    options.expectations.push_back(std::move(*expectation));
  }
  return check_together(options);
}

}  // namespace

std::optional<size_t> parse_size_bytes(const std::string& text) {
  size_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || number > kLargestMessage) {
    return std::nullopt;
  }
  const std::string unit(rest, end);
  if (unit.empty()) {
    return number;
  }
  const size_t factor = unit == "K" ? size_t{1} << 10 : unit == "M" ? size_t{1} << 20 : 0;
  return factor == 0 ? std::nullopt : std::optional(number * factor);
}

Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments) {
  CLI::App app(
      "Calls a net plugin the way NCCL does, between ranks of this process, and checks every byte.",
      "nccl_host");
  Options options;
  Words words;
  declare_net(app, options);
  declare_messages(app, options, words);
  declare_manner(app, options, words);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    return CommandLine{std::nullopt, app.help()};
  } catch (const CLI::ParseError& error) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{}. See nccl_host --help.", error.what())};
  }
  if (const Status read = interpret(words, options); !read) {
    return read.error();
  }
  return CommandLine{std::move(options), {}};
}

}  // namespace rocelane::nccl_host
