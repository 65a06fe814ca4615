#include "softverbs/door/lab_run.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "softverbs/door/counter_reading.h"
#include "softverbs/engine/addresses.h"
#include "softverbs/segment/run.h"
#include "softverbs/sysfs/source.h"
#include "softverbs/timed/timed.h"

namespace rocelane::softverbs::door {
namespace {

// What the files below /sys say.
class RunSource : public Source {
 public:
  std::vector<VisibleDevice> devices() const override {
    std::vector<VisibleDevice> visible;
    if (Run* run = join_run()) {
      for (const uint32_t number : numbers(*run)) {
        visible.push_back(
            {run->visible_name(static_cast<int>(number)), &run->description().devices[number]});
      }
    }
    return visible;
  }

  PortFacts port(size_t device) const override {
    PortFacts facts;
    Run& run = *Run::joined();
    const uint32_t number = numbers(run)[device];
    facts.up = run.device(number).port_up.load();
    facts.gid_slots = kMostGids;
    for (uint32_t index = 0; index < kMostGids; ++index) {
      if (const auto slot = read_gid(run, number, index)) {
        facts.gids.push_back({static_cast<int>(index), slot->gid, slot->roce_v2, slot->interface});
      }
    }
    return facts;
  }

  softverbs_device_counters counters(size_t device) const override {
    Run& run = *Run::joined();
    return read_device_counters(run, numbers(run)[device]);
  }

 private:
  static std::vector<uint32_t> numbers(const Run& run) {
    std::vector<uint32_t> seen;
    for (uint32_t number = 0; number < run.header().device_count; ++number) {
      if (run.sees(static_cast<int>(number))) {
        seen.push_back(number);
      }
    }
    return seen;
  }
};

const RunSource source;

// A program may look at the files before it asks for devices, and joins the run then.
__attribute__((constructor)) void begin_of_library() {
  if (std::getenv("ROCELANE_LAB_RUN") != nullptr) {
    set_source(&source);
  }
}

// Whole or not at all.
void write_counters(Run& run) {
  const std::string& file = run.settings().counters_file;
  const std::string draft = file + ".new";
  std::ofstream(draft) << counters_text(run) << '\n';
  if (std::rename(draft.c_str(), file.c_str()) != 0) {
    std::fprintf(stderr,
                 "softverbs: the counters could not be written to %s, which ROCELANE_LAB_COUNTERS "
                 "names: %s\n",
                 file.c_str(), std::strerror(errno));
  }
}

// At the end of the process, or of the library's stay in it.
__attribute__((destructor)) void end_of_library() { leave_run(); }

}  // namespace

Run* join_run() {
  Run* run = Run::current();
  if (run == nullptr) {
    return nullptr;
  }
  set_source(&source);
  if (!run->settings().counters_file.empty()) {
    run->set_last_action(write_counters);
  }
  return run;
}

void leave_run() {
  timed::stop();
  set_source(nullptr);
  Run::leave_at_exit();
}

}  // namespace rocelane::softverbs::door
