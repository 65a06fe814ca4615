#pragma once

// The owner of this process's telemetry page. Layout, threads and the promise to readers are in
// rocelane/telemetry_page.h.
//
// Never a reason to fail: when no file can be made, the page is hidden, why_hidden() says why in
// one sentence, and recorders work as ever.

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "net/health/page_core.h"
#include "net/health/page_file.h"
#include "net/health/recorders.h"

namespace rocelane::telemetry {

// What the page takes from the system; tests bring their own.
struct Surroundings {
  OwnerFacts me = read_own_facts();
  StartTicksOf start_ticks_of = read_start_ticks;
  ReserveStorage reserve = reserve_storage;
};

struct PageSettings {
  std::string directory = "/dev/shm";
  Capacities capacities;
};

class TelemetryPage {
 public:
  // Removes leftovers of this user in the directory, then makes this process's page. Takes well
  // under a millisecond and one storage page; the page grows with claims.
  static std::unique_ptr<TelemetryPage> create(const PageSettings& settings,
                                               const Surroundings& surroundings, PageTime now);
  // For users who want none.
  static std::unique_ptr<TelemetryPage> hidden(const Surroundings& surroundings, PageTime now);
  TelemetryPage(const TelemetryPage&) = delete;
  TelemetryPage& operator=(const TelemetryPage&) = delete;
  // Removes the file. Recorders that are still out go on safely; nobody sees them.
  ~TelemetryPage() = default;

  // nullptr: hidden.
  const std::string* path() const { return file_ ? &file_->path() : nullptr; }
  // Set when create() could not do what it was asked for.
  const std::optional<Error>& why_hidden() const { return why_hidden_; }

  // From any thread that sets connections up; they take a mutex and may grow the file. What they
  // return goes back to the page when it is destroyed, which must not be in the data path either.
  PortRecorder claim_port(const PortIdentity& identity) { return {core_, identity}; }
  ConnectionRecorder claim_connection(const ConnectionIdentity& identity) {
    return {core_, identity};
  }
  LaneRecorder claim_lane(const LaneIdentity& identity) { return {core_, identity}; }

  // NCCL's rank in the first communicator, once it is known.
  void set_rank(int rank) { publish(core_->header().rank, int32_t{rank}); }
  // By the thread that samples the ports, every time it does.
  void set_time(PageTime now);

 private:
  explicit TelemetryPage(std::shared_ptr<PageCore> core) : core_(std::move(core)) {}

  std::optional<PageFile> file_;
  std::shared_ptr<PageCore> core_;
  std::optional<Error> why_hidden_;
};

}  // namespace rocelane::telemetry
