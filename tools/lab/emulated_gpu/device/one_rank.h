#pragma once

#include <functional>
#include <string_view>

namespace rocelane::lab {

// On a communicator of one rank NCCL scales with a kernel of its own, launched through
// cudaLaunchKernel with separate arguments; its mangled symbol names the element type.
bool is_one_rank_kernel(std::string_view mangled_symbol);

// Takes the values of the arguments (destination, source, element count, factor, whether the factor
// is an address) and returns what the stream has to run. Empty: the element type is not emulated.
std::function<void()> one_rank_kernel(std::string_view mangled_symbol, void* const* arguments);

}  // namespace rocelane::lab
