#include "bench/contestants.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "bench/callgrind.h"

namespace rocelane::bench {
namespace {

constexpr const char* kBuiltIn = "ib";
// Callgrind runs one thread at a time, slowly.
constexpr double kCallgrindPatience = 20;

std::map<std::string, std::string> environment_for(const Options& options, const std::string& net) {
  std::map<std::string, std::string> environment;
  // NCCL 2.28.9 crashes on RoCE devices that are not mlx5 without it.
  if (net == kBuiltIn && std::getenv("NCCL_GIN_TYPE") == nullptr) {
    environment.emplace("NCCL_GIN_TYPE", "2");
  }
  if (options.lanes) {
    environment[net == kBuiltIn ? "NCCL_IB_QPS_PER_CONNECTION" : "ROCELANE_LANES"] =
        std::to_string(*options.lanes);
  }
  return environment;
}

}  // namespace

Result<TemporaryFolder> TemporaryFolder::create() {
  std::error_code error;
  std::string path =
      (std::filesystem::temp_directory_path(error) / "rocelane-bench-XXXXXX").string();
  if (error || ::mkdtemp(path.data()) == nullptr) {
    return Error{ErrorCode::kSystem, fmt::format("No folder for profiles can be made in {}: {}.",
                                                 path, std::strerror(errno))};
  }
  return TemporaryFolder(path);
}

TemporaryFolder::~TemporaryFolder() {
  if (!path_.empty()) {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
}

std::vector<std::string> nets_of(const Options& options) {
  std::vector<std::string> nets{options.net.plugin};
  if (options.rival) {
    nets.push_back(*options.rival);
  }
  return nets;
}

Result<Contestant> start_contestant(const Options& options, const std::string& net,
                                    const Wanted& wanted,
                                    const std::optional<std::string>& fabric) {
  SessionSettings settings;
  settings.net = options.net;
  settings.net.plugin = net;
  settings.net.abi = net == options.net.plugin ? options.net.abi : 0;
  settings.devices = options.devices;
  settings.rails = options.rails;
  settings.whole_fabric = wanted.whole_fabric;
  settings.whole_fabric_bytes = wanted.whole_fabric_bytes;
  settings.connections = wanted.connections;
  settings.window = options.window;
  settings.traffic_class = options.traffic_class;
  settings.patience_s = options.patience_s;
  settings.fabric = fabric;
  settings.seed = wanted.seed;
  WorkerCommand command{{}, environment_for(options, net), options.verbose};
  std::optional<TemporaryFolder> profiles;
  if (wanted.in_callgrind) {
    Result<TemporaryFolder> folder = TemporaryFolder::create();
    if (!folder) {
      return folder.error();
    }
    profiles.emplace(std::move(*folder));
    settings.profile_folder = profiles->path();
    settings.keep_profiles = options.profiles;
    settings.patience_s *= kCallgrindPatience;
    command.before = callgrind_command(profiles->path());
  }
  Result<WorkerProcess> process = WorkerProcess::start(command);
  if (!process) {
    return process.error();
  }
  Result<SetUpAnswer> set_up = process->open(settings);
  if (!set_up) {
    return set_up.error();
  }
  return Contestant{std::move(*process), std::move(*set_up), std::move(profiles)};
}

}  // namespace rocelane::bench
