// Disasters by script, on the virtual clock.

#include <chrono>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulation.h"

namespace rocelane::softverbs_test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

const char* const kTwoHosts = R"(
  [hosts]
  count = 2
  rails = 2
  [fabric]
  kind = "leaf"
  host_link = { rate = "100Gb/s", delay = "1us" }
)";

std::vector<ibv_wc_status> statuses(const std::vector<ibv_wc>& completions) {
  std::vector<ibv_wc_status> result;
  for (const ibv_wc& completion : completions) {
    result.push_back(completion.status);
  }
  return result;
}

TEST(Faults, ACutLinkEndsInARetryErrorAfterExactlyAllTimeouts) {
  Simulation simulation(kTwoHosts, R"(
    [[fault]]
    at = "1ms"
    do = "cut-link"
    link = "host1/soft_0-leaf1"
  )");
  const Connection connection = simulation.connect("host1/soft_0", "host2/soft_0");
  ASSERT_EQ(connection.from->write(*connection.to, 1000, 1), 0);
  simulation.run_for(2 * kMillisecond);
  EXPECT_EQ(statuses(connection.from->sent()), std::vector{IBV_WC_SUCCESS});
  ASSERT_EQ(connection.from->write(*connection.to, 1000, 2), 0);
  ASSERT_EQ(connection.from->write(*connection.to, 1000, 3), 0);
  // Timeout 14 is 4.096 us * 2^14; two retries make three of them.
  constexpr uint64_t kAll = 3 * (uint64_t{4096} << 14U);
  simulation.run_for(kAll - kMicrosecond);
  EXPECT_TRUE(connection.from->sent().empty());
  simulation.run_for(kMicrosecond);
  const auto sent = connection.from->sent();
  EXPECT_EQ(statuses(sent), (std::vector{IBV_WC_RETRY_EXC_ERR, IBV_WC_WR_FLUSH_ERR}));
  EXPECT_EQ(sent[0].wr_id, 2U);
  EXPECT_EQ(sent[0].vendor_err, 129U);
}

TEST(Faults, ACutThatEndsInTimeIsHealedByRetransmission) {
  Simulation simulation(kTwoHosts, R"(
    [[fault]]
    at = "0s"
    do = "cut-link"
    link = "host1/soft_0>leaf1"
    for = "100ms"
  )");
  const Connection connection = simulation.connect("host1/soft_0", "host2/soft_0");
  simulation.run_for(kMicrosecond);
  ASSERT_EQ(connection.from->write(*connection.to, 100'000), 0);
  ASSERT_TRUE(simulation.run_dry());
  EXPECT_EQ(statuses(connection.from->sent()), std::vector{IBV_WC_SUCCESS});
  EXPECT_TRUE(connection.to->has_bytes_of(*connection.from, 100'000));
}

TEST(Faults, OneDirectionCutLosesAcknowledgementsOnly) {
  Simulation simulation(kTwoHosts, R"(
    [[fault]]
    at = "0s"
    do = "cut-link"
    link = "leaf1>host1/soft_0"
  )");
  const Connection connection = simulation.connect("host1/soft_0", "host2/soft_0");
  simulation.run_for(kMicrosecond);
  ASSERT_EQ(connection.from->write(*connection.to, 5000), 0);
  ASSERT_TRUE(simulation.run_dry());
  EXPECT_EQ(statuses(connection.from->sent()), std::vector{IBV_WC_RETRY_EXC_ERR});
  EXPECT_TRUE(connection.to->has_bytes_of(*connection.from, 5000));
  EXPECT_GT(simulation.counters("host2/soft_0").duplicate_requests, 0U);
}

TEST(Faults, TheAcknowledgementOfTheNthWriteIsKilledExactlyThere) {
  Simulation simulation(kTwoHosts, R"(
    [[fault]]
    on = { device = "host1/soft_0", work = "write-with-immediate", number = 5 }
    do = "drop-acknowledgement"
  )");
  const Connection connection = simulation.connect("host1/soft_0", "host2/soft_0");
  for (uint64_t i = 1; i <= 8; ++i) {
    ASSERT_EQ(connection.to->receive(i), 0);
    ASSERT_EQ(connection.from->write_with_immediate(*connection.to, 100, 0, i), 0);
  }
  ASSERT_TRUE(simulation.run_dry());
  const auto sent = connection.from->sent();
  ASSERT_EQ(sent.size(), 8U);
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(sent[i].wr_id, i + 1);
    EXPECT_EQ(sent[i].status, i < 4    ? IBV_WC_SUCCESS
                              : i == 4 ? IBV_WC_RETRY_EXC_ERR
                                       : IBV_WC_WR_FLUSH_ERR);
  }
  // What the sender calls failed has arrived, once each.
  EXPECT_EQ(connection.to->received().size(), 8U);
}

TEST(Faults, ARefusalIsForTheRequestThatWasRefused) {
  // The READ's data are lost, and the SEND behind it finds no receive: that ends the SEND alone.
  Simulation simulation(kTwoHosts, R"(
    [[fault]]
    on = { work = "read", number = 1 }
    do = "drop-acknowledgement"
    times = 1
  )");
  Wishes wishes;
  wishes.rnr_retries = 0;
  const Connection connection = simulation.connect("host1/soft_0", "host2/soft_0", wishes);
  ASSERT_EQ(connection.from->read(*connection.to, 100, 1), 0);
  ASSERT_EQ(connection.from->send(100, 2), 0);
  ASSERT_TRUE(simulation.run_dry());
  EXPECT_EQ(statuses(connection.from->sent()),
            (std::vector{IBV_WC_SUCCESS, IBV_WC_RNR_RETRY_EXC_ERR}));
}

TEST(Faults, ASharedReceiveThatAResetTakesAlongLeavesItsPlace) {
  Simulation simulation(kTwoHosts);
  Wishes wishes;
  wishes.shared_receives = 2;
  const Connection connection = simulation.connect("host1/soft_0", "host2/soft_0", wishes);
  for (int time = 0; time < 5; ++time) {
    while (connection.to->receive() == 0) {
    }
    ASSERT_EQ(connection.from->send(1 << 20), 0);
    simulation.run_for(20 * kMicrosecond);  // a quarter of the message
    ASSERT_EQ(connection.to->reset(), 0);
    ASSERT_EQ(connection.from->reset(), 0);
    EXPECT_EQ(connection.to->receive(), 0);
    EXPECT_EQ(connection.to->receive(), ENOMEM);
    ASSERT_EQ(connection.from->connect(*connection.to), 0);
    ASSERT_EQ(connection.to->connect(*connection.from), 0);
  }
}

TEST(Faults, ADroppedRequestIsSentAgain) {
  Simulation simulation(kTwoHosts, R"(
    [[fault]]
    on = { device = "host1/soft_0", work = "write", number = 2 }
    do = "drop-request"
    times = 1
  )");
  const Connection connection = simulation.connect("host1/soft_0", "host2/soft_0");
  for (uint64_t i = 1; i <= 3; ++i) {
    ASSERT_EQ(connection.from->write(*connection.to, 100, i), 0);
  }
  ASSERT_TRUE(simulation.run_dry());
  EXPECT_EQ(statuses(connection.from->sent()),
            (std::vector{IBV_WC_SUCCESS, IBV_WC_SUCCESS, IBV_WC_SUCCESS}));
  EXPECT_GE(connection.from->counters().retransmissions, 1U);
}

TEST(Faults, ARequestThatIsDroppedAlwaysFails) {
  Simulation simulation(kTwoHosts, R"(
    [[fault]]
    on = { work = "any", number = 1 }
    do = "drop-request"
  )");
  const Connection connection = simulation.connect("host1/soft_0", "host2/soft_0");
  ASSERT_EQ(connection.from->send(100), 0);
  ASSERT_TRUE(simulation.run_dry());
  EXPECT_EQ(statuses(connection.from->sent()), std::vector{IBV_WC_RETRY_EXC_ERR});
}

TEST(Faults, ALateWriteLandsAfterItsSenderHasGivenUpAndNotBehindAFence) {
  const char* const faults = R"(
    [[fault]]
    on = { device = "host1/soft_0", work = "write", number = 1 }
    do = "delay-request"
    delay = "10s"
    [[fault]]
    at = "1us"
    do = "cut-link"
    link = "host2/soft_0>leaf1"
  )";
  for (const bool fenced : {false, true}) {
    Simulation simulation(kTwoHosts, faults);
    const Connection connection = simulation.connect("host1/soft_0", "host2/soft_0");
    ASSERT_EQ(connection.from->write(*connection.to, 64), 0);
    simulation.run_for(kMicrosecond);
    // Retransmissions would arrive; the fault is about the first transmission.
    ASSERT_EQ(softverbs_inject(
                  "[[fault]]\nat = \"0s\"\ndo = \"cut-link\"\nlink = \"host1/soft_0>leaf1\"\n",
                  nullptr, 0),
              0);
    simulation.run_for(kSecond);
    ASSERT_EQ(statuses(connection.from->sent()), std::vector{IBV_WC_RETRY_EXC_ERR});
    EXPECT_EQ(connection.to->memory()[0], 0);
    // The sender's buffer has moved on; what is under way has not.
    const uint8_t sent_byte = connection.from->memory()[0];
    connection.from->memory()[0] = 99;
    if (fenced) {
      ibv_qp_attr error{};
      error.qp_state = IBV_QPS_ERR;
      ASSERT_EQ(ibv_modify_qp(connection.to->queue_pair(), &error, IBV_QP_STATE), 0);
    }
    simulation.run_for(20 * kSecond);
    EXPECT_EQ(connection.to->memory()[0], fenced ? 0 : sent_byte);
  }
}

TEST(Faults, ADelayedRequestIsOvertakenByOtherQueuePairs) {
  Simulation simulation(kTwoHosts, R"(
    [[fault]]
    on = { device = "host1/soft_0", work = "write", number = 1 }
    do = "delay-request"
    delay = "1ms"
  )");
  const Connection late = simulation.connect("host1/soft_0", "host2/soft_0");
  const Connection early = simulation.connect("host1/soft_0", "host2/soft_0");
  ASSERT_EQ(late.from->write(*late.to, 64), 0);
  ASSERT_EQ(early.from->write(*early.to, 64), 0);
  simulation.run_for(100 * kMicrosecond);
  EXPECT_EQ(early.from->sent().size(), 1U);
  EXPECT_TRUE(late.from->sent().empty());
  simulation.run_for(kMillisecond);
  EXPECT_EQ(late.from->sent().size(), 1U);
}

TEST(Faults, ACompletionWithAChosenStatusComesInItsTurnAndNothingLeaves) {
  Simulation simulation(kTwoHosts, R"(
    [[fault]]
    on = { device = "host1/soft_0", work = "write", number = 2 }
    do = "complete-with"
    status = "remote-operation-error"
    vendor_error = 77
  )");
  const Connection connection = simulation.connect("host1/soft_0", "host2/soft_0");
  for (uint64_t i = 1; i <= 3; ++i) {
    ASSERT_EQ(connection.from->write(*connection.to, 10 * i, i), 0);
  }
  ASSERT_TRUE(simulation.run_dry());
  const auto sent = connection.from->sent();
  EXPECT_EQ(statuses(sent), (std::vector{IBV_WC_SUCCESS, IBV_WC_REM_OP_ERR, IBV_WC_WR_FLUSH_ERR}));
  EXPECT_EQ(sent[1].vendor_err, 77U);
  EXPECT_TRUE(connection.to->has_bytes_of(*connection.from, 10));
  EXPECT_EQ(connection.to->memory()[10], 0);
}

TEST(Faults, APortGoesDownAndComesBackWithItsEvents) {
  Simulation simulation(kTwoHosts, R"(
    [[fault]]
    at = "10ms"
    do = "port-down"
    device = "host2/soft_0"
    for = "20ms"
  )");
  const Connection connection = simulation.connect("host1/soft_0", "host2/soft_0");
  EXPECT_EQ(simulation.next_event("host2/soft_0"), -1);
  simulation.run_for(15 * kMillisecond);
  EXPECT_EQ(simulation.next_event("host2/soft_0"), IBV_EVENT_PORT_ERR);
  EXPECT_EQ(simulation.next_event("host1/soft_0"), -1);
  ibv_port_attr port{};
  ASSERT_EQ(ibv_query_port(simulation.device("host2/soft_0"), 1, &port), 0);
  EXPECT_EQ(port.state, IBV_PORT_DOWN);
  ASSERT_EQ(connection.from->write(*connection.to, 100), 0);
  simulation.run_for(10 * kMillisecond);
  EXPECT_TRUE(connection.from->sent().empty());
  EXPECT_EQ(connection.to->memory()[0], 0);
  ASSERT_TRUE(simulation.run_dry());
  EXPECT_EQ(simulation.next_event("host2/soft_0"), IBV_EVENT_PORT_ACTIVE);
  EXPECT_EQ(statuses(connection.from->sent()), std::vector{IBV_WC_SUCCESS});
  EXPECT_EQ(simulation.counters("host2/soft_0").port_down_events, 1U);
}

TEST(Faults, AGidGoesAndComesBackElsewhere) {
  Simulation simulation(kTwoHosts, R"(
    [[fault]]
    at = "1ms"
    do = "remove-gid"
    device = "host2/soft_0"
    index = 3
    [[fault]]
    at = "2ms"
    do = "add-gid"
    device = "host2/soft_0"
    gid = { index = 5, address = "10.8.0.2", type = "v2", interface = "lo" }
  )");
  const Connection connection = simulation.connect("host1/soft_0", "host2/soft_0");
  simulation.run_for(1500 * kMicrosecond);
  EXPECT_EQ(simulation.next_event("host2/soft_0"), IBV_EVENT_GID_CHANGE);
  ibv_gid_entry entry{};
  EXPECT_EQ(ibv_query_gid_ex(simulation.device("host2/soft_0"), 1, 3, &entry, 0), ENODATA);
  ASSERT_EQ(connection.from->write(*connection.to, 64), 0);
  simulation.run_for(400 * kMicrosecond);
  EXPECT_EQ(connection.to->memory()[0], 0);  // nobody has that address now
  simulation.run_for(kMillisecond);
  EXPECT_EQ(simulation.next_event("host2/soft_0"), IBV_EVENT_GID_CHANGE);
  EXPECT_EQ(ibv_query_gid_ex(simulation.device("host2/soft_0"), 1, 5, &entry, 0), 0);
  EXPECT_EQ(entry.gid_type, static_cast<uint32_t>(IBV_GID_TYPE_ROCE_V2));
  ASSERT_TRUE(simulation.run_dry());
  EXPECT_EQ(statuses(connection.from->sent()), std::vector{IBV_WC_SUCCESS});
}

TEST(Faults, ADeadDeviceSaysSoAndRefusesEverything) {
  Simulation simulation(kTwoHosts, R"(
    [[fault]]
    at = "1ms"
    do = "device-fatal"
    device = "host1/soft_1"
  )");
  const Connection connection = simulation.connect("host1/soft_1", "host2/soft_1");
  simulation.run_for(2 * kMillisecond);
  EXPECT_EQ(simulation.next_event("host1/soft_1"), IBV_EVENT_DEVICE_FATAL);
  EXPECT_EQ(connection.from->write(*connection.to, 64), EIO);
  ibv_device_attr attributes{};
  EXPECT_EQ(ibv_query_device(simulation.device("host1/soft_1"), &attributes), EIO);
  EXPECT_EQ(ibv_query_device(simulation.device("host1/soft_0"), &attributes), 0);
}

TEST(Faults, ASlowReceiverTakesOneBurstAtATime) {
  Simulation simulation(kTwoHosts, R"(
    [[fault]]
    at = "0s"
    do = "slow-receiver"
    device = "host2/soft_0"
    delay = "100us"
  )");
  const Connection connection = simulation.connect("host1/soft_0", "host2/soft_0");
  simulation.run_for(kMicrosecond);
  const uint64_t start_ns = simulation.now_ns();
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(connection.from->write(*connection.to, 64), 0);
  }
  while (connection.from->sent().empty() || simulation.now_ns() < start_ns + 1900 * kMicrosecond) {
    simulation.run_for(10 * kMicrosecond);
  }
  EXPECT_LT(connection.from->counters().completions, 20U);
  simulation.run_for(200 * kMicrosecond);
  EXPECT_EQ(connection.from->counters().completions, 20U);
}

TEST(Faults, ARateThatChangesHoldsForWhatIsBeingSent) {
  Simulation simulation(kTwoHosts, R"(
    [[fault]]
    at = "0s"
    do = "link-rate"
    rate = "1kb/s"
    link = "host1/soft_0>leaf1"
    for = "1ms"
  )");
  const Connection connection = simulation.connect("host1/soft_0", "host2/soft_0");
  simulation.run_for(kMicrosecond);
  ASSERT_EQ(connection.from->write(*connection.to, 65536), 0);
  simulation.run_for(999 * kMicrosecond);
  EXPECT_TRUE(connection.from->sent().empty());
  simulation.run_for(20 * kMicrosecond);
  EXPECT_EQ(statuses(connection.from->sent()), std::vector{IBV_WC_SUCCESS});
}

TEST(Faults, ALinkThatIsDownIsAvoidedAfterAWhile) {
  const std::string fabric = R"(
    [hosts]
    count = 2
    rails = 1
    [fabric]
    kind = "leaf-spine"
    hosts_per_leaf = 1
    spines = 2
    reroute = "5ms"
    host_link = { rate = "100Gb/s", delay = "1us" }
    spine_link = { rate = "100Gb/s", delay = "1us" }
  )";
  Simulation simulation(fabric,
                        "[[fault]]\nat = \"1ms\"\ndo = \"link-down\"\nlink = \"leaf1-spine1\"\n");
  Wishes wishes;
  wishes.timeout = 9;  // 2 ms
  wishes.retries = 7;
  std::vector<Connection> lanes;
  for (uint32_t label = 1; label <= 8; ++label) {
    wishes.flow_label = label;
    lanes.push_back(simulation.connect("host1/soft_0", "host2/soft_0", wishes));
  }
  simulation.run_for(2 * kMillisecond);
  for (const Connection& lane : lanes) {
    ASSERT_EQ(lane.from->write(*lane.to, 10'000), 0);
  }
  ASSERT_TRUE(simulation.run_dry());
  for (const Connection& lane : lanes) {
    EXPECT_EQ(statuses(lane.from->sent()), std::vector{IBV_WC_SUCCESS});
  }
  EXPECT_GT(simulation.link("leaf1>spine1").lost_packets, 0U);
  EXPECT_GT(simulation.link("leaf1>spine2").packets, 8U);
}

// A workload with a bit of everything; its event log.
std::string log_of_a_busy_run(uint64_t seed) {
  Simulation simulation(R"(
    [hosts]
    count = 3
    rails = 1
    [fabric]
    kind = "leaf"
    host_link = { rate = "25Gb/s", delay = "1us", loss = 0.005 }
  )",
                        R"(
    [[fault]]
    at = "300us"
    do = "cut-link"
    link = "host3/soft_0-leaf1"
    for = "2ms"
  )",
                        seed);
  Wishes wishes;
  wishes.timeout = 8;
  wishes.retries = 7;
  std::vector<Connection> connections;
  connections.push_back(simulation.connect("host1/soft_0", "host2/soft_0", wishes));
  connections.push_back(simulation.connect("host3/soft_0", "host2/soft_0", wishes));
  connections.push_back(simulation.connect("host2/soft_0", "host1/soft_0", wishes));
  for (int i = 0; i < 10; ++i) {
    for (const Connection& connection : connections) {
      EXPECT_EQ(connection.to->receive(), 0);
      EXPECT_EQ(connection.from->write_with_immediate(*connection.to, 100'000, 0), 0);
    }
  }
  EXPECT_TRUE(simulation.run_dry());
  for (const Connection& connection : connections) {
    EXPECT_EQ(connection.from->sent().size(), 10U);
  }
  return simulation.log();
}

TEST(Determinism, TheSameSeedGivesTheSameLogToTheByte) {
  const std::string first = log_of_a_busy_run(42);
  EXPECT_GT(first.size(), 10'000U);
  EXPECT_EQ(first, log_of_a_busy_run(42));
  EXPECT_NE(first, log_of_a_busy_run(43));
}

TEST(VirtualClock, TwoHoursTakeMilliseconds) {
  const auto start = std::chrono::steady_clock::now();
  Simulation simulation(kTwoHosts, R"(
    [[fault]]
    at = "1ms"
    do = "port-down"
    device = "host1/soft_0"
    for = "2h"
  )");
  const Connection connection = simulation.connect("host1/soft_0", "host2/soft_0");
  simulation.run_for(2 * 3600 * kSecond + 2 * kMillisecond);
  EXPECT_EQ(simulation.next_event("host1/soft_0"), IBV_EVENT_PORT_ERR);
  EXPECT_EQ(simulation.next_event("host1/soft_0"), IBV_EVENT_PORT_ACTIVE);
  ASSERT_EQ(connection.from->write(*connection.to, 64), 0);
  ASSERT_TRUE(simulation.run_dry());
  EXPECT_EQ(statuses(connection.from->sent()), std::vector{IBV_WC_SUCCESS});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST(VirtualClock, ALongReadOnASlowLinkIsNotTakenForSilence) {
  Simulation simulation(R"(
    [hosts]
    count = 2
    rails = 1
    [fabric]
    kind = "leaf"
    host_link = { rate = "100Mb/s", delay = "1us" }
  )");
  Wishes wishes;
  wishes.bytes = 8 << 20;
  wishes.timeout = 12;  // 17 ms; the READ takes 0.7 s
  const Connection connection = simulation.connect("host1/soft_0", "host2/soft_0", wishes);
  std::fill(connection.to->memory().begin(), connection.to->memory().end(), uint8_t{'R'});
  ASSERT_EQ(connection.from->read(*connection.to, 8 << 20), 0);
  ASSERT_TRUE(simulation.run_dry());
  EXPECT_EQ(statuses(connection.from->sent()), std::vector{IBV_WC_SUCCESS});
  EXPECT_TRUE(connection.from->has_bytes_of(*connection.to, 8 << 20));
  EXPECT_EQ(connection.from->counters().retransmissions, 0U);
}

TEST(VirtualClock, ReceiverNotReadyWaitsAndGivesUp) {
  Simulation simulation(kTwoHosts);
  Wishes wishes;
  wishes.rnr_retries = 3;
  const Connection connection = simulation.connect("host1/soft_0", "host2/soft_0", wishes);
  ASSERT_EQ(connection.from->send(64, 1), 0);
  simulation.run_for(kMillisecond);  // the timer is 0.64 ms
  ASSERT_EQ(connection.to->receive(), 0);
  simulation.run_for(kMillisecond);
  EXPECT_EQ(statuses(connection.from->sent()), std::vector{IBV_WC_SUCCESS});
  ASSERT_EQ(connection.from->send(64, 2), 0);
  simulation.run_for(1900 * kMicrosecond);
  EXPECT_TRUE(connection.from->sent().empty());
  simulation.run_for(100 * kMicrosecond);
  EXPECT_EQ(statuses(connection.from->sent()), std::vector{IBV_WC_RNR_RETRY_EXC_ERR});
}

TEST(BadFiles, AreRefusedWithLineAndField) {
  char error[512];
  ASSERT_EQ(softverbs_open_virtual("[hosts]\ncuont = 2\n", nullptr, 1, error, sizeof error),
            EINVAL);
  EXPECT_THAT(std::string(error),
              AllOf(HasSubstr("fabric:2"), HasSubstr("cuont"), HasSubstr("count")));
  ASSERT_EQ(softverbs_open_virtual("", "[[fault]]\ndo = \"cut-link\"\nlink = \"nowhere\"\n", 1,
                                   error, sizeof error),
            EINVAL);
  EXPECT_THAT(std::string(error), AllOf(HasSubstr("faults:3"), HasSubstr("nowhere")));
  // Nothing is left behind: a good run can follow.
  Simulation simulation(kTwoHosts);
  EXPECT_EQ(softverbs_inject("[[fault]]\ndo = \"explode\"\n", error, sizeof error), EINVAL);
  EXPECT_THAT(std::string(error), HasSubstr("explode"));
}

}  // namespace
}  // namespace rocelane::softverbs_test
