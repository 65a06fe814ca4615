#include "chaos_plan.h"

#include <algorithm>

namespace rocelane::softverbs_test {
namespace {

using Words = std::vector<std::string>;

std::string quoted(const std::string& text) { return "\"" + text + "\""; }
std::string line(const std::string& key, const std::string& value) {
  return key + " = " + value + "\n";
}

std::string link_properties(Dice& dice, bool calm) {
  const std::string loss =
      calm || dice.chance(40) ? "0%" : dice.one_of(Words{"0.02%", "0.1%", "0.5%", "2%"});
  return "{ rate = " +
         quoted(dice.one_of(Words{"1Gb/s", "10Gb/s", "25Gb/s", "100Gb/s", "unlimited"})) +
         ", delay = " + quoted(dice.one_of(Words{"0ns", "500ns", "1us", "10us", "80us"})) +
         ", loss = " + quoted(loss) + " }";
}

struct Sizes {
  uint64_t hosts, rails;
};

std::string random_fabric(Dice& dice, bool calm, const Sizes& sizes) {
  const std::string kind = dice.one_of(Words{"ideal", "leaf", "leaf-spine"});
  std::string text = "[hosts]\n" + line("count", std::to_string(sizes.hosts)) +
                     line("rails", std::to_string(sizes.rails));
  if (dice.chance(20)) {
    text += line("lag_ports", "2");
  }
  text += "[fabric]\n" + line("kind", quoted(kind));
  if (kind != "ideal" || dice.chance(50)) {
    text += line("host_link", link_properties(dice, calm));
  }
  if (kind == "leaf-spine") {
    text += line("spine_link", link_properties(dice, calm)) +
            line("spines", std::to_string(dice.between(1, 3))) +
            line("hosts_per_leaf", std::to_string(dice.between(1, 2)));
  }
  text += line("reroute", quoted(dice.one_of(Words{"0s", "100us", "1ms", "50ms"})));
  text += line("burst", quoted(dice.one_of(Words{"4KiB", "16KiB", "64KiB"})));
  text += line("window", quoted(dice.one_of(Words{"64KiB", "256KiB", "1MiB"})));
  return text;
}

std::string random_device(Dice& dice, const Sizes& sizes, uint64_t rail) {
  return "host" + std::to_string(dice.between(1, sizes.hosts)) + "/soft_" + std::to_string(rail);
}

PairWishes random_wishes(Dice& dice, bool calm) {
  PairWishes wishes;
  wishes.send_depth = static_cast<uint32_t>(dice.between(2, 40));
  wishes.receive_depth = static_cast<uint32_t>(dice.between(1, 40));
  wishes.signal_all = dice.chance(30);
  wishes.mtu = dice.one_of(std::vector{IBV_MTU_512, IBV_MTU_1024, IBV_MTU_4096, IBV_MTU_4096});
  wishes.timeout = calm ? 20 : dice.one_of(std::vector<uint8_t>{7, 8, 10, 12, 14});
  wishes.retries = static_cast<uint8_t>(calm ? 7 : dice.between(0, 7));
  wishes.rnr_retries = static_cast<uint8_t>(calm || dice.chance(60) ? 7 : dice.between(0, 6));
  wishes.rnr_timer = static_cast<uint8_t>(dice.between(1, 16));
  wishes.reads = static_cast<uint8_t>(dice.between(1, 8));
  wishes.traffic_class = static_cast<uint8_t>(dice.one_of(std::vector<int>{0, 0, 0x68, 0xE0}));
  return wishes;
}

std::vector<ibv_wr_opcode> random_mix(Dice& dice) {
  std::vector<ibv_wr_opcode> mix{IBV_WR_SEND,       IBV_WR_SEND_WITH_IMM,       IBV_WR_RDMA_WRITE,
                                 IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ};
  const ibv_wr_opcode favourite = dice.one_of(mix);
  mix.insert(mix.end(), dice.one_of(std::vector<size_t>{0, 3, 12}), favourite);
  return mix;
}

LanePlan random_lane(Dice& dice, const Sizes& sizes, bool calm) {
  const uint64_t rail = dice.below(sizes.rails);
  return {random_device(dice, sizes, rail), random_device(dice, sizes, rail),
          random_wishes(dice, calm),
          dice.one_of(std::vector<uint32_t>{64, 5000, 40'000, 100'000, 200'000}), random_mix(dice)};
}

std::string lane_device(Dice& dice, const ChaosPlan& plan) {
  const LanePlan& lane = dice.one_of(plan.lanes);
  return dice.chance(50) ? lane.from : lane.to;
}

std::string random_link(Dice& dice, const ChaosPlan& plan) {
  const std::string device = lane_device(dice, plan);
  return dice.one_of(Words{device + "-*", device + ">*", "*>" + device, "host1/*", "*"});
}

std::string for_a_while(Dice& dice) {
  return line("for", quoted(dice.one_of(Words{"5us", "50us", "300us", "1ms", "5ms", "30ms"})));
}

std::string link_fault(Dice& dice, const ChaosPlan& plan) {
  const std::string where = line("link", quoted(random_link(dice, plan))) + for_a_while(dice);
  switch (dice.below(5)) {
    case 0:
      return line("do", quoted("cut-link")) + where;
    case 1:
      return line("do", quoted("link-down")) + where;
    case 2:
      return line("do", quoted("link-rate")) + where +
             line("rate",
                  quoted(dice.one_of(Words{"10Mb/s", "100Mb/s", "5Gb/s", "400Gb/s", "unlimited"})));
    case 3:
      return line("do", quoted("link-loss")) + where +
             line("loss", quoted(dice.one_of(Words{"1%", "5%", "30%"})));
    default:
      return line("do", quoted("link-delay")) + where +
             line("delay", quoted(dice.one_of(Words{"0s", "3us", "100us", "3ms"})));
  }
}

std::string device_fault(Dice& dice, const ChaosPlan& plan) {
  const std::string where = line("device", quoted(lane_device(dice, plan))) + for_a_while(dice);
  return dice.chance(50) ? line("do", quoted("port-down")) + where
                         : line("do", quoted("slow-receiver")) + where +
                               line("delay", quoted(dice.one_of(Words{"1us", "20us", "200us"})));
}

std::string request_fault(Dice& dice, const ChaosPlan& plan) {
  std::string trigger =
      "{ work = " +
      quoted(dice.one_of(Words{"send", "write", "write-with-immediate", "read", "any"})) +
      ", number = " + std::to_string(dice.between(1, 12));
  if (dice.chance(50)) {
    trigger += ", device = " + quoted(lane_device(dice, plan));
  }
  const std::string when = line("on", trigger + " }");
  const std::string times =
      dice.chance(80) ? line("times", std::to_string(dice.between(1, 3))) : std::string();
  switch (dice.below(3)) {
    case 0:
      return when + line("do", quoted("drop-request")) + times;
    case 1:
      return when + line("do", quoted("drop-acknowledgement")) + times;
    default:
      return when + line("do", quoted("delay-request")) +
             line("delay", quoted(dice.one_of(Words{"2us", "50us", "2ms", "20ms"})));
  }
}

std::string at_a_time(Dice& dice, const ChaosPlan& plan) {
  return line("at", quoted(std::to_string(dice.below(1500)) + "us")) +
         (dice.chance(70) ? link_fault(dice, plan) : device_fault(dice, plan));
}

}  // namespace

uint32_t Dice::size(uint32_t most) {
  constexpr uint64_t kBits = 18;
  const uint64_t limit = chance(35) ? most : (uint64_t{1} << below(kBits)) - 1;
  return static_cast<uint32_t>(between(0, std::min<uint64_t>(most, limit)));
}

std::string random_fault(Dice& dice, const ChaosPlan& plan) {
  return "[[fault]]\n" + (dice.chance(60) ? at_a_time(dice, plan) : request_fault(dice, plan));
}

ChaosPlan make_plan(Dice& dice) {
  ChaosPlan plan;
  plan.calm = dice.chance(15);
  const Sizes sizes{dice.between(1, 3), dice.between(1, 2)};
  plan.fabric = random_fabric(dice, plan.calm, sizes);
  plan.shared_receives = dice.chance(30);
  plan.one_completion_queue = dice.chance(50);
  const uint64_t lanes = dice.between(1, 4);
  for (uint64_t i = 0; i < lanes; ++i) {
    plan.lanes.push_back(random_lane(dice, sizes, plan.calm));
  }
  const uint64_t faults = plan.calm ? 0 : dice.below(6);
  for (uint64_t i = 0; i < faults; ++i) {
    plan.faults += random_fault(dice, plan);
  }
  plan.steps = static_cast<int>(dice.chance(20) ? dice.between(300, 800) : dice.between(20, 200));
  plan.sins = !plan.calm && dice.chance(30);
  plan.restarts = plan.calm ? 0 : dice.one_of(std::vector<uint64_t>{0, 3, 20, 60});
  return plan;
}

}  // namespace rocelane::softverbs_test
