#pragma once

#include <vector>

#include "device/chunk_plan.h"
#include "device/move.h"

namespace rocelane::lab {

// A rank's place in a channel's tree.
struct TreePlace {
  int up = -1;            // -1: the root
  std::vector<int> down;  // at most three
};

// The root reduces and broadcasts in one leg. Every other rank has one leg up and one down, which
// must progress independently: the eight steps of a connection do not hold a whole part.
std::vector<Leg> tree_all_reduce(const TreePlace& place, const Part& part);

}  // namespace rocelane::lab
