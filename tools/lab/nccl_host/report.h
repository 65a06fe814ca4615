#pragma once

#include <string>
#include <vector>

#include "nccl_host/life.h"
#include "nccl_host/options.h"

namespace rocelane::nccl_host {

// All lives of one net.
struct NetReport {
  std::string path;
  bool built_in = false;
  bool unloaded = false;
  LiveObjects left_behind;        // after the last life: unloaded, if that is possible
  std::vector<LifeResult> lives;  // not empty

  const LifeResult& last() const { return lives.back(); }
  size_t wrong_bytes() const;
  bool is_right() const;  // no wrong byte and no wrong size in any life
};

// A column a net; counts are of the last life.
std::string text_report(const Options& options, const std::vector<NetReport>& nets);
std::string json_report(const Options& options, const std::vector<NetReport>& nets);

}  // namespace rocelane::nccl_host
