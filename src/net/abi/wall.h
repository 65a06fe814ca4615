#pragma once

// Every entry of a table is a wall: nothing thrown crosses it, and an Error becomes NCCL's code and
// one warning.

#include <utility>

#include "base/result.h"
#include "nccl_plugin/common.h"
#include "net/abi/handle.h"

namespace rocelane::net::abi {

// Says the Error's sentence, unless it was said already, and returns NCCL's word for it.
NcclResult report(const Error& error);

// The same for the exception in flight. Call it inside a catch block only.
NcclResult report_exception(const char* call) noexcept;

template <class Body>
NcclResult wall(const char* call, Body&& body) noexcept {
  try {
    const Status status = std::forward<Body>(body)();
    return status.ok() ? kNcclSuccess : report(status.error());
  } catch (...) {
    return report_exception(call);
  }
}

// For calls on an object: `body` gets it, or the caller an Error.
template <class Object, class Body>
NcclResult wall(const char* call, void* handle, Body&& body) noexcept {
  return wall(call, [&]() -> Status {
    Object* object = from_handle<Object>(handle);
    if (object == nullptr) {
      return wrong_handle(call, handle, HandleKind<Object>::kNoun);
    }
    return std::forward<Body>(body)(*object);
  });
}

}  // namespace rocelane::net::abi
