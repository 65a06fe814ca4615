#include "softverbs/timed/timed.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <optional>
#include <thread>

#include <unistd.h>

#include "softverbs/engine/send_queue.h"
#include "softverbs/segment/process_table.h"
#include "softverbs/timed/event_queue.h"
#include "softverbs/timed/faults.h"
#include "softverbs/timed/links.h"
#include "softverbs/timed/requester.h"
#include "softverbs/timed/responder.h"

namespace rocelane::softverbs::timed {
namespace {

constexpr auto kLongestSleep = std::chrono::microseconds(500);

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
  }
}

// While no program calls verbs, packets still arrive.
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

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      progress(run_);
      reap_now_and_then(run_);
      wake_.wait_for(lock, kLongestSleep);
    }
  }

  Run& run_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

std::mutex ticker_mutex;
std::unique_ptr<Ticker> ticker;
pid_t ticker_process = 0;  // a forked child has no such thread

void forget_parents_ticker() {
  if (ticker != nullptr && ticker_process != ::getpid()) {
    static_cast<void>(ticker.release());
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

}  // namespace

FabricLock lock(Run& run) { return run.timed() ? FabricLock(run.fabric().mutex) : FabricLock(); }

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
    ticker = std::make_unique<Ticker>(run);
    ticker_process = ::getpid();
  }
}

void stop() {
  const std::lock_guard guard(ticker_mutex);
  forget_parents_ticker();
  ticker.reset();
}

int post_send(Run& run, uint32_t slot, ibv_send_wr* first, ibv_send_wr** bad) {
  progress(run);
  const auto fabric = lock(run);
  QueuePair& pair = run.queue_pair(slot);
  pair.counters.send_posts.add(1);
  int error = 0;
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
  return error;
}

void resume(Run& run, uint32_t slot) {
  const auto fabric = lock(run);
  pump(run, slot);
}

void forget(Run& run, uint32_t slot) { stop_waiting(run, slot); }

void progress(Run& run) {
  Fabric& fabric = run.fabric();
  if (run.is_virtual() || fabric.next_event_ns.load(std::memory_order_relaxed) > run.now_ns() ||
      !fabric.mutex.try_lock()) {
    return;
  }
  const FabricLock held(fabric.mutex, std::adopt_lock);
  while (const auto event = take_due(run, run.now_ns())) {
    handle(run, *event);
  }
}

uint64_t run_until(Run& run, uint64_t time_ns) {
  const auto fabric = lock(run);
  uint64_t events = 0;
  while (const auto event = take_due(run, time_ns)) {
    run.set_virtual_now(std::max(run.now_ns(), event->time_ns));
    handle(run, *event);
    ++events;
  }
  run.set_virtual_now(std::max(run.now_ns(), time_ns));
  return events;
}

void inject(Run& run, const FaultScript& faults) {
  const auto fabric = lock(run);
  schedule_faults(run, run.add_faults(faults), run.now_ns());
  while (!run.is_virtual()) {
    const auto event = take_due(run, run.now_ns());
    if (!event) {
      break;
    }
    handle(run, *event);
  }
}

}  // namespace rocelane::softverbs::timed
