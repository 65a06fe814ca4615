// Runs a fuzzer where there is no libFuzzer:
//
//   <fuzzer> [--runs N] [--seed S]    N changed inputs; the same seed gives the same ones
//   <fuzzer> FILE                     this one
//
// An input that ends the program is left in the file it names.

#include <charconv>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "fuzzer.h"
#include "mutation.h"

// Whatever a sanitizer finds ends in SIGABRT, where the input is kept.
extern "C" [[gnu::visibility("default")]] const char* __asan_default_options();
extern "C" [[gnu::visibility("default")]] const char* __ubsan_default_options();
extern "C" const char* __asan_default_options() { return "abort_on_error=1"; }
extern "C" const char* __ubsan_default_options() { return "abort_on_error=1:print_stacktrace=1"; }

namespace rocelane::fuzz {
namespace {

Input current;          // NOLINT: a signal handler has no arguments of ours
std::string kept_path;  // NOLINT

extern "C" void keep_input(int signal) {
  const int file = ::open(kept_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file >= 0 && ::write(file, current.data(), current.size()) >= 0) {
    std::fprintf(stderr, "fuzz: the input is in %s\n", kept_path.c_str());
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

struct Options {
  uint64_t runs = 100'000;
  uint64_t seed = std::random_device{}();
  std::string file;
};

std::optional<uint64_t> number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

std::optional<Options> read_options(std::span<char*> arguments) {
  Options options;
  for (size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    const bool is_runs = word == "--runs";
    if (is_runs || word == "--seed") {
      const auto value = i + 1 < arguments.size() ? number(arguments[++i]) : std::nullopt;
      if (!value) {
        return std::nullopt;
      }
      (is_runs ? options.runs : options.seed) = *value;
    } else if (word.starts_with("-") || !options.file.empty()) {
      return std::nullopt;
    } else {
      options.file = word;
    }
  }
  return options;
}

void run_current() { LLVMFuzzerTestOneInput(current.data(), current.size()); }

int run_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "fuzz: cannot read %s\n", path.c_str());
    return 2;
  }
  current.assign(std::istreambuf_iterator<char>(file), {});
  run_current();
  return 0;
}

int run_mutants(const Options& options) {
  const std::vector<Input> good = good_inputs();
  for (const Input& input : good) {
    const uint64_t before = accepted_count;
    current = input;
    run_current();
    require(accepted_count > before, "an input that ought to be good is accepted");
  }
  accepted_count = 0;
  Random random(options.seed);
  for (uint64_t run = 0; run < options.runs; ++run) {
    current = mutant(good, random);
    current.shrink_to_fit();  // so that AddressSanitizer sees the first byte behind it
    run_current();
  }
  std::printf("fuzz: %llu inputs, %llu of them accepted, all as promised\n",
              static_cast<unsigned long long>(options.runs),
              static_cast<unsigned long long>(accepted_count));
  require(options.runs < 1000 || accepted_count > 0, "some changed input is accepted");
  return 0;
}

}  // namespace
}  // namespace rocelane::fuzz

int main(int argc, char** argv) {
  using namespace rocelane::fuzz;
  const auto options = read_options({argv, static_cast<size_t>(argc)});
  if (!options) {
    std::fprintf(stderr, "usage: %s [--runs N] [--seed S] | FILE\n", argv[0]);
    return 2;
  }
  if (!options->file.empty()) {
    return run_file(options->file);
  }
  const std::string program = argv[0];
  kept_path =
      program.substr(program.rfind('/') + 1) + "-" + std::to_string(options->seed) + ".input";
  std::signal(SIGABRT, keep_input);
  std::printf("fuzz: --runs %llu --seed %llu\n", static_cast<unsigned long long>(options->runs),
              static_cast<unsigned long long>(options->seed));
  std::fflush(stdout);
  return run_mutants(*options);
}
