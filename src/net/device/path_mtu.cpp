#include "net/device/path_mtu.h"

#include <algorithm>

#include <fmt/format.h>

namespace rocelane::net {
namespace {
constexpr int kSmallestCode = 1;
constexpr int kLargestCode = 5;
}  // namespace

std::optional<int> mtu_bytes_of_code(int code) {
  if (code < kSmallestCode || code > kLargestCode) {
    return std::nullopt;
  }
  return kSmallestMtuBytes << (code - kSmallestCode);
}

std::optional<int> mtu_code_of_bytes(int bytes) {
  for (int code = kLargestCode; code >= kSmallestCode; --code) {
    if (*mtu_bytes_of_code(code) <= bytes) {
      return code;
    }
  }
  return std::nullopt;
}

Result<int> choose_path_mtu(int local_active_bytes, int remote_active_bytes,
                            std::optional<int> upper_bound_bytes) {
  const int bound = std::min(
      {local_active_bytes, remote_active_bytes, upper_bound_bytes.value_or(kLargestMtuBytes)});
  const std::optional<int> code = mtu_code_of_bytes(bound);
  if (!code) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("no RoCE MTU fits this pair of ports: {} bytes here, {} bytes at the "
                             "peer, the smallest is {}; raise the MTU of the network interfaces",
                             local_active_bytes, remote_active_bytes, kSmallestMtuBytes)};
  }
  return *mtu_bytes_of_code(*code);
}

}  // namespace rocelane::net
