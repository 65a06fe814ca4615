#pragma once

// What the files below /sys say of the run's devices comes from here.

#include <string>
#include <vector>

#include "softverbs/description/run_description.h"
#include "softverbs/include/softverbs/softverbs.h"

namespace rocelane::softverbs {

// A device as this process sees it.
struct VisibleDevice {
  std::string name;  // "soft_0"; where several hosts are seen, "host1/soft_0"
  const DeviceDescription* description = nullptr;  // lives as long as the source
};

struct PortFacts {
  bool up = true;
  int gid_slots = 64;  // length of the GID table
  std::vector<GidDescription> gids;
};

// Asked by any thread at any time, from within open() and its like: an implementation must hold no
// lock while it calls such functions itself on files below /sys. What it throws becomes ENOMEM.
class Source {
 public:
  virtual ~Source() = default;

  virtual std::vector<VisibleDevice> devices() const = 0;
  // `device`: a place in devices().
  virtual PortFacts port(size_t device) const = 0;
  virtual softverbs_device_counters counters(size_t device) const = 0;
};

// `source` must outlive every later read; nullptr, the state at first: the machine's own files are
// shown.
void set_source(const Source* source);
const Source* current_source();

}  // namespace rocelane::softverbs
