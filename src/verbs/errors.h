#pragma once

// The one place where verbs' return conventions (NULL with errno, positive errno, -1 with errno)
// are read.

#include <string>
#include <string_view>

#include "base/result.h"

namespace rocelane::verbs {

// "ENOMEM (12, Cannot allocate memory)"
std::string errno_text(int error_number);

// A failed call, as a sentence: "ibv_create_qp on mlx5_0 failed: ENOMEM (…); <hint>".
Error call_failed(std::string_view call, std::string_view device, int error_number,
                  std::string_view hint = {});

// Why moving a RoCE queue pair to RTR fails, by errno: the kernel resolves the peer's address in
// that call.
std::string_view ready_to_receive_hint(int error_number);

// True when the same call may succeed a moment later (the neighbour is still being resolved).
bool is_transient_ready_to_receive_error(int error_number);

}  // namespace rocelane::verbs
