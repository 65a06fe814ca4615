#include "softverbs/sysfs/source.h"

#include <atomic>

namespace rocelane::softverbs {
namespace {

constinit std::atomic<const Source*> the_source{nullptr};

}  // namespace

void set_source(const Source* source) { the_source.store(source, std::memory_order_release); }

const Source* current_source() { return the_source.load(std::memory_order_acquire); }

}  // namespace rocelane::softverbs
