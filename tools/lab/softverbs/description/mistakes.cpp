#include "softverbs/description/mistakes.h"

#include <fmt/format.h>

#include "base/settings_names.h"

namespace rocelane::softverbs {

void Mistakes::add(size_t line, std::string_view field, std::string_view what,
                   std::string_view instead) {
  if (!first_) {
    first_ = fmt::format("{}:{}: {}{}{}; write {}", file_, line, field, field.empty() ? "" : ": ",
                         what, instead);
  }
}

std::string quoted(std::string_view text) { return fmt::format("\"{}\"", shown(text)); }

}  // namespace rocelane::softverbs
