#include "device/kernel.h"

#include <map>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "device/arguments.h"
#include "device/channel_run.h"
#include "device/patience.h"
#include "device/work.h"

namespace rocelane::lab {
namespace {

// Built once for each NCCL image of the process and kept to its end.
const FunctionTable& functions_of(const NcclImage& image) {
  static std::mutex mutex;
  static auto& tables = *new std::map<const int*, FunctionTable>;
  const std::scoped_lock lock(mutex);
  return tables.try_emplace(image.dev_func_row_to_id, image.dev_func_row_to_id).first->second;
}

std::string not_emulated_in(const Launch& launch) {
  for (const ChannelWork& channel : launch.channels) {
    for (const Batch& batch : channel.batches) {
      if (std::string sentence = not_emulated_in(batch); !sentence.empty()) {
        return sentence;
      }
    }
  }
  return {};
}

bool is_aborted(const CommFacts& comm) {
  return comm.abort_flag != nullptr && load_shared(*comm.abort_flag) != 0;
}

void run_channels(const Launch& launch) {
  std::vector<ChannelRun> runs;
  runs.reserve(launch.channels.size());
  for (const ChannelWork& channel : launch.channels) {
    runs.emplace_back(launch.comm, channel);
  }
  std::vector<ChannelRun*> unfinished;
  for (ChannelRun& run : runs) {
    unfinished.push_back(&run);
  }
  Patience patience;
  while (!unfinished.empty() && !is_aborted(launch.comm)) {
    bool moved = false;
    std::erase_if(unfinished, [&](ChannelRun* run) {
      const Progress progress = run->advance();
      moved = moved || progress != Progress::kWaiting;
      return progress == Progress::kFinished;
    });
    if (moved) {
      patience.reset();
    } else {
      patience.pause();
    }
  }
}

}  // namespace

bool layouts_known(int nccl_version) { return nccl_version == 22809; }

std::string run_kernel(const NcclImage& image, const void* arguments, size_t bytes) {
  if (!layouts_known(image.version)) {
    return fmt::format(
        "the device structures of NCCL version {} are not described here; use NCCL 2.28.9",
        image.version);
  }
  Result<Launch> launch = decode_arguments_2_28(functions_of(image), arguments, bytes);
  if (!launch) {
    return launch.error().what;
  }
  if (std::string sentence = not_emulated_in(*launch); !sentence.empty()) {
    return sentence;
  }
  run_channels(*launch);
  return {};
}

}  // namespace rocelane::lab
