#include "softverbs/description/link_names.h"

#include <fmt/format.h>

namespace rocelane::softverbs {

std::string link_name_advice(std::string_view wrong, const Topology& topology) {
  constexpr std::string_view kForm =
      "where > is one direction, - both, and * stands for any characters";
  const auto& links = topology.links();
  const std::string_view first = links.front().name;
  const std::string_view last = links.back().name;
  if (wrong.find_first_of("->") == std::string_view::npos) {
    return fmt::format("two ends, for example \"{}\", {}", first, kForm);
  }
  return fmt::format("a link such as \"{}\" or \"{}\", {}", first, last, kForm);
}

}  // namespace rocelane::softverbs
