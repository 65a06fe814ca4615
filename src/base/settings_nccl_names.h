#pragma once

// Which names NCCL itself knows, so that they do not look like misspelt ones. Facts from NCCL
// 2.28.9 to 2.31.2. Only for files named settings*.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rocelane {

// What only NCCL's own IB and socket transports read. Somebody who sets it gets nothing for it
// here.
struct NameWithoutEffect {
  std::string_view name;
  std::string_view instead;  // what does it here; empty when nothing does or has to
};
std::span<const NameWithoutEffect> names_without_effect();

// Alike in spelling, and read by NCCL whatever the transport is, or by another plugin.
std::span<const std::string_view> names_of_others();

bool has_no_effect_here(std::string_view name);

// One note about all of `names`, each of which has no effect here; nothing when there are none.
std::optional<std::string> note_on_names_without_effect(std::span<const std::string_view> names);

}  // namespace rocelane
