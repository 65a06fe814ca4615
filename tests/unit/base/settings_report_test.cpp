#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/settings.h"
#include "base/settings_table.h"

namespace rocelane {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr size_t kFitsIntoALineOfNccl = 900;

Settings loaded(const Environment& environment, const std::string& file = "") {
  Result<Settings> settings =
      load_settings(environment, [&file](const std::string&) { return Result<std::string>(file); });
  EXPECT_TRUE(settings.ok()) << (settings.ok() ? "" : settings.error().what);
  return settings.ok() ? *settings : Settings{};
}

TEST(StartReport, ShowsWhatAUserSetWithItsSourceAndThenTheDefaults) {
  const Settings settings = loaded({{"ROCELANE_CONFIG_FILE", "/etc/rocelane.toml"},
                                    {"NCCL_IB_TC", "106"},
                                    {"ROCELANE_LANES", "4"}},
                                   "\nretry_count = 3\n");
  const std::vector<std::string> lines = start_report(settings);
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(lines[0],
            "set: ROCELANE_TRAFFIC_CLASS=106 (from NCCL_IB_TC), ROCELANE_LANES=4, "
            "ROCELANE_RETRY_COUNT=3 (from /etc/rocelane.toml:2)");
  EXPECT_THAT(lines[1], AllOf(StartsWith("by default: devices=, gid_index=auto, "),
                              HasSubstr("ack_timeout=20")));
  EXPECT_EQ(describe(settings), lines[0] + "; " + lines[1]);
}

TEST(StartReport, SaysThatNothingWasSet) {
  EXPECT_THAT(describe(default_settings()), StartsWith("set: nothing; by default: "));
}

TEST(StartReport, FitsIntoLinesWhateverIsSet) {
  Environment environment;
  for (const SettingRow& row : setting_table()) {
    environment[std::string(row.name)] = row.default_text;
  }
  for (const char* name : {"ROCELANE_DEVICES", "ROCELANE_SOCKET_INTERFACE"}) {
    environment[name] = std::string(1000, 'x');
  }
  environment["ROCELANE_TELEMETRY_DIR"] = "/" + std::string(1000, 'x');
  environment["ROCELANE_CONFIG_FILE"] = "/" + std::string(1000, 'x');
  const std::vector<std::string> lines =
      start_report(loaded(environment, "address_range = \"::/0\""));
  EXPECT_GT(lines.size(), 1u);
  for (const std::string& line : lines) {
    EXPECT_LT(line.size(), kFitsIntoALineOfNccl) << line;
    EXPECT_THAT(line, AnyOf(StartsWith("set: "), StartsWith("by default: ")));
  }
}

TEST(StartReport, NamesEverySettingOnce) {
  const std::string report = describe(default_settings());
  for (const SettingRow& row : setting_table()) {
    EXPECT_THAT(report, HasSubstr(key_of(row) + "=" + std::string(row.default_text)));
  }
}

}  // namespace
}  // namespace rocelane
