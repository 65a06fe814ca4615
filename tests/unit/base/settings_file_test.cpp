#include "base/settings_file.h"

#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/settings.h"
#include "base/settings_example.h"

namespace rocelane {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kPath = "/etc/rocelane.toml";

ReadTextFile holding(const std::string& text) {
  return [text](const std::string& path) {
    EXPECT_EQ(path, kPath);
    return Result<std::string>(text);
  };
}

JudgedSettings judged(const std::string& text, Environment environment = {}) {
  environment["ROCELANE_CONFIG_FILE"] = kPath;
  return judge_settings(environment, holding(text));
}

Settings loaded(const std::string& text, const Environment& environment = {}) {
  JudgedSettings result = judged(text, environment);
  EXPECT_THAT(result.mistakes, IsEmpty());
  return std::move(result.settings);
}

std::string mistake(const std::string& text) {
  const std::vector<std::string> mistakes = judged(text).mistakes;
  EXPECT_EQ(mistakes.size(), 1u) << text;
  return mistakes.empty() ? "" : mistakes.front();
}

TEST(SettingsFile, SetsEveryKindOfValue) {
  const Settings settings = loaded(R"(
devices = "=mlx5_0,mlx5_1"
gid_index = "auto"
traffic_class = 0x6a   # DSCP 26, ECT(0)
control_traffic_class = -1
mtu = 4096
lanes = 4
relaxed_ordering = "off"
gpu_direct = true
address_range = "10.0.0.0/8"
telemetry = false
telemetry_dir = "/run/rocelane"
)");
  EXPECT_EQ(settings.devices, "=mlx5_0,mlx5_1");
  EXPECT_EQ(settings.gid_index, std::nullopt);
  EXPECT_EQ(settings.traffic_class, 106);
  EXPECT_EQ(settings.control_traffic_class, std::nullopt);
  EXPECT_EQ(settings.mtu_bytes, 4096);
  EXPECT_EQ(settings.lanes, 4);
  EXPECT_EQ(settings.relaxed_ordering, RelaxedOrdering::kOff);
  EXPECT_EQ(settings.gpu_direct, GpuDirect::kOn);
  EXPECT_EQ(range_text(*settings.address_range), "10.0.0.0/8");
  EXPECT_FALSE(settings.telemetry);
  EXPECT_EQ(settings.telemetry_directory, "/run/rocelane");
  EXPECT_THAT(settings.warnings, IsEmpty());
  EXPECT_THAT(settings.notes, IsEmpty());
  EXPECT_EQ(where_from(settings, Setting::kLanes), "lanes=4 in /etc/rocelane.toml:7");
  EXPECT_TRUE(is_set(settings, Setting::kLanes));
}

TEST(SettingsFile, LosesAgainstOurVariableAndWinsOverNcclsAndSaysSo) {
  const Settings settings =
      loaded("traffic_class = 104\nlanes = 4\n",
             {{"ROCELANE_LANES", "8"}, {"NCCL_IB_QPS_PER_CONNECTION", "2"}, {"NCCL_IB_TC", "41"}});
  EXPECT_EQ(settings.lanes, 8);
  EXPECT_EQ(settings.traffic_class, 104);
  EXPECT_THAT(settings.notes,
              ElementsAre("traffic_class=104 in /etc/rocelane.toml:1 wins over NCCL_IB_TC=41",
                          "ROCELANE_LANES=8 wins over lanes=4 in /etc/rocelane.toml:2",
                          "ROCELANE_LANES=8 wins over NCCL_IB_QPS_PER_CONNECTION=2"));
}

TEST(SettingsFile, IsNotJudgedWhereAVariableWins) {
  EXPECT_EQ(loaded("lanes = 1000", {{"ROCELANE_LANES", "3"}}).lanes, 3);
  EXPECT_EQ(loaded("lanes = []", {{"ROCELANE_LANES", "3"}}).lanes, 3);
}

TEST(SettingsFile, MayHoldEmptyValuesWhichCountAsUnset) {
  const Settings settings = loaded("devices = \"\"\n", {{"NCCL_IB_HCA", "mlx5_2"}});
  EXPECT_EQ(settings.devices, "mlx5_2");
}

TEST(SettingsFile, MayBeEmpty) {
  EXPECT_FALSE(is_set(loaded(""), Setting::kLanes));
  EXPECT_FALSE(is_set(loaded("# nothing but a comment, maybe with an \xC3\xA9"), Setting::kLanes));
}

TEST(SettingsFile, IsRefusedByKeyAndLineWhenAValueIsOutOfRange) {
  EXPECT_EQ(
      mistake("\n\nlanes = 1000\n"),
      "lanes=1000 in /etc/rocelane.toml:3: a number of lanes is 1..128, of which 16 are used");
  EXPECT_THAT(mistake("traffic_class = 300"),
              StartsWith("traffic_class=300 in /etc/rocelane.toml:1: a traffic class is 0..255"));
  EXPECT_THAT(mistake("lanes = 9223372036854775807"), HasSubstr("a number of lanes is 1..128"));
  EXPECT_THAT(mistake("lanes = -1"), HasSubstr("lanes=-1 in "));
}

TEST(SettingsFile, IsRefusedByKeyAndLineWhenAValueIsOfTheWrongType) {
  EXPECT_THAT(
      mistake("lanes = \"4\""),
      StartsWith("lanes=4 in /etc/rocelane.toml:1 is text in quotes: a number of lanes is"));
  EXPECT_THAT(mistake("lanes = 4.5"), HasSubstr("is a number with a decimal point: "));
  EXPECT_THAT(mistake("lanes = true"), HasSubstr("is true or false: a number of lanes is"));
  EXPECT_THAT(mistake("traffic_class = \"106\""), HasSubstr("is text in quotes: a traffic class"));
  EXPECT_THAT(mistake("devices = [\"mlx5_0\"]"), HasSubstr("is a list: a device list is"));
  EXPECT_THAT(mistake("devices = 5"), HasSubstr("is a number without quotes: a device list"));
  EXPECT_THAT(mistake("telemetry_dir = true"), HasSubstr("is true or false: a folder is"));
  EXPECT_THAT(mistake("[lanes]\n"), HasSubstr("is a table: a number of lanes is"));
  EXPECT_THAT(mistake("gid_index = 1979-05-27"), HasSubstr("is a date or time: a GID index"));
  EXPECT_THAT(mistake("relaxed_ordering = 3"), HasSubstr("relaxed ordering is off (0)"));
  EXPECT_THAT(mistake("mtu = true"), HasSubstr("a RoCE MTU is 256"));
}

TEST(SettingsFile, HasAllItsMistakesInOneReportWithThoseOfTheEnvironment) {
  Environment environment{{"ROCELANE_CONFIG_FILE", kPath}, {"NCCL_IB_TIMEOUT", "1000"}};
  const auto settings =
      load_settings(environment, holding("lanes = 0\nretry_count = 15\nlaens = 4\n"));
  ASSERT_FALSE(settings.ok());
  EXPECT_THAT(settings.error().what,
              AllOf(HasSubstr("lanes=0 in /etc/rocelane.toml:1: "),
                    HasSubstr("retry_count=15 in /etc/rocelane.toml:2: "),
                    HasSubstr("NCCL_IB_TIMEOUT=1000: "), HasSubstr("; unset them or correct them"),
                    HasSubstr("laens in /etc/rocelane.toml:3 is not a setting and has no effect; "
                              "did you mean lanes?")));
}

TEST(SettingsFile, WithAMistakeOfSyntaxIsRefusedWithItsLine) {
  for (const char* text : {"lanes = 4\nlanes 5\n", "lanes = 4\n[", "lanes = 4\nlanes = 5",
                           "\nretry_count = 010", "\ndevices = mlx5_0", "\n\xC3\xA9 = 1"}) {
    EXPECT_THAT(mistake(text), StartsWith("ROCELANE_CONFIG_FILE: /etc/rocelane.toml:2: this is not "
                                          "TOML"))
        << text;
  }
}

TEST(SettingsFile, DoesNotAcceptWhatNobodyCanSpell) {
  EXPECT_THAT(mistake("devices = \"mlx\xC3\xA9\""),
              HasSubstr(":1: devices has characters that are not ASCII"));
  EXPECT_EQ(loaded("devices = \"mlx?\"  # \"?\"").devices, "mlx?");
  EXPECT_THAT(mistake("a" + std::string(100000, '.') + "b = 1"), HasSubstr("too many dots"));
  EXPECT_THAT(mistake("devices = \"a\\nb\""), Not(HasSubstr("\n")));
}

TEST(SettingsFile, HasItsUnknownKeysNamedWithTheNearestRightOne) {
  EXPECT_THAT(
      loaded("trafic_class = 106\n[fabric]\nspines = 4\nNCCL_IB_TC = 106\n").warnings,
      ElementsAre(StartsWith("trafic_class in /etc/rocelane.toml:1 is not a setting and has "
                             "no effect; did you mean traffic_class?"),
                  StartsWith("fabric in /etc/rocelane.toml:2 is not a setting")));
  EXPECT_THAT(loaded("NCCL_IB_TC = 106").warnings, ElementsAre(HasSubstr("mean traffic_class?")));
  EXPECT_THAT(loaded("rocelane_lanes = 4").warnings, ElementsAre(HasSubstr("did you mean lanes?")));
  EXPECT_THAT(loaded("qqqqqqqqqqqq = 4").warnings, ElementsAre(HasSubstr("docs/settings.md")));
}

TEST(SettingsFile, ThatCannotBeReadStopsTheStart) {
  const auto settings = load_settings({{"ROCELANE_CONFIG_FILE", "/nowhere/rocelane.toml"}});
  ASSERT_FALSE(settings.ok());
  EXPECT_EQ(settings.error().what,
            "ROCELANE_CONFIG_FILE: /nowhere/rocelane.toml cannot be opened: No such file or "
            "directory; unset it or correct it");
}

TEST(SettingsFile, IsNotReadWhenNobodyNamesOne) {
  const ReadTextFile unwanted = [](const std::string& path) {
    ADD_FAILURE() << path;
    return Result<std::string>(std::string());
  };
  EXPECT_TRUE(load_settings({{"ROCELANE_CONFIG_FILE", " "}}, unwanted).ok());
  EXPECT_TRUE(load_settings({}, unwanted).ok());
}

// The example with every setting switched on and without its comments.
std::string every_setting() {
  std::istringstream example(settings_example());
  std::string text;
  for (std::string line; std::getline(example, line);) {
    if (line.starts_with("#") && !line.starts_with("# ")) {
      text += line.substr(1) + "\n";
    }
  }
  return text;
}

TEST(SettingsFile, MayHoldAnything) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const std::string sound = every_setting();
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string text = sound;
    for (unsigned change = 0; change <= random() % 4; ++change) {
      text[random() % text.size()] =
          random() % 2 == 0 ? static_cast<char>(random()) : "\"'[]{}.=,#\n0-"[random() % 13];
    }
    const JudgedSettings result = judged(text);
    refused += result.mistakes.empty() ? 0 : 1;
    for (const std::string& sentence : result.mistakes) {
      EXPECT_THAT(sentence, Not(HasSubstr("\n")));
    }
    EXPECT_LE(result.settings.lanes, 128);
  }
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, 2000);
}

class TextFile : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(mkdtemp(folder_.data()), nullptr); }
  void TearDown() override {
    unlink(path().c_str());
    rmdir(folder_.c_str());
  }
  std::string path() const { return folder_ + "/rocelane.toml"; }
  void write(const std::string& text) const { std::ofstream(path()) << text; }

 private:
  std::string folder_ = "/tmp/rocelane-settings-XXXXXX";
};

TEST_F(TextFile, IsReadAsAWhole) {
  const std::string text = "lanes = 4\n" + std::string(50000, '#');
  write(text);
  const auto read = read_text_file(path());
  ASSERT_TRUE(read.ok()) << read.error().what;
  EXPECT_EQ(*read, text);
  EXPECT_EQ(load_settings({{"ROCELANE_CONFIG_FILE", path()}})->lanes, 4);
}

TEST_F(TextFile, IsRefusedWhenItIsTooLarge) {
  write(std::string(100000, '#'));
  EXPECT_THAT(read_text_file(path()).error().what, HasSubstr("has more than 65536 bytes"));
}

TEST_F(TextFile, IsNoFolderAndNoPipe) {
  EXPECT_THAT(read_text_file("/tmp").error().what, HasSubstr("/tmp is not a file of text"));
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  EXPECT_THAT(read_text_file(path()).error().what, HasSubstr("is not a file of text"));
}

}  // namespace
}  // namespace rocelane
