#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/settings_example.h"
#include "base/settings_markdown.h"
#include "base/settings_table.h"

namespace rocelane {
namespace {

// Writes the file anew on request; the test that asks then passes.
std::string content_of(const char* path, const std::string& current) {
  if (std::getenv("ROCELANE_LAB_WRITE_SETTINGS_PAGE") != nullptr) {
    std::ofstream(path) << current;
  }
  std::ifstream file(path);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

constexpr const char* kHowToWrite = "run this test with ROCELANE_LAB_WRITE_SETTINGS_PAGE=1";

TEST(SettingsPage, IsWhatTheTableSays) {
  EXPECT_EQ(content_of(SETTINGS_PAGE, settings_markdown()), settings_markdown()) << kHowToWrite;
}

TEST(SettingsExample, IsWhatTheTableSays) {
  EXPECT_EQ(content_of(SETTINGS_EXAMPLE, settings_example()), settings_example()) << kHowToWrite;
}

TEST(SettingsExample, SetsNothingUntilItIsEdited) {
  const auto file = parse_settings_file("example", settings_example());
  ASSERT_TRUE(file.ok()) << file.error().what;
  EXPECT_TRUE(file->entries.empty());
}

TEST(SettingsExample, HasEverySettingAtItsDefault) {
  const std::string edited =
      std::regex_replace(settings_example(), std::regex("\n#([a-z_]+ = )"), "\n$1");
  const auto file = parse_settings_file("example", edited);
  ASSERT_TRUE(file.ok()) << file.error().what;
  EXPECT_EQ(file->entries.size(), setting_table().size());

  const JudgedSettings judged =
      judge_settings({{std::string(kConfigFileVariable), "example"}},
                     [&edited](const std::string&) { return Result<std::string>(edited); });
  EXPECT_THAT(judged.mistakes, ::testing::IsEmpty());
  EXPECT_THAT(judged.settings.warnings, ::testing::IsEmpty());
  for (const SettingRow& row : setting_table()) {
    const SettingSource& source = source_of(judged.settings, row.id);
    EXPECT_EQ(source.text, row.default_text) << row.name;
    EXPECT_EQ(source.origin,
              row.default_text.empty() ? SettingOrigin::kDefault : SettingOrigin::kFile)
        << row.name;
  }
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
