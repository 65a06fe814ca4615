#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace rocelane {

// What kind of thing went wrong; the door translates it for NCCL.
enum class ErrorCode : uint8_t {
  kSystem,           // the kernel, a device or a library refused
  kInternal,         // our own defect
  kInvalidArgument,  // a caller or a setting is wrong
  kInvalidUsage,     // right arguments at the wrong time
  kRemote,           // the peer or the path to it failed
};

// `what` is one sentence for a person: what happened, where, and what to do about it.
// Whoever detects an error writes the sentence; the door prints it, once.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string what;
  bool already_said = false;  // the same failure reported again: pass the code on, print nothing
};

// A value or an Error. "Try again later" is not an error: it is part of the value's type.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return *std::get_if<0>(&state_); }
  const T& value() const& { return *std::get_if<0>(&state_); }
  T&& value() && { return std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const& { return *std::get_if<1>(&state_); }
  Error&& error() && { return std::move(*std::get_if<1>(&state_)); }

 private:
  std::variant<T, Error> state_;
};

// Success or an Error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const& { return *error_; }
  Error&& error() && { return std::move(*error_); }

 private:
  std::optional<Error> error_;
};

}  // namespace rocelane
