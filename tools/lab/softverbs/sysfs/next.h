#pragma once

#include <atomic>
#include <cerrno>
#include <utility>

#include <dlfcn.h>

namespace rocelane::softverbs {

// The function of that name behind ours: the C library's, or that of whoever else stands in front
// of it. Usable before any constructor has run.
template <class Function>
class Next {
 public:
  // `version`: where the plain name would find an old one.
  explicit constexpr Next(const char* name, const char* version = nullptr)
      : name_(name), version_(version) {}

  template <class Result, class... Arguments>
  Result call(Result failed, Arguments... arguments) {
    const auto function = reinterpret_cast<Function>(found());
    if (function == nullptr) {
      errno = ENOSYS;
      return failed;
    }
    return function(arguments...);
  }

  template <class... Arguments>
  void call_procedure(Arguments... arguments) {
    if (const auto function = reinterpret_cast<Function>(found())) {
      function(arguments...);
    }
  }

 private:
  void* found() {
    void* function = function_.load(std::memory_order_relaxed);
    if (function == nullptr) {
      const int kept = errno;
      function = version_ != nullptr ? dlvsym(RTLD_NEXT, name_, version_) : nullptr;
      function = function != nullptr ? function : dlsym(RTLD_NEXT, name_);
      function_.store(function, std::memory_order_relaxed);
      errno = kept;
    }
    return function;
  }

  const char* name_;
  const char* version_;
  std::atomic<void*> function_{nullptr};
};

}  // namespace rocelane::softverbs
