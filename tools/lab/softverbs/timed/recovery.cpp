#include "softverbs/timed/recovery.h"

#include <algorithm>

#include "softverbs/engine/addresses.h"
#include "softverbs/engine/delivery.h"
#include "softverbs/engine/send_queue.h"
#include "softverbs/timed/bursts.h"
#include "softverbs/timed/event_queue.h"
#include "softverbs/timed/links.h"
#include "softverbs/timed/requester.h"

namespace rocelane::softverbs::timed {
namespace {

template <class Do>
void for_each_queue_pair(Run& run, Do do_it) {
  const uint32_t high = std::min(run.header().queue_pair_table.high.load(), kMostQueuePairs);
  for (uint32_t slot = 0; slot < high; ++slot) {
    if (run.queue_pair(slot).use.load() == Use::kLive) {
      do_it(slot);
    }
  }
}

}  // namespace

void recover(Run& run) {
  keep_plans_only(run);
  free_all_bursts(run);
  for (uint32_t link = 0; link < run.fabric().link_count; ++link) {
    empty_link(run, link);
  }
  for (uint32_t device = 0; device < run.header().device_count; ++device) {
    end_writing_gids(run, device);
  }
  for_each_queue_pair(run, [&run](uint32_t slot) {
    settle_requester(run, slot);
    settle_responder(run, slot);
  });
  for_each_queue_pair(run, [&run](uint32_t slot) {
    flush(run, slot);
    begin_again(run, slot);
  });
}

}  // namespace rocelane::softverbs::timed
