#pragma once

// NCCL sees our objects as void*. The low three bits of what it gets say what the object is, so
// that a NULL, a stale value or an object of another kind is refused with a sentence instead of
// being followed. Every object behind the API holds pointers or 64-bit numbers: its address is a
// multiple of eight.

#include <cstdint>
#include <string>

#include "base/result.h"
#include "net/plugin/net_api.h"

namespace rocelane::net::abi {

template <class Object>
struct HandleKind;

template <>
struct HandleKind<Context> {
  static constexpr uintptr_t kBits = 1;
  static constexpr const char* kNoun = "a context (from init)";
};
template <>
struct HandleKind<Listener> {
  static constexpr uintptr_t kBits = 2;
  static constexpr const char* kNoun = "a listener (from listen)";
};
template <>
struct HandleKind<SendConnection> {
  static constexpr uintptr_t kBits = 3;
  static constexpr const char* kNoun = "a send connection (from connect)";
};
template <>
struct HandleKind<ReceiveConnection> {
  static constexpr uintptr_t kBits = 4;
  static constexpr const char* kNoun = "a receive connection (from accept)";
};
template <>
struct HandleKind<Registration> {
  static constexpr uintptr_t kBits = 5;
  static constexpr const char* kNoun = "a registration (from regMr)";
};
template <>
struct HandleKind<Request> {
  static constexpr uintptr_t kBits = 6;
  static constexpr const char* kNoun = "a request (from isend, irecv or iflush)";
};

inline constexpr uintptr_t kHandleKindMask = 7;

template <class Object>
void* to_handle(Object* object) {
  if (object == nullptr) {
    return nullptr;
  }
  return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(object) | HandleKind<Object>::kBits);
}

// nullptr when `handle` is NULL or of another kind.
template <class Object>
Object* from_handle(void* handle) {
  const auto bits = reinterpret_cast<uintptr_t>(handle);
  if ((bits & kHandleKindMask) != HandleKind<Object>::kBits) {
    return nullptr;
  }
  return reinterpret_cast<Object*>(bits & ~kHandleKindMask);
}

// The sentence for a handle that from_handle refused.
Error wrong_handle(const char* call, void* handle, const char* expected);

}  // namespace rocelane::net::abi
