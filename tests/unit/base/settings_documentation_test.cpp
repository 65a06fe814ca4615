#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "base/settings_markdown.h"
#include "base/settings_table.h"

namespace rocelane {
namespace {

TEST(SettingsPage, IsWhatTheTableSays) {
  if (std::getenv("ROCELANE_LAB_WRITE_SETTINGS_PAGE") != nullptr) {
    std::ofstream(SETTINGS_PAGE) << settings_markdown();
  }
  std::ifstream file(SETTINGS_PAGE);
  std::stringstream page;
  page << file.rdbuf();
  EXPECT_EQ(page.str(), settings_markdown())
      << "run this test with ROCELANE_LAB_WRITE_SETTINGS_PAGE=1 to write docs/settings.md anew";
}

TEST(SettingsTable, NamesEverySettingOnceAndExplainsIt) {
  std::set<std::string_view> names;
  for (const SettingRow& row : setting_table()) {
    EXPECT_TRUE(row.name.starts_with("ROCELANE_")) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(row.alias.empty() || names.insert(row.alias).second) << row.alias;
    EXPECT_FALSE(row.meaning.empty()) << row.name;
    EXPECT_FALSE(row.rule.empty()) << row.name;
  }
}

TEST(SettingsTable, HasDefaultsThatKeepTheirOwnRules) {
  for (const SettingRow& row : setting_table()) {
    Settings settings;
    EXPECT_TRUE(row.assign(row, row.default_text, settings)) << row.name;
  }
}

}  // namespace
}  // namespace rocelane
