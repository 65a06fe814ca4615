#pragma once

// The MTU of one pair of ports. A value of the pair: nothing here is written back into a device,
// where it would slow down every later connection.

#include <optional>

#include "base/result.h"

namespace rocelane::net {

inline constexpr int kSmallestMtuBytes = 256;
inline constexpr int kLargestMtuBytes = 4096;

// verbs' codes: 1 = 256 ... 5 = 4096.
std::optional<int> mtu_bytes_of_code(int code);
// The code of the largest MTU that fits into `bytes`.
std::optional<int> mtu_code_of_bytes(int bytes);

// The largest MTU both ends and the setting allow, in bytes; always one that has a code.
// `remote_active_bytes` comes from the peer and may be anything.
Result<int> choose_path_mtu(int local_active_bytes, int remote_active_bytes,
                            std::optional<int> upper_bound_bytes);

}  // namespace rocelane::net
