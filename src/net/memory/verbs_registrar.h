#pragma once

// Registers with a real NIC.

#include <map>
#include <memory>
#include <mutex>

#include <infiniband/verbs.h>

#include "net/device/port.h"
#include "net/memory/registration_cache.h"

namespace rocelane::net {

// In the protection domain of `port`, which it keeps open: by dma-buf when there is one, by address
// otherwise. GPU memory by address needs peer memory in the kernel. A NIC that refuses relaxed
// ordering gets the strict one.
Registrar verbs_registrar(std::shared_ptr<const Port> port);

// One cache a protection domain, for as long as somebody uses it. Any thread.
class RegistrationCaches {
 public:
  std::shared_ptr<RegistrationCache> of(const std::shared_ptr<const Port>& port);

 private:
  std::mutex mutex_;
  std::map<const ibv_pd*, std::weak_ptr<RegistrationCache>> known_;
};

}  // namespace rocelane::net
