#pragma once

#include <string>
#include <string_view>

#include "softverbs/fabric/topology.h"

namespace rocelane::softverbs {

// What to write instead of a name that matches no link: the nearest one, or an example. Pure.
std::string link_name_advice(std::string_view wrong, const Topology& topology);

}  // namespace rocelane::softverbs
