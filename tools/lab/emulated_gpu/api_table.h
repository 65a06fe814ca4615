#pragma once

#include <string>
#include <string_view>

namespace rocelane::lab {

// The address of our own version of a CUDA runtime function, nullptr when there is none.
const void* find_api(std::string_view name);

// What a CUDA function without an emulation does instead: it is called with what
// remember_not_emulated returned, says the name once and returns cudaErrorNotSupported.
const void* not_emulated_entry();
const void* remember_not_emulated(const std::string& name);

}  // namespace rocelane::lab
