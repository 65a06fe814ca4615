#include "net/abi/handle.h"

#include <fmt/format.h>

namespace rocelane::net::abi {

Error wrong_handle(const char* call, void* handle, const char* expected) {
  if (handle == nullptr) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{} was called with NULL where it needs {}.", call, expected)};
  }
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("{} was called with {}, which is not {}.", call, handle, expected)};
}

}  // namespace rocelane::net::abi
