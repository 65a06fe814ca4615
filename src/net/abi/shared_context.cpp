#include "net/abi/shared_context.h"

#include <atomic>
#include <mutex>

#include "net/abi/door.h"
#include "net/abi/log_bridge.h"

namespace rocelane::net::abi {
namespace {

std::mutex g_init;  // NCCL serialises init itself; other callers of the old tables may not
std::atomic<void*> g_context{nullptr};
std::atomic<bool> g_process_is_exiting{false};

// exit() destroys static objects before it runs the libraries' destructors; dlclose does it the
// other way round. So the library's destructor can tell them apart.
struct ExitMark {
  ~ExitMark() { g_process_is_exiting.store(true); }
};
const ExitMark g_exit_mark;

// When the process ends with connections open, NCCL's threads may still be inside them: the kernel
// cleans up better than we could. In every other case a thread of ours must be gone before its code
// is unmapped.
[[gnu::destructor]] void close_shared_context() {
  const bool exiting = g_process_is_exiting.load();
  if (exiting) {
    send_logs_to(nullptr);
    if (open_objects() > 0) {
      return;
    }
  }
  if (void* context = g_context.exchange(nullptr)) {
    finalize(context);
  }
}

}  // namespace

NcclResult init_shared(NcclLogFunction log) noexcept {
  return wall("init", [&]() -> Status {
    const std::lock_guard lock(g_init);
    send_logs_to(log);
    if (g_context.load() != nullptr) {
      return {};
    }
    Result<Context*> opened = open_context(std::nullopt);
    if (!opened) {
      return std::move(opened).error();
    }
    g_context.store(to_handle(*opened));
    return {};
  });
}

void* shared_context() { return g_context.load(std::memory_order_acquire); }

NcclResult listen_shared(int device, void* handle, void** listener) noexcept {
  return listen(shared_context(), device, handle, listener);
}

NcclResult connect_shared(int device, void* handle, void** connection,
                          NcclNetDeviceHandle** offload) noexcept {
  return connect(shared_context(), device, handle, connection, offload);
}

}  // namespace rocelane::net::abi
