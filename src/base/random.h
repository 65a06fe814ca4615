#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"

namespace rocelane {

// Fills `bytes` from the kernel's generator: fit for secrets.
Status fill_random(std::span<std::byte> bytes);

}  // namespace rocelane
