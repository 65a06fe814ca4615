#pragma once

#include <string>
#include <vector>

#include "device/arguments.h"
#include "device/transfer.h"

namespace rocelane::lab {

// Empty, or a sentence that says what of the batch is not emulated and how to avoid it.
std::string not_emulated_in(const Batch& batch);

// Opens the connections of a channel's share of a work. The batch has passed not_emulated_in().
std::vector<Transfer> start_collective(const CommFacts& comm, const ChannelWork& channel,
                                       const Function& function, const CollectiveWork& work);

// What a rank sends to itself is copied here and now.
std::vector<Transfer> start_sends_and_receives(const CommFacts& comm, const ChannelWork& channel,
                                               const std::vector<SendReceiveWork>& works);

}  // namespace rocelane::lab
