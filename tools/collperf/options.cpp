#include "collperf/options.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rocelane::collperf {
namespace {

// As typed. Everything is text so that every mistake gets our sentence, with the allowed values.
struct Words {
  std::string collective;
  std::string min_bytes = "32M";
  std::string max_bytes = "32M";
  std::string step_bytes = "1M";
  std::string step_factor = "1";
  std::string iterations = "20";
  std::string warmup_iterations = "5";
  std::string calls_per_iteration = "1";
  std::string checks = "1";
  std::string type = "float";
  std::string op = "sum";
  std::string root = "0";
  std::string gpus = "1";
  std::string threads = "1";
  std::string average = "1";
  std::string blocking = "0";
  std::string deadline = "300";
  std::string traffic_class = "-1";
  std::string json_file;
};

// Keeps the first mistake; later readers go on with defaults and are not believed.
class Reader {
 public:
  template <class... Args>
  void refuse(fmt::format_string<Args...> format, Args&&... args) {
    if (!mistake_) {
      mistake_ =
          Error{ErrorCode::kInvalidArgument, fmt::format(format, std::forward<Args>(args)...)};
    }
  }

  int number(std::string_view flag, const std::string& text, int smallest,
             int largest = std::numeric_limits<int>::max()) {
    int value = smallest;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc{} && rest == text.data() + text.size();
    if (!whole || value < smallest || value > largest) {
      refuse("{} must be a whole number from {} to {}, not '{}'.", flag, smallest, largest, text);
      return smallest;
    }
    return value;
  }

  size_t size(std::string_view flag, const std::string& text) {
    const std::optional<size_t> bytes = parse_size_bytes(text);
    if (!bytes) {
      refuse("{} must be a number of bytes, with K, M or G for powers of 1024, not '{}'.", flag,
             text);
    }
    return bytes.value_or(0);
  }

  template <class Enum, size_t N>
  Enum one_of(std::string_view what, const std::string& text, const std::array<Enum, N>& all) {
    for (const Enum candidate : all) {
      if (name_of(candidate) == text) {
        return candidate;
      }
    }
    refuse("{} '{}' is unknown; allowed are {}.", what, text, fmt::join(names(all), ", "));
    return all.front();
  }

  template <class Enum, size_t N>
  std::vector<Enum> one_or_all(std::string_view flag, const std::string& text,
                               const std::array<Enum, N>& all) {
    if (text == "all") {
      return {all.begin(), all.end()};
    }
    for (const Enum candidate : all) {
      if (name_of(candidate) == text) {
        return {candidate};
      }
    }
    refuse("{} '{}' is unknown; allowed are {} and all.", flag, text, fmt::join(names(all), ", "));
    return {all.front()};
  }

  const std::optional<Error>& mistake() const { return mistake_; }

 private:
  template <class Enum, size_t N>
  static std::vector<std::string_view> names(const std::array<Enum, N>& all) {
    std::vector<std::string_view> names;
    std::transform(all.begin(), all.end(), std::back_inserter(names),
                   [](Enum value) { return name_of(value); });
    return names;
  }

  std::optional<Error> mistake_;
};

void declare(CLI::App& app, Words& words) {
  app.add_option("COLLECTIVE", words.collective,
                 "all_reduce, all_gather, reduce_scatter, broadcast, reduce, alltoall, sendrecv, "
                 "gather or scatter")
      ->required();
  app.add_option("-b,--minbytes", words.min_bytes, "First size (K, M, G: powers of 1024)")
      ->capture_default_str();
  app.add_option("-e,--maxbytes", words.max_bytes, "Last size")->capture_default_str();
  app.add_option("-i,--stepbytes", words.step_bytes, "Add this from size to size")
      ->capture_default_str();
  app.add_option("-f,--stepfactor", words.step_factor,
                 "Multiply by this instead; 1 means add --stepbytes")
      ->capture_default_str();
  app.add_option("-n,--iters", words.iterations, "Timed iterations")->capture_default_str();
  app.add_option("-w,--warmup_iters", words.warmup_iterations,
                 "Untimed iterations at the largest and the smallest size")
      ->capture_default_str();
  app.add_option("-m,--agg_iters", words.calls_per_iteration, "Calls grouped into one iteration")
      ->capture_default_str();
  app.add_option("-c,--check", words.checks,
                 "Checked runs a line: every element and the bytes around; 0: none")
      ->capture_default_str();
  app.add_option("-d,--datatype", words.type,
                 "int8, uint8, int32, uint32, int64, uint64, half, float, double, bfloat16 or all")
      ->capture_default_str();
  app.add_option("-o,--op", words.op,
                 "sum, prod, max, min, avg, mulsum (each rank scales its part) or all")
      ->capture_default_str();
  app.add_option("-r,--root", words.root, "Root rank of broadcast, reduce, gather, scatter, or all")
      ->capture_default_str();
  app.add_option("-g,--ngpus", words.gpus, "GPUs, and so ranks, of each process")
      ->capture_default_str();
  app.add_option("-t,--nthreads", words.threads, "Only 1: use -g or more processes")
      ->capture_default_str();
  app.add_option("-a,--average", words.average,
                 "Time shown: 0 rank 0, 1 average, 2 fastest, 3 slowest rank")
      ->capture_default_str();
  app.add_option("-z,--blocking", words.blocking, "1: wait for every call before the next")
      ->capture_default_str();
  app.add_option("-T,--timeout,--deadline", words.deadline,
                 "Seconds any single wait may take; 0: for ever (nccl-tests' default)")
      ->capture_default_str();
  app.add_option("--traffic_class", words.traffic_class,
                 "The communicator's trafficClass, 0..255; -1: NCCL's default")
      ->capture_default_str();
  app.add_option("--json", words.json_file, "Also write the results to this file, by rank 0");
  app.footer(
      "Ranks: RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT as torchrun sets them; "
      "unset, one process.\nNCCL's settings (NCCL_ALGO, NCCL_PROTO, NCCL_NET_PLUGIN, ...) apply.");
}

Options interpret(const Words& words, Reader& read) {
  Options options;
  options.collective = read.one_of("COLLECTIVE", words.collective, kAllCollectives);
  options.sizes.min_bytes = read.size("-b,--minbytes", words.min_bytes);
  options.sizes.max_bytes = read.size("-e,--maxbytes", words.max_bytes);
  options.sizes.step_bytes = read.size("-i,--stepbytes", words.step_bytes);
  options.sizes.step_factor =
      static_cast<size_t>(read.number("-f,--stepfactor", words.step_factor, 1));
  options.iterations = read.number("-n,--iters", words.iterations, 1);
  options.warmup_iterations = read.number("-w,--warmup_iters", words.warmup_iterations, 0);
  options.calls_per_iteration = read.number("-m,--agg_iters", words.calls_per_iteration, 1);
  options.checks = read.number("-c,--check", words.checks, 0);
  options.types = read.one_or_all("-d,--datatype", words.type, kAllElementTypes);
  options.ops = read.one_or_all("-o,--op", words.op, kAllReduceOps);
  options.root =
      words.root == "all" ? std::nullopt : std::optional(read.number("-r,--root", words.root, 0));
  options.gpus_per_process = read.number("-g,--ngpus", words.gpus, 1, 1024);
  options.time_of = static_cast<TimeOf>(read.number("-a,--average", words.average, 0, 3));
  options.wait_after_each_call = read.number("-z,--blocking", words.blocking, 0, 1) == 1;
  options.deadline_s = read.number("-T,--timeout,--deadline", words.deadline, 0);
  const int traffic_class = read.number("--traffic_class", words.traffic_class, -1, 255);
  options.traffic_class = traffic_class < 0 ? std::nullopt : std::optional(traffic_class);
  options.json_file = words.json_file;

  if (words.threads != "1") {
    read.refuse("-t,--nthreads must be 1, not '{}': use -g for more GPUs in one process.",
                words.threads);
  }
  if (options.sizes.min_bytes > options.sizes.max_bytes) {
    read.refuse("-b,--minbytes {} is larger than -e,--maxbytes {}.", words.min_bytes,
                words.max_bytes);
  }
  const bool one_size = options.sizes.min_bytes == options.sizes.max_bytes;
  if (!one_size && options.sizes.multiplies() && options.sizes.min_bytes == 0) {
    read.refuse("-b,--minbytes must be at least 1 with -f,--stepfactor: 0 times anything is 0.");
  }
  if (!one_size && !options.sizes.multiplies() && options.sizes.step_bytes == 0) {
    read.refuse("-i,--stepbytes must be at least 1 when the sizes differ.");
  }
  return options;
}

}  // namespace

Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments) {
  CLI::App app("Times NCCL's collectives and checks every element of the results.", "collperf");
  Words words;
  declare(app, words);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    return CommandLine{std::nullopt, app.help()};
  } catch (const CLI::ParseError& error) {
    return Error{ErrorCode::kInvalidArgument, fmt::format("{} See collperf --help.", error.what())};
  }
  Reader read;
  Options options = interpret(words, read);
  if (read.mistake()) {
    return *read.mistake();
  }
  return CommandLine{std::move(options), {}};
}

}  // namespace rocelane::collperf
