#include "base/settings_markdown.h"

#include <string_view>

#include <fmt/format.h>

#include "base/settings_table.h"

namespace rocelane {
namespace {

constexpr std::string_view kHead = R"(# Settings

Read once when the first communicator starts. Written from the table in `src/base/settings_table.cpp`, like
`config/rocelane.toml.example`; a test fails when either differs.

- A setting can be said in three ways. The first that says something counts:
  1. the variable `ROCELANE_…` of the environment,
  2. its key in the TOML file that `ROCELANE_CONFIG_FILE` names (any path; it must exist then),
  3. the variable of NCCL's own transport for the same thing, its alias.
- Whoever loses with another value is named in a note, and not judged.
- An empty value counts as unset. Numbers are decimal or hexadecimal (0x6a); in the file they have no quotes, everything else
  has, and a choice of on and off may be true and false.
- A value that breaks its rule stops the start. All mistakes are named at once, with the file's line; nothing is clipped or guessed.
- A name or key that looks like a misspelt setting is reported with the nearest right one, and has no effect. Names that only
  NCCL's own transports read get a note.
- The start report (`NCCL_DEBUG=INFO`) shows every value and where it came from.

)";

std::string_view or_else(std::string_view text, std::string_view otherwise) {
  return text.empty() ? otherwise : text;
}

}  // namespace

std::string settings_markdown() {
  std::string page(kHead);
  for (const SettingRow& row : setting_table()) {
    page += fmt::format("## {}\n\n{}\n\n", row.name, row.meaning);
    page +=
        fmt::format("| type | default | unit | rule | key | alias |\n|---|---|---|---|---|---|\n");
    page += fmt::format("| {} | {} | {} | {} | {} | {} |\n\n", type_name(row.type),
                        or_else(row.default_text, "empty"), or_else(row.unit, "none"), row.rule,
                        key_of(row), or_else(row.alias, "none"));
  }
  page.pop_back();
  return page;
}

}  // namespace rocelane
