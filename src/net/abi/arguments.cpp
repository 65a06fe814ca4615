#include "net/abi/arguments.h"

#include <fmt/format.h>

namespace rocelane::net::abi {

Error null_argument(const char* call, const char* argument) {
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("{} was called with NULL for {}.", call, argument)};
}

Error bad_group_size(const char* call, int n) {
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("{} was called for {} buffers, but a group has 1 to {}.", call, n,
                           kMaxGroupedReceives)};
}

Error bad_device_count(int count, int most) {
  return Error{
      ErrorCode::kInvalidArgument,
      fmt::format("makeVDevice was called for {} devices, but it can name 0 to {}.", count, most)};
}

Error negative_size(const char* call, int index, long long size) {
  return Error{
      ErrorCode::kInvalidArgument,
      fmt::format("{} was called with a size of {} bytes for buffer {}.", call, size, index)};
}

Error null_buffer(const char* call, int index, size_t bytes) {
  return Error{
      ErrorCode::kInvalidArgument,
      fmt::format("{} was called with {} bytes at NULL for buffer {}.", call, bytes, index)};
}

Result<BufferGroup<FlushBuffer>> flush_buffers(const char* call, int n, void** data,
                                               const int* sizes, void** registrations) {
  if (n < 1 || n > kMaxGroupedReceives) {
    return bad_group_size(call, n);
  }
  if (const char* missing =
          find_null({{data, "data"}, {sizes, "sizes"}, {registrations, "mhandles"}})) {
    return null_argument(call, missing);
  }
  BufferGroup<FlushBuffer> group;
  for (int i = 0; i < n; ++i) {
    const Result<Registration*> registration =
        check_buffer(call, i, data[i], sizes[i], registrations[i]);
    if (!registration) {
      return registration.error();
    }
    group.add({data[i], static_cast<size_t>(sizes[i]), *registration});
  }
  return group;
}

}  // namespace rocelane::net::abi
