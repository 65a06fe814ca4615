#include "base/settings_markdown.h"

#include <string_view>

#include <fmt/format.h>

#include "base/settings_table.h"

namespace rocelane {
namespace {

constexpr std::string_view kHead = R"(# Settings

Environment variables, read once when the first communicator starts. Written from the table in
`src/base/settings_table.cpp`; a test fails when this page differs.

- Where NCCL's own transport has a variable for the same thing, it works here too. Ours wins when both are set.
- An empty value counts as unset. Numbers are decimal or hexadecimal (0x6a).
- A value that breaks its rule stops the start. All mistakes are named at once; nothing is clipped or guessed.
- A name that looks like a misspelt setting is reported, and has no effect.
- The start report (`NCCL_DEBUG=INFO`) shows every value and the variable it came from.

)";

std::string_view or_else(std::string_view text, std::string_view otherwise) {
  return text.empty() ? otherwise : text;
}

}  // namespace

std::string settings_markdown() {
  std::string page(kHead);
  for (const SettingRow& row : setting_table()) {
    page += fmt::format("## {}\n\n{}\n\n", row.name, row.meaning);
    page += fmt::format("| type | default | unit | rule | alias |\n|---|---|---|---|---|\n");
    page +=
        fmt::format("| {} | {} | {} | {} | {} |\n\n", row.type, or_else(row.default_text, "empty"),
                    or_else(row.unit, "none"), row.rule, or_else(row.alias, "none"));
  }
  page.pop_back();
  return page;
}

}  // namespace rocelane
