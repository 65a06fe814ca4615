// Sets of variables as people run them, judged as a person would: one finding a fault, none where
// there is no fault. The faulty ones are from public reports; the clean ones are of the kinds that
// cloud providers and training scripts publish.

#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/settings.h"

namespace rocelane {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// Lines NAME=VALUE, split at the first "=" as NCCL splits those of its nccl.conf: blanks around it
// belong to name and value.
Environment environment_of(const std::string& text) {
  Environment environment;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t equals = line.find('=');
    if (equals != std::string::npos) {
      environment[line.substr(0, equals)] = line.substr(equals + 1);
    }
  }
  return environment;
}

JudgedSettings judged(const std::string& text) { return judge_settings(environment_of(text)); }

TEST(FaultyVariables, OfAProductionSetAreEachNamedOnce) {
  const std::string set = R"(
NCCL_NET=IB
NCCL_NET_PLUGIN=none
NCCL_IB_HCA=rocep1s0f0,rocep1s0f1,roceP2p1s0f0,roceP2p1s0f1
NCCL_IB_GID_INDEX=3
NCCL_IB_TIMEOUT=1000
NCCL_IB_RETRY_CNT=7
NCCL_IB_TOS=46
NCCL_IB_MERGE_NICS=0
NCCL_IB_SUBNET_AWARE_ROUTING=1
NCCL_CROSS_NIC=1
NCCL_SOCKET_IFNAME=mgmt0
NCCL_ALGO=RING
NCCL_MIN_NCHANNELS=4
NCCL_MAX_NCHANNELS=4
NCCL_BUFFSIZE=8388608
)";
  const JudgedSettings result = judged(set);
  EXPECT_THAT(result.mistakes,
              ElementsAre(StartsWith("NCCL_IB_TIMEOUT=1000: an acknowledge timeout is 0..31")));
  EXPECT_THAT(result.settings.warnings,
              ElementsAre("NCCL_IB_TOS is not a setting of NCCL and has no effect; if DSCP 46 is "
                          "meant, set NCCL_IB_TC=184"));
  EXPECT_THAT(result.settings.notes,
              ElementsAre(AllOf(StartsWith("NCCL_IB_MERGE_NICS (here: every port"),
                                HasSubstr("NCCL_IB_SUBNET_AWARE_ROUTING: only NCCL's own")),
                          StartsWith("NCCL_IB_GID_INDEX=3 pins a place in the GID table")));

  const auto start = load_settings(environment_of(set));
  ASSERT_FALSE(start.ok());
  EXPECT_THAT(start.error().what,
              AllOf(HasSubstr("NCCL_IB_TIMEOUT=1000"), HasSubstr("set NCCL_IB_TC=184")));
}

TEST(FaultyVariables, ThatAreMisspeltGetTheRightNameEach) {
  const JudgedSettings result = judged(R"(
NCCL_IB_HCA=mlx5_10,mlx5_11
NCCL_SOCKET_IFNAME-=eth0
NCCL_IB_GID_INDX=3
NCCL_IB_QPS_PER_CONNECTION=2
NCCL_ALGO=RING
NCCL_DEBUG=INFO
)");
  EXPECT_THAT(result.mistakes, IsEmpty());
  EXPECT_THAT(
      result.settings.warnings,
      ElementsAre(
          AllOf(HasSubstr("'NCCL_IB_GID_INDX'"), HasSubstr("did you mean NCCL_IB_GID_INDEX?")),
          AllOf(HasSubstr("'NCCL_SOCKET_IFNAME-'"), HasSubstr("mean NCCL_SOCKET_IFNAME?"))));
  EXPECT_THAT(result.settings.notes, IsEmpty());
  EXPECT_EQ(result.settings.lanes, 2);
}

TEST(FaultyVariables, ThatAreOutOfRangeAreRefusedTogetherAndNeverCut) {
  const JudgedSettings result = judged(R"(
NCCL_IB_TIMEOUT=200
NCCL_IB_RETRY_CNT=15
NCCL_IB_TC=128
NCCL_IB_GID_INDEX=3
NCCL_IB_HCA=mlx5_2:1
)");
  EXPECT_THAT(result.mistakes,
              ElementsAre(AllOf(StartsWith("NCCL_IB_TIMEOUT=200: an acknowledge timeout is 0..31"),
                                HasSubstr("22 is 17 s, with 7 retries about 2 min")),
                          StartsWith("NCCL_IB_RETRY_CNT=15: a retry count is 0..7")));
  EXPECT_THAT(result.settings.warnings, IsEmpty());
  EXPECT_EQ(result.settings.traffic_class, 128);
  EXPECT_EQ(result.settings.ack_timeout, 20) << "200 in 5 bits would be 8";
  EXPECT_EQ(result.settings.retry_count, 7);
}

TEST(FaultyVariables, OfOtherKindsAreNamedToo) {
  EXPECT_THAT(judged("NCCL_IB_GID_INDEX=abc").mistakes,
              ElementsAre(StartsWith("NCCL_IB_GID_INDEX=abc: a GID index is 0..255")));
  EXPECT_THAT(judged("NCCL_IB_ADDR_RANGE=10.0.0.0").mistakes,
              ElementsAre(AllOf(StartsWith("NCCL_IB_ADDR_RANGE=10.0.0.0: a range is an address, a "
                                           "slash and a prefix length"))));
  EXPECT_THAT(judged("NCCL_IB_TC=300").mistakes, ElementsAre(HasSubstr("0..255")));

  const JudgedSettings with_blanks = judged("NCCL_IB_TC = 106");
  EXPECT_THAT(with_blanks.mistakes, IsEmpty());
  EXPECT_THAT(with_blanks.settings.warnings, ElementsAre(AllOf(StartsWith("'NCCL_IB_TC ' is not"),
                                                               HasSubstr("mean NCCL_IB_TC?"))));
  EXPECT_EQ(with_blanks.settings.traffic_class, std::nullopt);
}

struct CleanSet {
  const char* name;
  const char* variables;
};

constexpr CleanSet kCleanSets[] = {
    {"a training script on Ethernet with DSCP 40", R"(
NCCL_DEBUG=WARN
NCCL_SOCKET_IFNAME=eth0
NCCL_IB_GID_INDEX=3
NCCL_IB_DISABLE=0
NCCL_IB_HCA=mlx5
NCCL_NET_GDR_LEVEL=2
NCCL_IB_QPS_PER_CONNECTION=4
NCCL_IB_TC=160
NCCL_IB_TIMEOUT=22
NCCL_PXN_DISABLE=0
)"},
    {"sixteen ports of a cloud's cluster network", R"(
NCCL_DEBUG=WARN
NCCL_CUMEM_ENABLE=0
NCCL_IB_SPLIT_DATA_ON_QPS=0
NCCL_IB_QPS_PER_CONNECTION=16
NCCL_IB_GID_INDEX=3
NCCL_IB_HCA==mlx5_0,mlx5_1,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7,mlx5_8,mlx5_9,mlx5_10,mlx5_12,mlx5_13,mlx5_14,mlx5_15,mlx5_16,mlx5_17
NCCL_IB_TC=41
NCCL_IB_SL=0
NCCL_IB_TIMEOUT=22
NCCL_CROSS_NIC=0
NCCL_SOCKET_NTHREADS=16
NCCL_IGNORE_CPU_AFFINITY=1
NCCL_TOPO_FILE=/h100/topo.xml
UCX_NET_DEVICES=eth0
)"},
    {"excluded ports, a service level and a class", R"(
NCCL_IB_QPS_PER_CONNECTION=8
NCCL_IB_SPLIT_DATA_ON_QPS=1
NCCL_NET_PLUGIN=rocelane
NCCL_IB_TC=136
NCCL_MIN_NCHANNELS=4
NCCL_IB_SL=5
NCCL_IB_HCA=^=mlx5_0,mlx5_5,mlx5_6
)"},
    {"two desktops with two cables, subnets and all", R"(
NCCL_IB_DISABLE=0
NCCL_IB_HCA==roceP2p1s0f0,roceP2p1s0f1
NCCL_IB_GID_INDEX=3
NCCL_IB_SUBNET_AWARE_ROUTING=1
NCCL_IB_SUBNET_PREFIX_LEN=24
NCCL_IB_MERGE_NICS=1
NCCL_IB_ADAPTIVE_ROUTING=0
NCCL_SOCKET_IFNAME=enP7s7
NCCL_RUNTIME_CONNECT=1
NCCL_IB_QPS_PER_CONNECTION=1
)"},
    {"a class for data and another for control", R"(
NCCL_SOCKET_IFNAME=enP22p1s0f1
NCCL_IB_HCA=mlx5_1,mlx5_0,mlx5_3,mlx5_2
NCCL_IB_ECE_ENABLE=0
NCCL_GDR_FLUSH_DISABLE=0
NCCL_IB_TC=104
NCCL_IB_FIFO_TC=184
NCCL_IB_ROCE_VERSION_NUM=2
NCCL_IB_ADDR_FAMILY=AF_INET
NCCL_IB_ADDR_RANGE=10.16.0.0/12
NCCL_IB_PCI_RELAXED_ORDERING=2
NCCL_IB_RETRY_CNT=7
)"},
    {"another plugin's switches and everything adaptive", R"(
NCCL_IBEXT_DISABLE=1
NCCL_IB_ADAPTIVE_ROUTING=1
NCCL_IB_OOO_RQ=1
NCCL_IB_RECEIVER_SIDE_MATCHING_SCHEME=1
NCCL_IB_PREPOST_RECEIVE_WORK_REQUESTS=1
NCCL_NETDEVS_POLICY=MAX:1
NCCL_SOCKET_RETRY_CNT=34
RCCL_IB_QP_SCHED_WEIGHT=1
)"},
    {"our own names", R"(
NCCL_NET_PLUGIN=rocelane
ROCELANE_DEVICES=mlx5_0,mlx5_1
ROCELANE_TRAFFIC_CLASS=106
ROCELANE_CONTROL_TRAFFIC_CLASS=192
ROCELANE_LANES=4
ROCELANE_LAB_RUN=/tmp/run
)"},
};

TEST(CleanVariables, GiveNoFinding) {
  for (const CleanSet& set : kCleanSets) {
    const JudgedSettings result = judged(set.variables);
    EXPECT_THAT(result.mistakes, IsEmpty()) << set.name;
    EXPECT_THAT(result.settings.warnings, IsEmpty()) << set.name;
    EXPECT_LE(result.settings.notes.size(), 2u) << set.name;
  }
}

TEST(CleanVariables, ThatHaveNoEffectHereGetOneNoteTogether) {
  EXPECT_THAT(judged("NCCL_IB_ECE_ENABLE=0").settings.notes,
              ElementsAre("NCCL_IB_ECE_ENABLE: only NCCL's own transports read this, no effect "
                          "here"));
  EXPECT_THAT(judged("NCCL_IB_MERGE_VFS=0\nNCCL_IB_SPLIT_DATA_ON_QPS=1\n").settings.notes,
              ElementsAre("NCCL_IB_MERGE_VFS, NCCL_IB_SPLIT_DATA_ON_QPS (here: "
                          "ROCELANE_STRIPE_BYTES says what is striped over lanes): only NCCL's own "
                          "transports read these, no effect here"));
  EXPECT_THAT(judged("NCCL_IB_ECE_ENABLE=\nNCCL_SOCKET_RETRY_CNT=3\n").settings.notes, IsEmpty());
}

}  // namespace
}  // namespace rocelane
