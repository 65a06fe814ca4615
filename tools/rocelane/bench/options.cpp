#include "bench/options.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "nccl_host/options.h"

namespace rocelane::bench {
namespace {

const std::vector<std::string> kUsualSizes{"8", "256", "4K", "32K", "128K", "512K", "4M"};
constexpr const char* kUsualSpreadSize = "256K";
constexpr int kCountedMessages = 1000;
constexpr int kSpreadMessages = 2000;
constexpr int kMostConnections = 4096;

Error wrong(const std::string& sentence) { return {ErrorCode::kInvalidArgument, sentence}; }

void declare_nets(CLI::App& app, CommandLine& line) {
  app.add_option("--net", line.options.net.plugin,
                 "The net: a library as NCCL_NET_PLUGIN names it, or ib for NCCL's own")
      ->capture_default_str();
  app.add_option("--vs", line.rival,
                 "A second net, measured in turn with the first: ib, or a plugin");
  app.add_option("--abi", line.options.net.abi, "Version of --net's table; 0: the newest it has")
      ->check(CLI::Range(0, nccl_host::kNewestAbi))
      ->capture_default_str();
  app.add_option("--nccl-library", line.options.net.nccl_library, "Where NCCL's own net is")
      ->capture_default_str();
}

void declare_places(CLI::App& app, CommandLine& line) {
  Options& options = line.options;
  app.add_option("--devices", options.devices,
                 "Sending and receiving device, by name or number; a+b: two rails as one")
      ->delimiter(',');
  app.add_option("--rails", options.rails, "Rails of each end, made one device")
      ->check(CLI::Range(1, 8))
      ->capture_default_str();
  app.add_option("--connections", options.connections, "Connections that send at the same time")
      ->check(CLI::Range(1, kMostConnections))
      ->capture_default_str();
  app.add_option("--lanes", line.lanes,
                 "Lanes of a connection: sets ROCELANE_LANES, and NCCL_IB_QPS_PER_CONNECTION for "
                 "NCCL's own net; not given: as these say, or each net's default")
      ->check(CLI::Range(1, 128));
  app.add_option("--window", options.window, "Outstanding messages of a connection; NCCL has 8")
      ->check(CLI::Range(1, int{kNcclNetMaxRequests}))
      ->capture_default_str();
  app.add_option("--traffic-class", options.traffic_class, "Of the communicator; -1: none")
      ->check(CLI::Range(-1, 255))
      ->capture_default_str();
}

void declare_messages(CLI::App& app, CommandLine& line) {
  app.add_option("--sizes", line.sizes, "Sizes of messages in bytes; K, M: powers of 1024")
      ->delimiter(',')
      ->default_str(fmt::format("{}", fmt::join(kUsualSizes, ",")));
  app.add_option("--repeats", line.options.repeats, "Times every size is measured")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  app.add_option("--seconds", line.options.seconds, "About how long to measure, all sizes together")
      ->check(CLI::Range(0.01, 86'400.0))
      ->capture_default_str();
  app.add_option("--under-load", line.load,
                 "Only latency, while --connections fill the wire with messages of this size");
  app.add_flag("--counts", line.options.counts,
               "Also count work requests, posts, completions and polls (softverbs), and "
               "instructions (valgrind)");
  app.add_option("--messages", line.messages,
                 fmt::format("Messages to count on each connection ({}); --spread: on all together "
                             "({})",
                             kCountedMessages, kSpreadMessages))
      ->check(CLI::Range(1, 10'000'000));
  app.add_option("--profiles", line.options.profiles,
                 "With --counts: keep callgrind's profiles in this folder, for callgrind_annotate")
      ->check(CLI::ExistingDirectory);
  app.add_flag("--no-callgrind", line.no_callgrind, "Do not count instructions");
}

void declare_other_work(CLI::App& app, CommandLine& line) {
  app.add_option("--idle", line.idle,
                 "Instead: what a round over so many connections costs when there is nothing to do")
      ->check(CLI::Range(1, kMostConnections));
  app.add_option("--setup", line.set_up,
                 "Instead: time to set up so many connections, and memory of each")
      ->check(CLI::Range(1, kMostConnections));
  app.add_option("--spread", line.spread,
                 "Instead: how evenly all hosts of --fabric fill its paths, for so many seeds")
      ->check(CLI::Range(1, 10'000));
  app.add_option("--traffic", line.traffic, "--spread: who sends to whom: ring or all-to-all")
      ->check([](const std::string& text) {
        return text == "ring" || text == "all-to-all"
                   ? std::string()
                   : fmt::format("'{}' is unknown; write ring or all-to-all", text);
      })
      ->capture_default_str();
  app.add_option("--fabric", line.options.fabric_file,
                 "Run on softverbs' virtual clock with this fabric (docs/lab.md); times are its")
      ->check(CLI::ExistingFile);
  app.add_option("--seed", line.options.seed, "Of the fabric; --spread: the first of them")
      ->capture_default_str();
  app.add_option("--deadline", line.options.patience_s,
                 "Seconds any wait may last without anything moving")
      ->check(CLI::Range(0.01, 1e6))
      ->capture_default_str();
  app.add_option("--json", line.options.json_file, "Also write the results to this file");
  app.add_flag("--verbose", line.options.verbose, "Show the nets' log lines");
}

Result<size_t> size_of(const std::string& option, const std::string& word) {
  const std::optional<size_t> bytes = nccl_host::parse_size_bytes(word);
  if (!bytes || *bytes == 0) {
    return wrong(
        fmt::format("{} '{}' is not a size from 1 to 1G; write 64, 4K or 1M.", option, word));
  }
  return *bytes;
}

Status read_sizes(const CommandLine& line, Options& options) {
  std::vector<std::string> words = line.sizes;
  if (words.empty()) {
    words = options.subject == Subject::kSpread ? std::vector<std::string>{kUsualSpreadSize}
                                                : kUsualSizes;
  }
  if (options.subject == Subject::kSpread && words.size() != 1) {
    return wrong("--spread sends messages of one size: name one with --sizes.");
  }
  for (const std::string& word : words) {
    const Result<size_t> bytes = size_of("--sizes", word);
    if (!bytes) {
      return bytes.error();
    }
    options.sizes.push_back(*bytes);
  }
  if (line.load.empty()) {
    return {};
  }
  const Result<size_t> load = size_of("--under-load", line.load);
  if (!load) {
    return load.error();
  }
  options.load_bytes = *load;
  return {};
}

Status choose_work(const CommandLine& line, Options& options) {
  if ((line.idle > 0) + (line.set_up > 0) + (line.spread > 0) > 1) {
    return wrong("--idle, --setup and --spread are different measurements: ask for one of them.");
  }
  if (line.idle > 0) {
    options.subject = Subject::kIdle;
    options.connections = line.idle;
  } else if (line.set_up > 0) {
    options.subject = Subject::kSetUp;
    options.connections = line.set_up;
  } else if (line.spread > 0) {
    options.subject = Subject::kSpread;
    options.seeds = line.spread;
  }
  return {};
}

Status check_together(const Options& options) {
  if (options.rival == options.net.plugin) {
    return wrong(fmt::format("--vs {} would compare the net with itself: name another one.",
                             *options.rival));
  }
  if (!options.devices.empty() && options.devices.size() != 2) {
    return wrong(
        fmt::format("--devices names {} places; name two, the sending and the receiving "
                    "one, as in soft_0,soft_1.",
                    options.devices.size()));
  }
  if (!options.devices.empty() && options.rails != 1) {
    return wrong(
        "--rails chooses devices by itself: name them with --devices, as in "
        "soft_0+soft_1,soft_2+soft_3, or leave --devices out.");
  }
  const bool can_count = options.subject == Subject::kIdle ||
                         (options.subject == Subject::kSizes && !options.load_bytes);
  if (options.counts && !can_count) {
    return wrong(
        "--counts counts messages of --sizes, or rounds of --idle: leave --setup, "
        "--spread and --under-load out.");
  }
  if (!options.profiles.empty() && !options.counts) {
    return wrong("--profiles keeps what --counts measures: add --counts.");
  }
  if (options.load_bytes && options.subject != Subject::kSizes) {
    return wrong(
        "--under-load measures latency of --sizes: leave --idle, --setup and --spread "
        "out.");
  }
  if (options.subject == Subject::kSpread &&
      (options.fabric_file.empty() || !options.devices.empty())) {
    return wrong(
        "--spread needs a fabric with --fabric and uses all its devices: leave --devices "
        "out.");
  }
  if (!options.fabric_file.empty() &&
      (options.subject == Subject::kIdle || options.subject == Subject::kSetUp)) {
    return wrong(
        "--idle and --setup cost the processor's time, which a fabric does not change: "
        "leave --fabric out.");
  }
  return {};
}

}  // namespace

void declare_options(CLI::App& app, CommandLine& line) {
  declare_nets(app, line);
  declare_places(app, line);
  declare_messages(app, line);
  declare_other_work(app, line);
}

Result<Options> interpret(const CommandLine& line) {
  Options options = line.options;
  if (!line.rival.empty()) {
    options.rival = line.rival;
  }
  if (line.lanes > 0) {
    options.lanes = line.lanes;
  }
  options.callgrind = !line.no_callgrind;
  options.traffic = *nccl_host::traffic_named(line.traffic);
  if (const Status chosen = choose_work(line, options); !chosen) {
    return chosen.error();
  }
  options.messages = line.messages > 0                     ? line.messages
                     : options.subject == Subject::kSpread ? kSpreadMessages
                                                           : kCountedMessages;
  if (const Status read = read_sizes(line, options); !read) {
    return read.error();
  }
  if (const Status fits = check_together(options); !fits) {
    return fits.error();
  }
  return options;
}

}  // namespace rocelane::bench
