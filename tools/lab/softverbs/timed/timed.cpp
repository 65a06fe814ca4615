#include "softverbs/timed/timed.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <optional>
#include <thread>
#include <utility>

#include <unistd.h>

#include "softverbs/engine/send_queue.h"
#include "softverbs/segment/process_table.h"
#include "softverbs/timed/event_queue.h"
#include "softverbs/timed/faults.h"
#include "softverbs/timed/links.h"
#include "softverbs/timed/recovery.h"
#include "softverbs/timed/requester.h"
#include "softverbs/timed/responder.h"

namespace rocelane::softverbs::timed {
namespace {

// How late packets may arrive while nobody calls verbs; their times are exact nevertheless.
constexpr uint64_t kGrainNs = 250'000;
constexpr uint64_t kIdleNs = 20'000'000;

void handle(Run& run, const Event& event) {
  switch (event.kind) {
    case Event::Kind::kBurst:
      arrive(run, event.subject);
      return;
    case Event::Kind::kDeliver:
      deliver(run, event.subject);
      return;
    case Event::Kind::kLinkFree:
      link_is_free(run, event.subject);
      return;
    case Event::Kind::kTimer:
      timer_fires(run, event.subject);
      return;
    case Event::Kind::kWaitOver:
      wait_is_over(run, event.subject);
      return;
    case Event::Kind::kFault:
      carry_out(run, event.subject);
      return;
    case Event::Kind::kFaultOver:
      undo(run, event.subject);
      return;
    case Event::Kind::kRerouted:
      run.fabric().path_epoch.fetch_add(1);
      return;
    case Event::Kind::kNothing:
      return;
  }
}

// Carries out everything that is due by then, each at its time. The number of events.
uint64_t carry_out_due(Run& run, uint64_t time_ns) {
  uint64_t events = 0;
  while (const auto event = take_due(run, time_ns)) {
    if (run.is_virtual()) {
      run.set_virtual_now(std::max(run.now_ns(), event->time_ns));
      handle(run, *event);
    } else {
      const AtTime at_its_time(event->time_ns);
      handle(run, *event);
    }
    is_carried_out(run);
    ++events;
  }
  return events;
}

// While no program calls verbs, packets still arrive. Of all processes' tickers one at a time has
// promised to look soon; the others sleep.
class Ticker {
 public:
  explicit Ticker(Run& run) : run_(run), thread_([this] { work(); }) {}
  ~Ticker() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

  void wake() {
    {
      const std::lock_guard lock(mutex_);
      woken_ = true;
    }
    wake_.notify_one();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      woken_ = false;
      lock.unlock();
      progress(run_);
      reap_now_and_then(run_);
      const uint64_t pause_ns = pause();
      lock.lock();
      wake_.wait_for(lock, std::chrono::nanoseconds(pause_ns),
                     [this] { return woken_ || stopping_; });
    }
  }

  // How long to sleep. Promises to look when that is over, unless somebody else has.
  uint64_t pause() {
    Fabric& fabric = run_.fabric();
    const uint64_t now_ns = run_.now_ns();
    const uint64_t look_ns =
        std::clamp(fabric.next_event_ns.load(), now_ns + kGrainNs, now_ns + kIdleNs);
    const uint64_t promised_ns = fabric.next_tick_ns.load();
    if (promised_ns > now_ns && promised_ns <= look_ns) {
      return kIdleNs;
    }
    fabric.next_tick_ns.store(look_ns);
    return look_ns - now_ns;
  }

  Run& run_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  bool woken_ = false;
  std::thread thread_;
};

// Never destroyed by itself: programs may use the run to the end of the process.
std::mutex ticker_mutex;
Ticker* ticker = nullptr;
pid_t ticker_process = 0;  // a forked child has no such thread

void forget_parents_ticker() {
  if (ticker != nullptr && ticker_process != ::getpid()) {
    static Ticker* parents = nullptr;
    parents = std::exchange(ticker, nullptr);
    static_cast<void>(parents);
  }
}

// Something has been scheduled: is anybody going to look in time?
void see_to_ticking(const Run& run) {
  if (run.is_virtual()) {
    return;
  }
  const uint64_t soon_ns = std::max(run.fabric().next_event_ns.load(), run.now_ns()) + 2 * kGrainNs;
  const uint64_t promised_ns = run.fabric().next_tick_ns.load();
  if (promised_ns + kGrainNs >= run.now_ns() && promised_ns <= soon_ns) {
    return;
  }
  const std::lock_guard guard(ticker_mutex);
  if (ticker != nullptr && ticker_process == ::getpid()) {
    ticker->wake();
  }
}

// Posts one work request; 0 or an errno value.
int post_one(Run& run, QueuePair& pair, const ibv_send_wr& request) {
  const uint32_t state = pair.state.load();
  if (state == IBV_QPS_RESET || state == IBV_QPS_INIT || state == IBV_QPS_RTR) {
    return EINVAL;
  }
  if (run.device(pair.device).fatal.load()) {
    return EIO;
  }
  SendView view;
  if (const int error = read_request(pair, request, &view)) {
    return error;
  }
  notice_request(run, pair, view.entry);
  if (!enqueue(run, pair, view)) {
    return ENOMEM;
  }
  count_request(run, pair, view);
  return 0;
}

// The caller has locked the fabric's mutex.
void mend(Run& run) {
  if (run.fabric().mutex.take_damage()) {
    recover(run);
  }
}

}  // namespace

FabricLock lock(Run& run) {
  if (!run.timed()) {
    return FabricLock();
  }
  FabricLock held(run.fabric().mutex);
  mend(run);
  return held;
}

void begin(Run& run) {
  if (!run.timed()) {
    return;
  }
  {
    const auto fabric = lock(run);
    if (!run.fabric().begun) {
      run.fabric().begun = true;
      schedule_faults(run, 0, 0);
    }
  }
  const std::lock_guard guard(ticker_mutex);
  forget_parents_ticker();
  if (!run.is_virtual() && ticker == nullptr) {
    ticker = new Ticker(run);
    ticker_process = ::getpid();
  }
}

void stop() {
  const std::lock_guard guard(ticker_mutex);
  forget_parents_ticker();
  delete std::exchange(ticker, nullptr);
}

int post_send(Run& run, uint32_t slot, ibv_send_wr* first, ibv_send_wr** bad) {
  progress(run);
  int error = 0;
  {
    const auto fabric = lock(run);
    QueuePair& pair = run.queue_pair(slot);
    pair.counters.send_posts.add(1);
    for (ibv_send_wr* request = first; request != nullptr && error == 0; request = request->next) {
      error = post_one(run, pair, *request);
      if (error != 0) {
        *bad = request;
      }
    }
    if (pair.state.load() == IBV_QPS_ERR) {
      flush(run, slot);
    } else {
      pump(run, slot);
    }
  }
  see_to_ticking(run);
  return error;
}

void resume(Run& run, uint32_t slot) {
  {
    const auto fabric = lock(run);
    pump(run, slot);
  }
  see_to_ticking(run);
}

void forget(Run& run, uint32_t slot) { stop_waiting(run, slot); }

void progress(Run& run) {
  Fabric& fabric = run.fabric();
  if (run.is_virtual() || fabric.next_event_ns.load(std::memory_order_relaxed) > run.now_ns() ||
      !fabric.mutex.try_lock()) {
    return;
  }
  const FabricLock held(fabric.mutex, std::adopt_lock);
  mend(run);
  carry_out_due(run, run.now_ns());
}

uint64_t run_until(Run& run, uint64_t time_ns) {
  const auto fabric = lock(run);
  const uint64_t events = carry_out_due(run, time_ns);
  run.set_virtual_now(std::max(run.now_ns(), time_ns));
  return events;
}

void inject(Run& run, const FaultScript& faults) {
  const auto fabric = lock(run);
  schedule_faults(run, run.add_faults(faults), run.now_ns());
  if (!run.is_virtual()) {
    carry_out_due(run, run.now_ns());
  }
}

}  // namespace rocelane::softverbs::timed
