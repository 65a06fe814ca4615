#pragma once

// What NCCL passes to the data path, checked and in our own types. The success path is inline and
// short: it runs once a message.

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "base/result.h"
#include "net/abi/handle.h"
#include "net/plugin/net_api.h"

namespace rocelane::net::abi {

// Sentences for refused arguments, kept out of the path that works.
Error null_argument(const char* call, const char* argument);
Error bad_group_size(const char* call, int n);
Error bad_device_count(int count, int most);
Error negative_size(const char* call, int index, long long size);
Error null_buffer(const char* call, int index, size_t bytes);

// A null argument's name among `arguments`, or nullptr.
inline const char* find_null(std::initializer_list<std::pair<const void*, const char*>> arguments) {
  for (const auto& [pointer, name] : arguments) {
    if (pointer == nullptr) {
      return name;
    }
  }
  return nullptr;
}

// One buffer of a send, a receive or a flush. An empty one needs neither address nor registration.
template <class Size>
Result<Registration*> check_buffer(const char* call, int index, const void* data, Size size,
                                   void* registration) {
  if constexpr (std::is_signed_v<Size>) {
    if (size < 0) {
      return negative_size(call, index, size);
    }
  }
  Registration* known = from_handle<Registration>(registration);
  if (size == 0 && registration == nullptr) {
    return known;
  }
  if (known == nullptr) {
    return wrong_handle(call, registration, HandleKind<Registration>::kNoun);
  }
  if (size != 0 && data == nullptr) {
    return null_buffer(call, index, static_cast<size_t>(size));
  }
  return known;
}

// The arrays of a grouped call as `Buffer`s, held in place.
template <class Buffer>
class BufferGroup {
 public:
  std::span<const Buffer> buffers() const { return {buffers_.data(), count_}; }
  void add(const Buffer& buffer) { buffers_[count_++] = buffer; }

 private:
  std::array<Buffer, kMaxGroupedReceives> buffers_{};
  size_t count_ = 0;
};

template <class Size>
Result<BufferGroup<ReceiveBuffer>> receive_buffers(const char* call, int n, void** data,
                                                   const Size* sizes, const int* tags,
                                                   void** registrations) {
  if (n < 1 || n > kMaxGroupedReceives) {
    return bad_group_size(call, n);
  }
  if (const char* missing = find_null(
          {{data, "data"}, {sizes, "sizes"}, {tags, "tags"}, {registrations, "mhandles"}})) {
    return null_argument(call, missing);
  }
  BufferGroup<ReceiveBuffer> group;
  for (int i = 0; i < n; ++i) {
    const Result<Registration*> registration =
        check_buffer(call, i, data[i], sizes[i], registrations[i]);
    if (!registration) {
      return registration.error();
    }
    group.add({data[i], static_cast<size_t>(sizes[i]), tags[i], *registration});
  }
  return group;
}

Result<BufferGroup<FlushBuffer>> flush_buffers(const char* call, int n, void** data,
                                               const int* sizes, void** registrations);

}  // namespace rocelane::net::abi
