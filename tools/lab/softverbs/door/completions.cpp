// Completion queues and their channels.

#include "softverbs/engine/completions.h"

#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <set>

#include <unistd.h>

#include "softverbs/door/objects.h"
#include "softverbs/engine/direct.h"
#include "softverbs/timed/timed.h"

namespace rocelane::softverbs::door {
namespace {

// Numbers of the channels of this process, which are unique in the run: pipes are named by them.
// Never destroyed.
class ChannelNumbers {
 public:
  // kNone when all are in use.
  uint32_t take() {
    const std::lock_guard lock(mutex_);
    for (uint32_t i = 0; i < kOfProcess; ++i) {
      const uint32_t number = next_++ % kOfProcess;
      if (used_.insert(number).second) {
        return run().process() * kOfProcess + number;
      }
    }
    return kNone;
  }
  void give_back(uint32_t slot) {
    const std::lock_guard lock(mutex_);
    used_.erase(slot % kOfProcess);
  }

 private:
  static constexpr uint32_t kOfProcess = 1U << 16;
  std::mutex mutex_;
  uint32_t next_ = 0;
  std::set<uint32_t> used_;
};

auto& channel_numbers = *new ChannelNumbers;

CompletionQueueObject* make_queue(ibv_context* context, uint32_t entries, void* user,
                                  ibv_comp_channel* channel) {
  const uint32_t most = description_of(*ours(context)).limits.completion_entries;
  if (has_failed(context) || entries == 0 || entries > most) {
    errno = has_failed(context) ? EIO : EINVAL;
    return nullptr;
  }
  auto* object = static_cast<CompletionQueueObject*>(calloc(1, sizeof(CompletionQueueObject)));
  object->slot = create_completion_queue(run(), ours(context)->slot, entries,
                                         channel == nullptr ? kNone : ours(channel)->slot,
                                         reinterpret_cast<uint64_t>(object));
  if (object->slot == kNone) {
    free(object);
    return nullptr;
  }
  ibv_cq_ex& queue = object->queue;
  queue.context = context;
  queue.channel = channel;
  queue.cq_context = user;
  queue.handle = object->slot;
  queue.cqe = static_cast<int>(entries);
  pthread_mutex_init(&queue.mutex, nullptr);
  pthread_cond_init(&queue.cond, nullptr);
  if (channel != nullptr) {
    ++channel->refcnt;
  }
  return object;
}

int start_poll(ibv_cq_ex* queue, ibv_poll_cq_attr* /*attributes*/) {
  CompletionQueueObject* object = ours(queue);
  const int taken = poll_queue(ibv_cq_ex_to_cq(queue), 1, &object->current);
  if (taken < 0) {
    return EIO;
  }
  queue->wr_id = object->current.wr_id;
  queue->status = object->current.status;
  return taken == 0 ? ENOENT : 0;
}

int next_poll(ibv_cq_ex* queue) { return start_poll(queue, nullptr); }
void end_poll(ibv_cq_ex* /*queue*/) {}
ibv_wc_opcode read_opcode(ibv_cq_ex* queue) { return ours(queue)->current.opcode; }
uint32_t read_vendor_error(ibv_cq_ex* queue) { return ours(queue)->current.vendor_err; }
uint32_t read_bytes(ibv_cq_ex* queue) { return ours(queue)->current.byte_len; }
__be32 read_immediate(ibv_cq_ex* queue) { return ours(queue)->current.imm_data; }
uint32_t read_number(ibv_cq_ex* queue) { return ours(queue)->current.qp_num; }
uint32_t read_source(ibv_cq_ex* queue) { return ours(queue)->current.src_qp; }
unsigned int read_flags(ibv_cq_ex* queue) { return ours(queue)->current.wc_flags; }
uint32_t read_slid(ibv_cq_ex* queue) { return ours(queue)->current.slid; }
uint8_t read_service_level(ibv_cq_ex* queue) { return ours(queue)->current.sl; }
uint8_t read_path_bits(ibv_cq_ex* queue) { return ours(queue)->current.dlid_path_bits; }

}  // namespace

int poll_queue(ibv_cq* queue, int most, ibv_wc* entries) {
  Run& current = run();
  if (current.timed()) {
    timed::progress(current);
  } else {
    direct::progress_all(current);
  }
  return take_completions(current, ours(queue)->slot, most, entries);
}

// The notification for what came before it was asked for would never come; programs poll once more
// after asking.
int request_notification(ibv_cq* queue, int /*solicited_only*/) {
  arm(run(), ours(queue)->slot);
  return 0;
}

ibv_cq_ex* create_queue_extended(ibv_context* context, ibv_cq_init_attr_ex* wishes) {
  constexpr uint64_t kKnown = IBV_WC_STANDARD_FLAGS;
  if ((wishes->wc_flags & ~kKnown) != 0) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  CompletionQueueObject* object =
      make_queue(context, wishes->cqe, wishes->cq_context, wishes->channel);
  if (object == nullptr) {
    return nullptr;
  }
  ibv_cq_ex& queue = object->queue;
  queue.start_poll = start_poll;
  queue.next_poll = next_poll;
  queue.end_poll = end_poll;
  queue.read_opcode = read_opcode;
  queue.read_vendor_err = read_vendor_error;
  queue.read_byte_len = read_bytes;
  queue.read_imm_data = read_immediate;
  queue.read_qp_num = read_number;
  queue.read_src_qp = read_source;
  queue.read_wc_flags = read_flags;
  queue.read_slid = read_slid;
  queue.read_sl = read_service_level;
  queue.read_dlid_path_bits = read_path_bits;
  return &queue;
}

}  // namespace rocelane::softverbs::door

using namespace rocelane::softverbs;
using namespace rocelane::softverbs::door;

SOFTVERBS_API ibv_cq* ibv_create_cq(ibv_context* context, int entries, void* user,
                                    ibv_comp_channel* channel, int vector) {
  if (entries <= 0 || vector != 0) {
    errno = EINVAL;
    return nullptr;
  }
  CompletionQueueObject* object =
      make_queue(context, static_cast<uint32_t>(entries), user, channel);
  return object == nullptr ? nullptr : ibv_cq_ex_to_cq(&object->queue);
}

SOFTVERBS_API int ibv_resize_cq(ibv_cq* /*queue*/, int /*entries*/) { return EOPNOTSUPP; }

SOFTVERBS_API int ibv_destroy_cq(ibv_cq* queue) {
  CompletionQueueObject* object = ours(queue);
  if (run().completion_queue(object->slot).users.load() != 0) {
    return EBUSY;
  }
  destroy_completion_queue(run(), object->slot);
  wait_for_acknowledgements(queue);
  if (queue->channel != nullptr) {
    --queue->channel->refcnt;
  }
  pthread_mutex_destroy(&queue->mutex);
  pthread_cond_destroy(&queue->cond);
  free(object);
  return 0;
}

SOFTVERBS_API ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  const uint32_t slot = channel_numbers.take();
  if (slot == kNone) {
    errno = ENOMEM;
    return nullptr;
  }
  const int descriptor = run().pipes().make("channel", slot);
  if (descriptor < 0) {
    channel_numbers.give_back(slot);
    return nullptr;
  }
  auto* object = static_cast<ChannelObject*>(calloc(1, sizeof(ChannelObject)));
  object->channel.context = context;
  object->channel.fd = descriptor;
  object->slot = slot;
  return &object->channel;
}

SOFTVERBS_API int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  if (channel->refcnt != 0) {
    return EBUSY;
  }
  run().pipes().remove("channel", ours(channel)->slot);
  channel_numbers.give_back(ours(channel)->slot);
  close(channel->fd);
  free(ours(channel));
  return 0;
}

SOFTVERBS_API int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** queue, void** user) {
  ChannelRecord record{};
  // A queue may have been destroyed since its event was written.
  while (true) {
    if (read(channel->fd, &record, sizeof record) != sizeof record) {
      return -1;
    }
    const CompletionQueue& shared = run().completion_queue(record.slot);
    if (shared.use.load() == Use::kLive && shared.channel == ours(channel)->slot) {
      *queue = reinterpret_cast<ibv_cq*>(shared.cookie);
      *user = (*queue)->cq_context;
      return 0;
    }
  }
}

SOFTVERBS_API void ibv_ack_cq_events(ibv_cq* queue, unsigned int events) {
  queue->comp_events_completed += events;
}
