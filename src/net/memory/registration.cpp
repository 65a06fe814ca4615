#include "net/memory/registration.h"

#include <utility>

#include <fmt/format.h>

namespace rocelane::net {

Result<std::unique_ptr<Registration>> Registration::create(
    std::span<const std::shared_ptr<RegistrationCache>> rails, const RegistrationRequest& wanted) {
  if (rails.empty() || rails.size() > kMostRails) {
    return Error{ErrorCode::kInternal,
                 fmt::format("memory cannot be registered with {} rails, only with 1 to {}: please "
                             "report this",
                             rails.size(), kMostRails)};
  }
  const MemoryKind kind = wanted.sharing_class.kind;
  std::unique_ptr<Registration> registration(new Registration(kind));
  for (size_t rail = 0; rail < rails.size(); ++rail) {
    auto shared = rails[rail]->share(wanted);
    if (!shared) {
      return Error{shared.error().code,
                   fmt::format("{} bytes of {} memory at {:#x} cannot be registered: {}",
                               wanted.range.bytes(), kind == MemoryKind::kGpu ? "GPU" : "host",
                               wanted.range.begin, shared.error().what)};
    }
    registration->rails_.at(rail) = std::move(*shared);
  }
  return registration;
}

}  // namespace rocelane::net
