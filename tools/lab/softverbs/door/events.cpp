// Asynchronous events, and the words for codes.

#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <set>

#include <unistd.h>

#include "softverbs/door/objects.h"
#include "softverbs/engine/async_events.h"

namespace rocelane::softverbs::door {
namespace {

bool names_queue_pair(uint32_t type) {
  return type == IBV_EVENT_QP_FATAL || type == IBV_EVENT_QP_REQ_ERR ||
         type == IBV_EVENT_QP_ACCESS_ERR || type == IBV_EVENT_COMM_EST ||
         type == IBV_EVENT_SQ_DRAINED || type == IBV_EVENT_QP_LAST_WQE_REACHED;
}

// What events name that the program has not acknowledged yet. Never destroyed: threads may wait for
// events until the process ends.
struct Unacknowledged {
  std::mutex mutex;
  std::condition_variable one_less;
  std::multiset<const void*> objects;
};

Unacknowledged& unacknowledged() {
  static auto& instance = *new Unacknowledged;
  return instance;
}

// nullptr for events of ports and devices.
const void* object_of(const ibv_async_event& event) {
  if (names_queue_pair(event.event_type)) {
    return event.element.qp;
  }
  if (event.event_type == IBV_EVENT_CQ_ERR) {
    return event.element.cq;
  }
  return event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED ? event.element.srq : nullptr;
}

template <class Slot>
bool is_of(const Slot& slot, const ContextObject& context) {
  return slot.use.load() == Use::kLive && slot.context == context.slot;
}

// False when the object is gone: then so is its event.
bool fill(const EventRecord& record, const ContextObject& context, ibv_async_event* event) {
  *event = {};
  event->event_type = static_cast<ibv_event_type>(record.type);
  Run& current = run();
  if (names_queue_pair(record.type)) {
    const QueuePair& pair = current.queue_pair(record.slot);
    event->element.qp = reinterpret_cast<ibv_qp*>(pair.cookie);
    return is_of(pair, context) && pair.generation.load() == record.generation;
  }
  if (record.type == IBV_EVENT_CQ_ERR) {
    const CompletionQueue& queue = current.completion_queue(record.slot);
    event->element.cq = reinterpret_cast<ibv_cq*>(queue.cookie);
    return is_of(queue, context);
  }
  if (record.type == IBV_EVENT_SRQ_LIMIT_REACHED) {
    const SharedReceiveQueue& queue = current.shared_receive_queue(record.slot);
    event->element.srq = reinterpret_cast<ibv_srq*>(queue.cookie);
    return is_of(queue, context);
  }
  event->element.port_num = static_cast<int>(record.slot);
  return true;
}

// The same, and keeps the object from being destroyed until the event is acknowledged.
bool give(const EventRecord& record, const ContextObject& context, ibv_async_event* event) {
  const std::lock_guard lock(unacknowledged().mutex);
  if (!fill(record, context, event)) {
    return false;
  }
  if (const void* object = object_of(*event); object != nullptr) {
    unacknowledged().objects.insert(object);
  }
  return true;
}

}  // namespace

void wait_for_acknowledgements(const void* object) {
  std::unique_lock lock(unacknowledged().mutex);
  unacknowledged().one_less.wait(lock,
                                 [object] { return !unacknowledged().objects.contains(object); });
}

}  // namespace rocelane::softverbs::door

using namespace rocelane::softverbs;
using namespace rocelane::softverbs::door;

SOFTVERBS_API int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
  EventRecord record{};
  do {
    if (read(context->async_fd, &record, sizeof record) != sizeof record) {
      return -1;
    }
  } while (!give(record, *ours(context), event));
  return 0;
}

SOFTVERBS_API void ibv_ack_async_event(ibv_async_event* event) {
  const std::lock_guard lock(unacknowledged().mutex);
  auto& objects = unacknowledged().objects;
  if (const auto found = objects.find(object_of(*event)); found != objects.end()) {
    objects.erase(found);
    unacknowledged().one_less.notify_all();
  }
}

SOFTVERBS_API int ibv_fork_init() { return 0; }

SOFTVERBS_API ibv_fork_status ibv_is_fork_initialized() { return IBV_FORK_UNNEEDED; }

SOFTVERBS_API const char* ibv_event_type_str(ibv_event_type type) {
  static const char* const kTexts[] = {"completion queue error",
                                       "queue pair fatal error",
                                       "invalid request",
                                       "access error",
                                       "communication established",
                                       "send queue drained",
                                       "path migrated",
                                       "path migration failed",
                                       "device fatal error",
                                       "port active",
                                       "port error",
                                       "LID changed",
                                       "P_Key changed",
                                       "subnet manager changed",
                                       "shared receive queue error",
                                       "shared receive queue limit reached",
                                       "last work request reached",
                                       "client reregistration",
                                       "GID table changed",
                                       "work queue fatal error"};
  return static_cast<size_t>(type) < std::size(kTexts) ? kTexts[type] : "unknown";
}

SOFTVERBS_API const char* ibv_wc_status_str(ibv_wc_status status) {
  static const char* const kTexts[] = {"success",
                                       "local length error",
                                       "local queue pair operation error",
                                       "local EE context operation error",
                                       "local protection error",
                                       "work request flushed",
                                       "memory window bind error",
                                       "bad response",
                                       "local access error",
                                       "remote invalid request",
                                       "remote access error",
                                       "remote operation error",
                                       "transport retry counter exceeded",
                                       "receiver-not-ready retry counter exceeded",
                                       "local RDD violation",
                                       "remote invalid RD request",
                                       "remote aborted",
                                       "invalid EE context number",
                                       "invalid EE context state",
                                       "fatal error",
                                       "response timeout",
                                       "general error",
                                       "tag matching error",
                                       "tag matching rendezvous incomplete"};
  return static_cast<size_t>(status) < std::size(kTexts) ? kTexts[status] : "unknown";
}

SOFTVERBS_API const char* ibv_port_state_str(ibv_port_state state) {
  static const char* const kTexts[] = {"no state change", "down",   "initializing",
                                       "armed",           "active", "active deferred"};
  return static_cast<size_t>(state) < std::size(kTexts) ? kTexts[state] : "unknown";
}

SOFTVERBS_API const char* ibv_node_type_str(ibv_node_type type) {
  return type == IBV_NODE_CA ? "channel adapter" : "unknown";
}
