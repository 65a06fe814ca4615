#pragma once

// The run this process takes part in: what it was described as, and the memory it shares.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "softverbs/description/fault_script.h"
#include "softverbs/description/run_description.h"
#include "softverbs/fabric/topology.h"
#include "softverbs/segment/layout.h"
#include "softverbs/segment/pipes.h"
#include "softverbs/segment/run_folder.h"

namespace rocelane::softverbs {

constexpr int kAllHosts = 0;

// The environment of the process: see docs/lab.md.
struct RunSettings {
  std::string name = "default";
  int host = 1;  // or kAllHosts
  std::string fabric_text, fabric_file;
  std::string faults_text, faults_file;
  bool has_faults = false;
  std::string counters_file;  // empty: none
};

Result<RunSettings> read_run_settings(const char* (*environment)(const char* name));

class Run {
 public:
  // The process' run. Joins the one of the environment the first time; a failure is said once on
  // standard error, and then there is none: nullptr. Thread-safe.
  static Run* current();
  // The run if there is one by now; joins none.
  static Run* joined();

  // A private run on a virtual clock. Fails while another run is joined.
  static Status open_virtual(const std::string& fabric, const std::string& faults, uint64_t seed);
  static void close();  // whichever it is; the caller knows that nothing uses it any more
  // The process ends: gives up what it has in the run. The memory stays, since other threads may
  // still be in a call.
  static void leave_at_exit();

  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  const RunDescription& description() const { return description_; }
  const Topology& topology() const { return *topology_; }
  const FaultScript& faults() const { return faults_; }
  // Adds faults to those of the script; the number of the first. Only this process knows them.
  uint32_t add_faults(const FaultScript& more);
  const RunSettings& settings() const { return settings_; }

  // Timed: data takes time and faults happen; everything goes through the event queue of the
  // fabric. Otherwise data is copied the moment it is posted.
  bool timed() const { return timed_; }
  bool is_virtual() const { return virtual_; }
  uint64_t serial() const { return serial_; }  // no two runs of a process have the same
  bool sees(int device) const;
  std::string visible_name(int device) const;

  // Nanoseconds since the run began. A thread that carries out an event of a timed run is at the
  // event's time (see AtTime), however late it is.
  uint64_t now_ns() const;
  void set_virtual_now(uint64_t now_ns) { virtual_now_ns_.store(now_ns); }

  // What the last process does before the run's memory is removed.
  void set_last_action(std::function<void(Run&)> action) { last_action_ = std::move(action); }

  // This process' slot.
  uint32_t process() const { return process_; }

  Header& header() const { return *reinterpret_cast<Header*>(base_); }
  Fabric& fabric() const { return header().fabric; }
  template <class T>
  T* at(Offset<T> offset) const {
    return reinterpret_cast<T*>(base_ + offset.value);
  }
  Device& device(uint32_t number) const { return at(header().devices)[number]; }
  Process& process_slot(uint32_t slot) const { return at(header().processes)[slot]; }
  Context& context(uint32_t slot) const { return at(header().contexts)[slot]; }
  Domain& domain(uint32_t slot) const { return at(header().domains)[slot]; }
  Region& region(uint32_t slot) const { return at(header().regions)[slot]; }
  CompletionQueue& completion_queue(uint32_t slot) const {
    return at(header().completion_queues)[slot];
  }
  SharedReceiveQueue& shared_receive_queue(uint32_t slot) const {
    return at(header().shared_receive_queues)[slot];
  }
  QueuePair& queue_pair(uint32_t slot) const { return at(header().queue_pairs)[slot]; }
  LinkState& link(uint32_t number) const { return at(fabric().links)[number]; }

  // Memory of the segment; fresh or used before. An empty offset when there is none left.
  template <class T>
  Offset<T> allocate(uint64_t bytes) {
    return {header().arena.allocate(
        base_, bytes, [this](uint64_t offset, uint64_t size) { return back(offset, size); })};
  }
  template <class T>
  void release(Offset<T> offset, uint64_t bytes) {
    header().arena.release(base_, offset.value, bytes);
  }

  // A free slot of a table; kNone when there is none, or no memory for one.
  template <class T>
  uint32_t claim(SlotTable& table, Offset<T> slots, uint32_t most) const {
    return claim_slot(table, at(slots), most, [&](uint32_t count) {
      return back_table(table.backed, slots.value, count, most, sizeof(T));
    });
  }
  // Whether the first `count` entries of a table can be touched.
  bool back_table(std::atomic<uint32_t>& backed, uint64_t offset, uint32_t count, uint32_t most,
                  uint64_t entry_bytes) const;

  // For asynchronous events of a context ("events") and completion events of a channel ("channel").
  Pipes& pipes() { return pipes_; }

 private:
  Run();
  void leave();
  static void forget_in_child();
  static Result<std::unique_ptr<Run>> join(RunSettings settings);
  static Result<std::unique_ptr<Run>> make_virtual(const std::string& fabric,
                                                   const std::string& faults, uint64_t seed);
  Status describe(const std::string& fabric, const std::string& fabric_file,
                  const std::string& faults, const std::string& faults_file);
  Status map(uint64_t bytes);
  Status prepare(uint64_t bytes);
  Status enter();
  uint64_t digest() const;
  bool back(uint64_t offset, uint64_t bytes) const;

  RunSettings settings_;
  RunDescription description_;
  std::unique_ptr<Topology> topology_;
  FaultScript faults_;
  bool timed_ = false;
  bool virtual_ = false;
  std::atomic<uint64_t> virtual_now_ns_{0};
  std::optional<RunFolder> folder_;
  Pipes pipes_;
  std::byte* base_ = nullptr;
  uint64_t mapped_bytes_ = 0;
  uint32_t process_ = kNone;
  bool entered_ = false;
  uint64_t serial_;
  std::function<void(Run&)> last_action_;
};

// While it lives, the run's clock shows this time to the thread that made it.
class AtTime {
 public:
  explicit AtTime(uint64_t time_ns);
  ~AtTime();
  AtTime(const AtTime&) = delete;
  AtTime& operator=(const AtTime&) = delete;
};

// Gives up everything that belongs to a process, as the kernel does when it ends.
void reap(Run& run, uint32_t process);

}  // namespace rocelane::softverbs
