#pragma once

#include <utility>

namespace rocelane {

// Move-only owner of one C handle. `Destroyer` has a `Pointer` type and destroys one; it logs and
// never throws.
template <class Destroyer>
class UniqueHandle {
 public:
  using Pointer = typename Destroyer::Pointer;

  UniqueHandle() = default;
  explicit UniqueHandle(Pointer handle) : handle_(handle) {}
  UniqueHandle(UniqueHandle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  // By value: the old handle is destroyed together with `other`.
  UniqueHandle& operator=(UniqueHandle other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~UniqueHandle() {
    if (handle_ != nullptr) {
      Destroyer{}(handle_);
    }
  }

  Pointer get() const { return handle_; }
  Pointer operator->() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  Pointer handle_ = nullptr;
};

}  // namespace rocelane
