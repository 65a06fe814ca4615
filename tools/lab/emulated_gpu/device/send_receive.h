#pragma once

#include <cstddef>

#include "device/move.h"

namespace rocelane::lab {

// `bytes` bytes from the input to `peer`, in chunks; nothing at all is still one empty chunk.
Leg send_leg(int peer, size_t bytes, size_t chunk_bytes);
Leg receive_leg(int peer, size_t bytes, size_t chunk_bytes);

}  // namespace rocelane::lab
