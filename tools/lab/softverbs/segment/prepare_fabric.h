#pragma once

namespace rocelane::softverbs {

class Run;

// Fills the fabric of a run that begins: links as described, nothing under way. False when there is
// no memory for it.
bool prepare_fabric(Run& run);

}  // namespace rocelane::softverbs
