#pragma once

namespace rocelane::softverbs {

class Run;

// Fills the fabric of a run that begins: links as described, nothing under way.
void prepare_fabric(Run& run);

}  // namespace rocelane::softverbs
