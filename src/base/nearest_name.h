#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace rocelane {

// How many single-character edits (insert, delete, replace, swap of neighbours) turn one into the
// other.
size_t edit_distance(std::string_view a, std::string_view b);

// The candidate closest to `name`, the earlier one when two are equally close; nothing when even
// the closest is further away than `most_edits`.
std::optional<std::string_view> nearest_name(std::string_view name,
                                             std::span<const std::string_view> candidates,
                                             size_t most_edits);

}  // namespace rocelane
