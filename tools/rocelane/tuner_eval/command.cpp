#include "tuner_eval/command.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "tuner/grid/grid_reader.h"
#include "tuner_eval/evaluation.h"

namespace rocelane::tuner_eval {
namespace {

enum ExitCode : int { kExitFine = 0, kExitBadInput = 2, kExitFailed = 3 };

int fail(const Error& error) {
  fmt::print(stderr, "rocelane tuner-eval: {}\n", error.what);
  return error.code == ErrorCode::kInvalidArgument ? kExitBadInput : kExitFailed;
}

Result<tuner::Grids> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) {
    return Error{ErrorCode::kSystem,
                 fmt::format("{} cannot be read: {}.", path, std::strerror(errno))};
  }
  return tuner::read_grids(text, path);
}

Status write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) {
    return Error{ErrorCode::kSystem,
                 fmt::format("{} cannot be written: {}.", path, std::strerror(errno))};
  }
  return {};
}

}  // namespace

int run_tuner_eval(const CommandLine& line) {
  const Result<Options> options = interpret(line);
  if (!options) {
    return fail(options.error());
  }
  const Result<tuner::Grids> grids = read_file(options->grid_file);
  if (!grids) {
    return fail(grids.error());
  }
  const Report report = evaluate(*grids, *options);
  const Result<tuner::Regret> all = regret_of(report.groups);
  if (!all) {
    return fail({ErrorCode::kInvalidArgument,
                 fmt::format("{} has no size with both a time of NCCL's own choice and one of a "
                             "forced choice, so there is nothing to compare.",
                             options->grid_file)});
  }
  fmt::print("{}", text_report(*options, report, *all));
  std::fflush(stdout);
  if (!options->json_file.empty()) {
    if (const Status written = write_file(options->json_file, json_report(*options, report, *all));
        !written) {
      return fail(written.error());
    }
  }
  return kExitFine;
}

}  // namespace rocelane::tuner_eval
