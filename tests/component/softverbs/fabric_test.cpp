// What the fabric does to traffic: rates, queues, classes, paths.

#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "simulation.h"

namespace rocelane::softverbs_test {
namespace {

const char* const kOneSpine = R"(
  [hosts]
  count = 4
  rails = 1
  [fabric]
  kind = "leaf-spine"
  hosts_per_leaf = 2
  spines = 1
  host_link = { rate = "100Gb/s", delay = "500ns" }
  spine_link = { rate = "10Gb/s", delay = "1us" }
)";

// Keeps a connection busy for a while; the payload it got across.
struct Elephant {
  Connection connection;
  uint64_t done_bytes = 0;
  size_t message_bytes = 256 * 1024;

  void keep_going() {
    for (const ibv_wc& completion : connection.from->sent()) {
      ASSERT_EQ(completion.status, IBV_WC_SUCCESS);
      done_bytes += message_bytes;
      ASSERT_EQ(connection.from->write(*connection.to, message_bytes), 0);
    }
  }
  void start(int messages) {
    for (int i = 0; i < messages; ++i) {
      ASSERT_EQ(connection.from->write(*connection.to, message_bytes), 0);
    }
  }
};

void run_all(Simulation& simulation, std::vector<Elephant*> elephants, uint64_t ns) {
  for (Elephant* elephant : elephants) {
    elephant->start(8);
  }
  const uint64_t end_ns = simulation.now_ns() + ns;
  while (simulation.now_ns() < end_ns) {
    simulation.run_for(20 * kMicrosecond);
    for (Elephant* elephant : elephants) {
      elephant->keep_going();
    }
  }
}

double gigabits_per_s(uint64_t bytes, uint64_t ns) {
  return static_cast<double>(bytes) * 8 / static_cast<double>(ns);
}

TEST(Fabric, OneElephantGetsTheWholeLinkAndTwoGetHalfEach) {
  constexpr uint64_t kTime = 40 * kMillisecond;
  double alone = 0;
  {
    Simulation simulation(kOneSpine);
    Elephant only{simulation.connect("host1/soft_0", "host3/soft_0")};
    run_all(simulation, {&only}, kTime);
    alone = gigabits_per_s(only.done_bytes, kTime);
  }
  EXPECT_GT(alone, 9.3);  // headers take 2 %
  EXPECT_LT(alone, 10.0);
  Simulation simulation(kOneSpine);
  Elephant first{simulation.connect("host1/soft_0", "host3/soft_0")};
  Elephant second{simulation.connect("host2/soft_0", "host4/soft_0")};
  run_all(simulation, {&first, &second}, kTime);
  EXPECT_NEAR(gigabits_per_s(first.done_bytes, kTime), alone / 2, alone * 0.03);
  EXPECT_NEAR(gigabits_per_s(second.done_bytes, kTime), alone / 2, alone * 0.03);
  EXPECT_TRUE(first.connection.to->has_bytes_of(*first.connection.from, first.message_bytes));
}

// The spine a connection's data takes, from the run's own counters.
std::set<std::string> spines_in_use(Simulation& simulation, int spines) {
  std::set<std::string> used;
  for (int spine = 1; spine <= spines; ++spine) {
    const std::string name = "leaf1>spine" + std::to_string(spine);
    if (simulation.link(name).bytes > 100'000) {
      used.insert(name);
    }
  }
  return used;
}

std::string four_spines(const std::string& more) {
  return R"(
    [hosts]
    count = 2
    rails = 1
    [fabric]
    kind = "leaf-spine"
    hosts_per_leaf = 1
    spines = 4
    host_link = { rate = "400Gb/s", delay = "500ns" }
    spine_link = { rate = "10Gb/s", delay = "1us" }
  )" + more;
}

TEST(Fabric, ASlowSpineLinkSlowsTheFlowsThatAreHashedOntoItAndNoOthers) {
  constexpr uint64_t kTime = 30 * kMillisecond;
  // The path of one flow label after the other, with all links alike.
  std::map<uint32_t, std::string> path_of_label;
  for (uint32_t label = 1; label <= 32; ++label) {
    Simulation simulation(four_spines(""));
    Wishes wishes;
    wishes.flow_label = label;
    Elephant probe{simulation.connect("host1/soft_0", "host2/soft_0", wishes)};
    run_all(simulation, {&probe}, kMillisecond);
    const auto used = spines_in_use(simulation, 4);
    ASSERT_EQ(used.size(), 1U);
    path_of_label[label] = *used.begin();
  }
  const std::string slow = path_of_label.at(1);
  const auto other = std::find_if(path_of_label.begin(), path_of_label.end(),
                                  [&](const auto& entry) { return entry.second != slow; });
  ASSERT_NE(other, path_of_label.end());

  Simulation simulation(four_spines("[[link]]\nname = \"" + slow + "\"\nrate = \"1Gb/s\"\n"));
  Wishes on_slow;
  on_slow.flow_label = 1;
  Wishes elsewhere;
  elsewhere.flow_label = other->first;
  Elephant slowed{simulation.connect("host1/soft_0", "host2/soft_0", on_slow)};
  Elephant free{simulation.connect("host1/soft_0", "host2/soft_0", elsewhere)};
  run_all(simulation, {&slowed, &free}, kTime);
  const double fast_rate = gigabits_per_s(free.done_bytes, kTime);
  EXPECT_GT(fast_rate, 9.0);
  EXPECT_NEAR(gigabits_per_s(slowed.done_bytes, kTime), fast_rate / 10, fast_rate * 0.03);
}

TEST(Fabric, WithAHashBlindToThePortAllQueuePairsOfTwoHostsShareOnePath) {
  for (const bool blind : {false, true}) {
    Simulation simulation(blind ? R"(
      [hosts]
      count = 2
      rails = 1
      [fabric]
      kind = "leaf-spine"
      hosts_per_leaf = 1
      spines = 4
      hash = "port-blind"
    )"
                                : four_spines(""));
    std::vector<Elephant> lanes;
    for (uint32_t label = 1; label <= 16; ++label) {
      Wishes wishes;
      wishes.flow_label = label;
      lanes.push_back({simulation.connect("host1/soft_0", "host2/soft_0", wishes)});
    }
    for (Elephant& lane : lanes) {
      lane.start(2);
    }
    ASSERT_TRUE(simulation.run_dry());
    const auto used = spines_in_use(simulation, 4);
    EXPECT_EQ(used.size(), blind ? 1U : 4U);
  }
}

TEST(Fabric, AHigherClassOvertakesElephants) {
  Simulation simulation(kOneSpine);
  Wishes bulk;
  bulk.traffic_class = 26 << 2;
  Wishes control;
  control.traffic_class = 48 << 2;
  Wishes same = bulk;
  Elephant elephant{simulation.connect("host1/soft_0", "host3/soft_0", bulk)};
  const Connection urgent = simulation.connect("host2/soft_0", "host4/soft_0", control);
  const Connection patient = simulation.connect("host2/soft_0", "host4/soft_0", same);
  run_all(simulation, {&elephant}, 5 * kMillisecond);

  const auto time_of = [&](const Connection& connection) {
    const uint64_t start_ns = simulation.now_ns();
    EXPECT_EQ(connection.from->write(*connection.to, 64), 0);
    while (connection.from->sent().empty()) {
      simulation.run_for(kMicrosecond);
      elephant.keep_going();
    }
    return simulation.now_ns() - start_ns;
  };
  const uint64_t urgent_ns = time_of(urgent);
  const uint64_t patient_ns = time_of(patient);
  // The urgent one waits for at most one burst of 16 KiB at 10 Gb/s in each direction.
  EXPECT_LT(urgent_ns, 35 * kMicrosecond);
  EXPECT_GT(patient_ns, 4 * urgent_ns);
  const auto link = simulation.link("leaf1>spine1");
  EXPECT_GT(link.bytes_by_priority[3], 1'000'000U);
  EXPECT_GT(link.bytes_by_priority[6], 64U);
  EXPECT_LT(link.bytes_by_priority[6], 1'000U);
  EXPECT_EQ(simulation.counters("host2/soft_0").sent_bytes_by_traffic_class[48 << 2], 64U);
  EXPECT_EQ(simulation.counters("host2/soft_0").sent_bytes_by_traffic_class[26 << 2], 64U);
}

TEST(Fabric, ALagFillsItsPortsByCreationOrder) {
  Simulation simulation(R"(
    [hosts]
    count = 2
    rails = 1
    lag_ports = 2
    [fabric]
    kind = "leaf"
    host_link = { rate = "10Gb/s" }
  )");
  std::vector<Elephant> lanes;
  for (int i = 0; i < 4; ++i) {
    lanes.push_back({simulation.connect("host1/soft_0", "host2/soft_0")});
    lanes.back().start(4);
  }
  ASSERT_TRUE(simulation.run_dry());
  const uint64_t first = simulation.link("host1/soft_0.p1>leaf1").bytes;
  const uint64_t second = simulation.link("host1/soft_0.p2>leaf1").bytes;
  EXPECT_GT(first, 2'000'000U);
  EXPECT_EQ(first, second);
}

TEST(Fabric, QueuesMarkPacketsAndCountPauses) {
  Simulation simulation(std::string(kOneSpine) + R"(
    [[link]]
    name = "leaf1>spine1"
    mark_above = "64KiB"
    pause_above = "128KiB"
  )");
  Elephant first{simulation.connect("host1/soft_0", "host3/soft_0")};
  Elephant second{simulation.connect("host2/soft_0", "host3/soft_0")};
  run_all(simulation, {&first, &second}, 5 * kMillisecond);
  const auto link = simulation.link("leaf1>spine1");
  EXPECT_GT(link.marked_packets, 100U);
  EXPECT_GT(link.pauses, 0U);
  EXPECT_GT(link.longest_queue_bytes, 128U * 1024);
  EXPECT_GT(simulation.counters("host3/soft_0").ecn_marked_packets, 100U);
  EXPECT_GT(simulation.counters("host1/soft_0").congestion_notifications, 0U);
}

TEST(Fabric, LossIsHealedAndEveryByteIsRight) {
  Simulation simulation(R"(
    [hosts]
    count = 2
    rails = 1
    [fabric]
    kind = "leaf"
    host_link = { rate = "100Gb/s", delay = "1us", loss = 0.01 }
  )");
  Wishes wishes;
  wishes.timeout = 8;  // 1 ms
  wishes.retries = 7;
  const Connection connection = simulation.connect("host1/soft_0", "host2/soft_0", wishes);
  const Connection back = simulation.connect("host1/soft_0", "host2/soft_0", wishes);
  for (uint32_t i = 0; i < 20; ++i) {
    ASSERT_EQ(connection.to->receive(i), 0);
    ASSERT_EQ(connection.from->write_with_immediate(*connection.to, 1 << 20, i, i), 0);
    ASSERT_EQ(back.to->read(*back.from, 1 << 18, i), 0);
  }
  ASSERT_TRUE(simulation.run_dry());
  const auto received = connection.to->received();
  ASSERT_EQ(received.size(), 20U);
  for (uint32_t i = 0; i < 20; ++i) {
    EXPECT_EQ(received[i].status, IBV_WC_SUCCESS);
    EXPECT_EQ(received[i].imm_data, i);
    EXPECT_EQ(received[i].byte_len, 1U << 20);
  }
  EXPECT_EQ(connection.from->sent().size(), 20U);
  EXPECT_EQ(back.to->sent().size(), 20U);
  EXPECT_TRUE(connection.to->has_bytes_of(*connection.from, 1 << 20));
  EXPECT_TRUE(back.to->has_bytes_of(*back.from, 1 << 18));
  EXPECT_GT(connection.from->counters().retransmissions, 10U);
  EXPECT_GT(simulation.link("host1/soft_0>leaf1").lost_packets, 10U);
}

TEST(Fabric, UnreachablePairsFailAtTheStepOrLoseEverything) {
  Simulation simulation(R"(
    [hosts]
    count = 2
    rails = 2
    [[unreachable]]
    from = "host1/soft_0"
    to = "host2/soft_1"
    error = "ETIMEDOUT"
    delay = "3s"
    [[unreachable]]
    from = "host1/soft_1"
    to = "host2/soft_0"
  )");
  const auto from = simulation.end("host1/soft_0");
  const auto to = simulation.end("host2/soft_1");
  EXPECT_EQ(from->connect(*to), ETIMEDOUT);
  const Connection vanishing = simulation.connect("host1/soft_1", "host2/soft_0");
  ASSERT_EQ(vanishing.from->write(*vanishing.to, 64), 0);
  ASSERT_TRUE(simulation.run_dry());
  const auto sent = vanishing.from->sent();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].status, IBV_WC_RETRY_EXC_ERR);
}

TEST(Fabric, CountersNameThePathOfEveryQueuePair) {
  Simulation simulation(kOneSpine);
  Wishes wishes;
  wishes.flow_label = 0x123;
  wishes.traffic_class = 104;
  const Connection connection = simulation.connect("host1/soft_0", "host3/soft_0", wishes);
  ASSERT_EQ(connection.from->write(*connection.to, 5000), 0);
  ASSERT_TRUE(simulation.run_dry());
  const auto json = nlohmann::json::parse(simulation.counters_json());
  const auto& pair = json.at("devices").at(0).at("queue_pairs").at(0);
  EXPECT_EQ(pair.at("udp_source_port"), 0xC123);
  EXPECT_EQ(pair.at("traffic_class"), 104);
  EXPECT_EQ(pair.at("path"), nlohmann::json({"host1/soft_0>leaf1", "leaf1>spine1", "spine1>leaf2",
                                             "leaf2>host3/soft_0"}));
}

}  // namespace
}  // namespace rocelane::softverbs_test
