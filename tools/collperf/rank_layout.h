#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"

namespace rocelane::collperf {

// Which process of how many this is, and where they all meet. Each process has `gpus` ranks.
struct RankLayout {
  int process = 0;
  int processes = 1;
  int local_process = 0;
  int gpus = 1;
  std::string meeting_host = "127.0.0.1";
  uint16_t meeting_port = 29500;

  int ranks() const { return processes * gpus; }
  int rank_of(int gpu) const { return process * gpus + gpu; }
  int device_of(int gpu) const { return local_process * gpus + gpu; }
  bool prints() const { return process == 0; }
};

using Environment = std::function<std::optional<std::string>(const char* name)>;
std::optional<std::string> process_environment(const char* name);

// Reads RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT.
Result<RankLayout> rank_layout_from(const Environment& environment, int gpus);

}  // namespace rocelane::collperf
