#include "base/settings.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/settings_environment.h"
#include "base/settings_table.h"

namespace rocelane {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

Settings loaded(const Environment& environment) {
  Result<Settings> settings = load_settings(environment);
  EXPECT_TRUE(settings.ok()) << (settings.ok() ? "" : settings.error().what);
  return settings.ok() ? *settings : Settings{};
}

std::string refusal(const Environment& environment) {
  const Result<Settings> settings = load_settings(environment);
  EXPECT_FALSE(settings.ok());
  return settings.ok() ? "" : settings.error().what;
}

TEST(Settings, HaveDocumentedDefaultsWhenNobodySetsAnything) {
  const Settings settings = loaded({});
  EXPECT_EQ(settings.gid_index, std::nullopt);
  EXPECT_EQ(settings.traffic_class, std::nullopt);
  EXPECT_EQ(settings.service_level, 0);
  EXPECT_EQ(settings.lanes, 2);
  EXPECT_EQ(settings.ack_timeout, 20);
  EXPECT_EQ(settings.retry_count, 7);
  EXPECT_EQ(settings.connect_timeout_ms, 8000);
  EXPECT_EQ(settings.relaxed_ordering, RelaxedOrdering::kIfSupported);
  EXPECT_EQ(settings.small_message_traffic_class, std::nullopt);
  EXPECT_EQ(settings.small_message_bytes, 16384);
  EXPECT_EQ(settings.stripe_bytes, 131072);
  EXPECT_TRUE(settings.telemetry);
  EXPECT_EQ(settings.telemetry_directory, "/dev/shm");
  EXPECT_THAT(settings.warnings, IsEmpty());
  EXPECT_THAT(settings.notes, IsEmpty());
  EXPECT_FALSE(is_set(settings, Setting::kLanes));
}

TEST(Settings, ReadEveryNameOfOurs) {
  const Settings settings = loaded({{"ROCELANE_DEVICES", "=mlx5_0:1"},
                                    {"ROCELANE_GID_INDEX", "5"},
                                    {"ROCELANE_ADDRESS_FAMILY", "ipv6"},
                                    {"ROCELANE_ADDRESS_RANGE", "fd00::/8"},
                                    {"ROCELANE_ROCE_VERSION", "1"},
                                    {"ROCELANE_TRAFFIC_CLASS", "0x6a"},
                                    {"ROCELANE_CONTROL_TRAFFIC_CLASS", "192"},
                                    {"ROCELANE_SMALL_MESSAGE_TRAFFIC_CLASS", "40"},
                                    {"ROCELANE_SMALL_MESSAGE_BYTES", "0"},
                                    {"ROCELANE_SERVICE_LEVEL", "3"},
                                    {"ROCELANE_PKEY_INDEX", "1"},
                                    {"ROCELANE_MTU", "2048"},
                                    {"ROCELANE_LANES", "4"},
                                    {"ROCELANE_STRIPE_BYTES", "0x4000"},
                                    {"ROCELANE_ACK_TIMEOUT", "14"},
                                    {"ROCELANE_RETRY_COUNT", "3"},
                                    {"ROCELANE_RELAXED_ORDERING", "off"},
                                    {"ROCELANE_GPU_DIRECT", "on"},
                                    {"ROCELANE_CONNECT_TIMEOUT_MS", "2500"},
                                    {"ROCELANE_SOCKET_INTERFACE", "^docker,lo"},
                                    {"ROCELANE_SOCKET_FAMILY", "IPv4"},
                                    {"ROCELANE_TELEMETRY", "OFF"},
                                    {"ROCELANE_TELEMETRY_DIR", "/run/rocelane"}});
  EXPECT_EQ(settings.devices, "=mlx5_0:1");
  EXPECT_EQ(settings.gid_index, 5);
  EXPECT_EQ(settings.address_family, AddressFamily::kIpv6);
  ASSERT_TRUE(settings.address_range);
  EXPECT_EQ(range_text(*settings.address_range), "fd00::/8");
  EXPECT_EQ(settings.roce_version, 1);
  EXPECT_EQ(settings.traffic_class, 106);
  EXPECT_EQ(settings.control_traffic_class, 192);
  EXPECT_EQ(settings.service_level, 3);
  EXPECT_EQ(settings.pkey_index, 1);
  EXPECT_EQ(settings.mtu_bytes, 2048);
  EXPECT_EQ(settings.lanes, 4);
  EXPECT_EQ(settings.ack_timeout, 14);
  EXPECT_EQ(settings.retry_count, 3);
  EXPECT_EQ(settings.relaxed_ordering, RelaxedOrdering::kOff);
  EXPECT_EQ(settings.gpu_direct, GpuDirect::kOn);
  EXPECT_EQ(settings.connect_timeout_ms, 2500);
  EXPECT_EQ(settings.socket_interface, "^docker,lo");
  EXPECT_EQ(settings.socket_family, AddressFamily::kIpv4);
  EXPECT_EQ(settings.small_message_traffic_class, 40);
  EXPECT_EQ(settings.small_message_bytes, 0);
  EXPECT_EQ(settings.stripe_bytes, 16384);
  EXPECT_FALSE(settings.telemetry);
  EXPECT_EQ(settings.telemetry_directory, "/run/rocelane");
  for (const SettingRow& row : setting_table()) {
    EXPECT_TRUE(is_set(settings, row.id)) << row.name << " is missing in this test";
  }
}

TEST(Settings, HonourEveryAliasWithNcclsOwnValues) {
  const Settings settings = loaded({{"NCCL_IB_HCA", "mlx5_2:1"},
                                    {"NCCL_IB_GID_INDEX", "-1"},
                                    {"NCCL_IB_ADDR_FAMILY", "AF_INET6"},
                                    {"NCCL_IB_ADDR_RANGE", "::/0"},
                                    {"NCCL_IB_ROCE_VERSION_NUM", "2"},
                                    {"NCCL_IB_TC", "128"},
                                    {"NCCL_IB_FIFO_TC", "-1"},
                                    {"NCCL_IB_SL", "-1"},
                                    {"NCCL_IB_PKEY", "0"},
                                    {"NCCL_IB_QPS_PER_CONNECTION", "8"},
                                    {"NCCL_IB_TIMEOUT", "22"},
                                    {"NCCL_IB_RETRY_CNT", "7"},
                                    {"NCCL_IB_PCI_RELAXED_ORDERING", "1"},
                                    {"NCCL_SOCKET_IFNAME", "eth0"},
                                    {"NCCL_SOCKET_FAMILY", "AF_INET"}});
  EXPECT_EQ(settings.devices, "mlx5_2:1");
  EXPECT_EQ(settings.gid_index, std::nullopt);
  EXPECT_EQ(settings.address_family, AddressFamily::kIpv6);
  EXPECT_EQ(settings.roce_version, 2);
  EXPECT_EQ(settings.traffic_class, 128);
  EXPECT_EQ(settings.control_traffic_class, std::nullopt);
  EXPECT_EQ(settings.service_level, 0);
  EXPECT_EQ(settings.lanes, 8);
  EXPECT_EQ(settings.ack_timeout, 22);
  EXPECT_EQ(settings.relaxed_ordering, RelaxedOrdering::kOn);
  EXPECT_EQ(settings.socket_interface, "eth0");
  EXPECT_EQ(settings.socket_family, AddressFamily::kIpv4);
  EXPECT_EQ(where_from(settings, Setting::kTrafficClass), "NCCL_IB_TC=128");
}

TEST(Settings, LetOurNameWinOverTheAliasAndSaySo) {
  const Settings settings = loaded({{"ROCELANE_TRAFFIC_CLASS", "106"}, {"NCCL_IB_TC", "41"}});
  EXPECT_EQ(settings.traffic_class, 106);
  EXPECT_EQ(where_from(settings, Setting::kTrafficClass), "ROCELANE_TRAFFIC_CLASS=106");
  EXPECT_THAT(settings.notes, ElementsAre("ROCELANE_TRAFFIC_CLASS=106 wins over NCCL_IB_TC=41"));
}

TEST(Settings, DoNotJudgeAnAliasThatOurNameReplaces) {
  EXPECT_EQ(loaded({{"ROCELANE_ACK_TIMEOUT", "14"}, {"NCCL_IB_TIMEOUT", "1000"}}).ack_timeout, 14);
}

TEST(Settings, TreatEmptyAndBlankValuesAsUnset) {
  const Settings settings = loaded({{"NCCL_IB_GID_INDEX", ""}, {"ROCELANE_LANES", " \t"}});
  EXPECT_EQ(settings.gid_index, std::nullopt);
  EXPECT_EQ(settings.lanes, 2);
  EXPECT_FALSE(is_set(settings, Setting::kGidIndex));
}

TEST(Settings, FallBackToTheAliasWhenOurNameIsEmpty) {
  EXPECT_EQ(loaded({{"ROCELANE_LANES", ""}, {"NCCL_IB_QPS_PER_CONNECTION", "3"}}).lanes, 3);
}

TEST(Settings, RefuseAValueOutOfRangeByNameWithBoundsAndMeaning) {
  EXPECT_EQ(refusal({{"NCCL_IB_TC", "300"}}),
            "NCCL_IB_TC=300: a traffic class is 0..255 (DSCP in the upper six bits, ECN in the "
            "lower two), or auto (-1); unset it or correct it");
}

TEST(Settings, NeverReadTextAsANumber) {
  for (const char* text : {"abc", "3,4", "12abc", "0x", "0x-1", "1e1", "--1", "1 2", "٣", "010",
                           "99999999999999999999", "-2", "+1"}) {
    EXPECT_THAT(refusal({{"ROCELANE_RETRY_COUNT", text}}), StartsWith("ROCELANE_RETRY_COUNT="))
        << text;
  }
}

TEST(Settings, KeepTheBoundsOfEveryNumber) {
  for (const SettingRow& row : setting_table()) {
    if (!is_number(row.type)) {
      continue;
    }
    const std::string name(row.name);
    EXPECT_TRUE(load_settings({{name, std::to_string(row.least)}}).ok()) << name;
    EXPECT_TRUE(load_settings({{name, std::to_string(row.most)}}).ok()) << name;
    EXPECT_FALSE(load_settings({{name, std::to_string(row.most + 1)}}).ok()) << name;
    EXPECT_FALSE(load_settings({{name, "-2"}}).ok()) << name;
    EXPECT_FALSE(load_settings({{name, std::to_string(row.most) + "0000000000000"}}).ok()) << name;
  }
}

TEST(Settings, NameAllMistakesInOneSentence) {
  const std::string sentence = refusal({{"NCCL_IB_TIMEOUT", "200"},
                                        {"NCCL_IB_RETRY_CNT", "15"},
                                        {"NCCL_IB_TC", "128"},
                                        {"ROCELANE_ADDRESS_RANGE", "10.0.0.0"},
                                        {"ROCELANE_MTU", "9000"}});
  EXPECT_THAT(sentence,
              AllOf(HasSubstr("NCCL_IB_TIMEOUT=200: "), HasSubstr("NCCL_IB_RETRY_CNT=15"),
                    HasSubstr("ROCELANE_ADDRESS_RANGE=10.0.0.0: a range is"),
                    HasSubstr("ROCELANE_MTU=9000: a RoCE MTU is"),
                    HasSubstr("unset them or correct them"), Not(HasSubstr("NCCL_IB_TC"))));
}

TEST(Settings, RefuseAnUnknownChoice) {
  EXPECT_THAT(refusal({{"NCCL_IB_ADDR_FAMILY", "AF_INET4"}}), HasSubstr("ipv4 (AF_INET)"));
  EXPECT_THAT(refusal({{"ROCELANE_GPU_DIRECT", "yes"}}), HasSubstr("ROCELANE_GPU_DIRECT=yes"));
  EXPECT_THAT(refusal({{"NCCL_IB_PCI_RELAXED_ORDERING", "3"}}), HasSubstr("off (0), on (1)"));
}

TEST(Settings, RefuseARangeOfTheOtherFamily) {
  EXPECT_THAT(refusal({{"NCCL_IB_ADDR_RANGE", "fd00::/8"}, {"NCCL_IB_ADDR_FAMILY", "AF_INET"}}),
              HasSubstr("NCCL_IB_ADDR_RANGE=fd00::/8 and NCCL_IB_ADDR_FAMILY=AF_INET exclude"));
}

TEST(Settings, ShowHostileValuesInOneShortPrintableLine) {
  const std::string sentence = refusal(
      {{"ROCELANE_DEVICES", "mlx5\n\x1b[2J"}, {"ROCELANE_LANES", std::string(1 << 20, '9')}});
  EXPECT_THAT(sentence, Not(HasSubstr("\n")));
  EXPECT_THAT(sentence, Not(HasSubstr("\x1b")));
  EXPECT_LT(sentence.size(), 1000u);
}

TEST(Settings, RefuseAStripeThatIsNoMultipleOf128) {
  EXPECT_THAT(refusal({{"ROCELANE_STRIPE_BYTES", "65537"}}),
              StartsWith("ROCELANE_STRIPE_BYTES=65537: a stripe is 128..1073741824 bytes and a "
                         "multiple of 128"));
}

TEST(Settings, RefuseARelativeFolder) {
  EXPECT_THAT(refusal({{"ROCELANE_TELEMETRY_DIR", "shm"}}),
              StartsWith("ROCELANE_TELEMETRY_DIR=shm: a folder is an absolute path"));
}

TEST(Settings, KeepTheDefaultWhereAValueBreaksItsRule) {
  const JudgedSettings judged =
      judge_settings({{"ROCELANE_ACK_TIMEOUT", "1000"}, {"ROCELANE_ADDRESS_RANGE", "10.0.0.0"}});
  EXPECT_EQ(judged.settings.ack_timeout, 20);
  EXPECT_EQ(judged.settings.address_range, std::nullopt);
  EXPECT_EQ(judged.mistakes.size(), 2u);
}

TEST(Settings, NameWhatIsMisspeltTogetherWithTheMistakes) {
  EXPECT_THAT(refusal({{"NCCL_IB_TIMEOUT", "1000"}, {"ROCELANE_LANE", "4"}}),
              AllOf(StartsWith("NCCL_IB_TIMEOUT=1000: "), HasSubstr("; unset it or correct it; "),
                    HasSubstr("also, ROCELANE_LANE is not a setting and has no effect; did you "
                              "mean ROCELANE_LANES?")));
}

TEST(ProcessEnvironment, HoldsTheVariablesOfThisProcess) {
  ASSERT_EQ(setenv("ROCELANE_LAB_PROBE", "a=b", 1), 0);
  EXPECT_EQ(process_environment()["ROCELANE_LAB_PROBE"], "a=b");
}

}  // namespace
}  // namespace rocelane
