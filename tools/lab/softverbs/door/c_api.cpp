// The functions of include/softverbs/softverbs.h.

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "softverbs/description/read_files.h"
#include "softverbs/door/counter_reading.h"
#include "softverbs/door/lab_run.h"
#include "softverbs/door/objects.h"
#include "softverbs/include/softverbs/softverbs.h"
#include "softverbs/timed/event_log.h"
#include "softverbs/timed/timed.h"

using namespace rocelane;
using namespace rocelane::softverbs;
using namespace rocelane::softverbs::door;

namespace {

int refuse(const std::string& why, char* error, size_t capacity) {
  if (error != nullptr && capacity > 0) {
    error[why.copy(error, capacity - 1)] = '\0';
  }
  return EINVAL;
}

std::string text_of(const char* text) { return text == nullptr ? "" : text; }

// Faults that other processes of the run have to carry out too, which do not know them.
bool is_for_later(const Fault& fault) {
  return !fault.trigger.by_time || fault.trigger.at_ns > 0 || fault.duration_ns > 0;
}

}  // namespace

SOFTVERBS_API int softverbs_query_qp(ibv_qp* qp, softverbs_qp_counters* counters) {
  *counters = read_counters(run().queue_pair(ours(qp)->slot).counters);
  return 0;
}

SOFTVERBS_API int softverbs_query_device(ibv_context* context,
                                         softverbs_device_counters* counters) {
  *counters = read_device_counters(run(), ours(context)->device);
  return 0;
}

SOFTVERBS_API int softverbs_query_link(const char* name, softverbs_link_counters* counters) {
  Run* current = Run::joined();
  if (current == nullptr || !current->timed()) {
    return ENODEV;
  }
  const std::vector<int> links = current->topology().links_named(name);
  if (links.size() != 1) {
    return links.empty() ? ENOENT : EINVAL;
  }
  *counters = read_link_counters(*current, static_cast<uint32_t>(links.front()));
  return 0;
}

SOFTVERBS_API size_t softverbs_counters_json(char* text, size_t capacity) {
  Run* current = Run::joined();
  const std::string whole = current == nullptr ? "{}" : counters_text(*current);
  if (capacity > 0) {
    text[whole.copy(text, capacity - 1)] = '\0';
  }
  return whole.size();
}

SOFTVERBS_API int softverbs_open_virtual(const char* fabric, const char* faults, uint64_t seed,
                                         char* error, size_t error_capacity) {
  if (Status status = Run::open_virtual(text_of(fabric), text_of(faults), seed); !status) {
    return refuse(status.error().what, error, error_capacity);
  }
  timed::begin(*join_run());
  return 0;
}

SOFTVERBS_API void softverbs_close_virtual() {
  if (Run* current = Run::joined(); current != nullptr && current->is_virtual()) {
    Run::close();
  }
}

SOFTVERBS_API uint64_t softverbs_now_ns() {
  Run* current = Run::joined();
  return current == nullptr ? 0 : current->now_ns();
}

SOFTVERBS_API uint64_t softverbs_next_event_ns() {
  Run* current = Run::joined();
  return current == nullptr || !current->timed() ? UINT64_MAX
                                                 : current->fabric().next_event_ns.load();
}

SOFTVERBS_API uint64_t softverbs_run_until(uint64_t time_ns) {
  Run* current = Run::joined();
  return current == nullptr || !current->is_virtual() ? 0 : timed::run_until(*current, time_ns);
}

SOFTVERBS_API int softverbs_inject(const char* faults, char* error, size_t error_capacity) {
  Run* current = Run::joined();
  if (current == nullptr || !current->timed()) {
    return refuse(
        "softverbs: faults need a timed run: give ROCELANE_LAB_FAULTS a file, which may "
        "be empty, or a fabric with limits",
        error, error_capacity);
  }
  auto script = read_faults(text_of(faults), "faults", current->description());
  if (!script) {
    return refuse(script.error().what, error, error_capacity);
  }
  if (!current->is_virtual() &&
      std::any_of(script->faults.begin(), script->faults.end(), is_for_later)) {
    return refuse(
        "softverbs: in real time only faults that happen at once and stay can be "
        "injected; write the others into the file that ROCELANE_LAB_FAULTS names",
        error, error_capacity);
  }
  if (current->faults().faults.size() + script->faults.size() > kMostInjectedFaults) {
    return refuse("softverbs: more than 4096 faults in one run", error, error_capacity);
  }
  timed::inject(*current, *script);
  return 0;
}

SOFTVERBS_API void softverbs_log_events(void (*line)(void* user, const char* text), void* user) {
  timed::set_event_log(line, user);
}
