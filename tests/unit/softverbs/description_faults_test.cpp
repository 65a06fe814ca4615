#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include "description_support.h"
#include "softverbs/description/read_gid.h"

namespace rocelane::softverbs {
namespace {

class FaultFile : public testing::Test {
 protected:
  Fault only_fault(const std::string& keys) const {
    const FaultScript script = faults_of("[[fault]]\n" + keys, run_);
    EXPECT_EQ(script.faults.size(), 1u);
    return script.faults.empty() ? Fault{} : script.faults.front();
  }
  std::string mistake(const std::string& keys) const {
    return fault_mistake("[[fault]]\n" + keys, run_);
  }

  // Links 0 to 7: host1/soft_0, host1/soft_1, host2/soft_0, host2/soft_1, up and down each; then
  // leaf1-spine1, leaf1-spine2, leaf2-spine1, leaf2-spine2.
  const RunDescription run_ = run_of(R"(
hosts = { count = 2, rails = 2 }
fabric = { kind = "leaf-spine", spines = 2 }
)");
};

TEST_F(FaultFile, AnEmptyOneHasNone) { EXPECT_TRUE(faults_of("", run_).faults.empty()); }

TEST_F(FaultFile, LinksAreCutForAWhile) {
  const Fault fault = only_fault(R"(
at = "200ms"
do = "cut-link"
link = ["leaf1>spine2", "host2/soft_1", "host2/soft_1-*"]
for = "3s"
)");
  EXPECT_EQ(fault.action, FaultAction::kCutLink);
  EXPECT_TRUE(fault.trigger.by_time);
  EXPECT_EQ(fault.trigger.at_ns, 200'000'000u);
  EXPECT_EQ(fault.links, (std::vector<int>{6, 7, 10}));
  EXPECT_TRUE(fault.devices.empty());
  EXPECT_EQ(fault.duration_ns, 3'000'000'000u);
  EXPECT_FALSE(fault.undo);
  EXPECT_EQ(fault.line, 1);
}

TEST_F(FaultFile, WordsThatUndo) {
  const auto undone = [this](const std::string& keys) {
    const Fault fault = only_fault("at = \"1s\"\n" + keys);
    EXPECT_TRUE(fault.undo) << keys;
    return fault.action;
  };
  EXPECT_EQ(undone("do = \"restore-link\"\nlink = \"*\""), FaultAction::kCutLink);
  EXPECT_EQ(undone("do = \"link-up\"\nlink = \"*\""), FaultAction::kLinkDown);
  EXPECT_EQ(undone("do = \"port-up\"\ndevice = \"*\""), FaultAction::kPortDown);
  EXPECT_EQ(undone("do = \"link-rate\"\nlink = \"*\"\nundo = true"), FaultAction::kLinkRate);
  EXPECT_EQ(undone("do = \"link-loss\"\nlink = \"*\"\nundo = true"), FaultAction::kLinkLoss);
  EXPECT_EQ(undone("do = \"link-delay\"\nlink = \"*\"\nundo = true"), FaultAction::kLinkDelay);
  EXPECT_EQ(undone("do = \"slow-receiver\"\ndevice = \"*\"\nundo = true"),
            FaultAction::kSlowReceiver);
}

TEST_F(FaultFile, LinksChange) {
  const std::string link = "at = \"0s\"\nlink = \"leaf1-spine1\"\n";
  const Fault rate = only_fault(link + "do = \"link-rate\"\nrate = \"10Gb/s\"");
  EXPECT_EQ(rate.action, FaultAction::kLinkRate);
  EXPECT_EQ(rate.value, 10e9);
  EXPECT_EQ(rate.links, (std::vector<int>{8, 9}));
  EXPECT_EQ(only_fault(link + "do = \"link-rate\"\nrate = \"unlimited\"").value, 0);
  EXPECT_EQ(only_fault(link + "do = \"link-loss\"\nloss = \"50%\"").value, 0.5);
  EXPECT_EQ(only_fault(link + "do = \"link-loss\"\nloss = 1").value, 1);
  EXPECT_EQ(only_fault(link + "do = \"link-delay\"\ndelay = \"1ms\"").value, 1e6);
  EXPECT_EQ(only_fault(link + "do = \"link-down\"").action, FaultAction::kLinkDown);
}

TEST_F(FaultFile, DevicesFail) {
  const std::string device = "at = \"0s\"\ndevice = \"host2/*\"\n";
  const Fault down = only_fault(device + "do = \"port-down\"");
  EXPECT_EQ(down.action, FaultAction::kPortDown);
  EXPECT_EQ(down.devices, (std::vector<int>{2, 3}));
  EXPECT_EQ(only_fault(device + "do = \"device-fatal\"").action, FaultAction::kDeviceFatal);
  const Fault slow = only_fault(device + "do = \"slow-receiver\"\ndelay = \"5us\"");
  EXPECT_EQ(slow.action, FaultAction::kSlowReceiver);
  EXPECT_EQ(slow.value, 5000);
  const Fault removed = only_fault(device + "do = \"remove-gid\"\nindex = 3");
  EXPECT_EQ(removed.action, FaultAction::kGidRemoved);
  EXPECT_EQ(removed.gid.index, 3);
  const Fault added = only_fault(
      device + "do = \"add-gid\"\ngid = { index = 5, address = \"10.8.0.9\", type = \"v1\" }");
  EXPECT_EQ(added.action, FaultAction::kGidAdded);
  EXPECT_EQ(added.gid.index, 5);
  EXPECT_EQ(added.gid.gid, parse_gid("10.8.0.9").value());
  EXPECT_FALSE(added.gid.roce_v2);
}

TEST_F(FaultFile, TheNthWorkRequestIsStruck) {
  const Fault fault = only_fault(R"(
on = { device = "host1/soft_1", work = "write-with-immediate", number = 37 }
do = "drop-acknowledgement"
times = 2
)");
  EXPECT_EQ(fault.action, FaultAction::kDropAcknowledgement);
  EXPECT_FALSE(fault.trigger.by_time);
  EXPECT_EQ(fault.trigger.device, 1);
  EXPECT_EQ(fault.trigger.work, WorkKind::kWriteWithImmediate);
  EXPECT_EQ(fault.trigger.number, 37u);
  EXPECT_EQ(fault.times, 2u);

  const Fault any = only_fault("on = {}\ndo = \"drop-request\"");
  EXPECT_EQ(any.action, FaultAction::kDropRequest);
  EXPECT_EQ(any.trigger.device, -1);
  EXPECT_EQ(any.trigger.work, WorkKind::kAny);
  EXPECT_EQ(any.trigger.number, 1u);
  EXPECT_EQ(any.times, 0u);
  EXPECT_EQ(only_fault("on = { device = \"*\" }\ndo = \"drop-request\"").trigger.device, -1);

  const Fault late = only_fault("on = { work = \"read\" }\ndo = \"delay-request\"\ndelay = \"1s\"");
  EXPECT_EQ(late.action, FaultAction::kDelayRequest);
  EXPECT_EQ(late.value, 1e9);

  const Fault ended = only_fault(
      "on = { work = \"send\" }\ndo = \"complete-with\"\nstatus = \"retry-exceeded\"\n"
      "vendor_error = 0x81");
  EXPECT_EQ(ended.action, FaultAction::kCompleteWith);
  EXPECT_EQ(ended.status, IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(ended.vendor_error, 0x81u);
}

TEST_F(FaultFile, AWorkRequestMayAlsoTriggerFaultsOfLinksAndDevices) {
  const Fault fault = only_fault(
      "on = { work = \"write\", number = 300 }\ndo = \"port-down\"\ndevice = \"host1/soft_0\"");
  EXPECT_FALSE(fault.trigger.by_time);
  EXPECT_EQ(fault.devices, std::vector<int>{0});
}

TEST_F(FaultFile, KeepsTheOrderAndTheLines) {
  const FaultScript script = faults_of(
      "[[fault]]\nat = \"2s\"\ndo = \"link-up\"\nlink = \"*\"\n\n"
      "[[fault]]\nat = \"1s\"\ndo = \"link-down\"\nlink = \"*\"\n",
      run_);
  ASSERT_EQ(script.faults.size(), 2u);
  EXPECT_TRUE(script.faults[0].undo);
  EXPECT_EQ(script.faults[0].line, 1);
  EXPECT_EQ(script.faults[1].line, 6);
}

TEST_F(FaultFile, WhatIsMissing) {
  EXPECT_EQ(mistake("at = \"1s\""),
            "f:1: fault.do: missing; write what happens, for example do = \"link-down\"");
  EXPECT_EQ(mistake("do = \"link-down\"\nlink = \"*\""),
            "f:1: fault.on: missing; write when: at = \"200ms\" or on = { device = "
            "\"host1/soft_0\", work = \"write\", number = 37 }");
  EXPECT_EQ(mistake("do = \"drop-request\""),
            "f:1: fault.on: missing; write which work request, for example on = { device = "
            "\"host1/soft_0\", work = \"write\", number = 37 }");
  EXPECT_EQ(mistake("at = \"1s\"\ndo = \"link-down\""),
            "f:1: fault.link: missing; write which link, for example link = \"leaf1-spine2\"");
  EXPECT_EQ(mistake("at = \"1s\"\ndo = \"port-down\""),
            "f:1: fault.device: missing; write which device, for example device = "
            "\"host1/soft_0\"");
  EXPECT_EQ(mistake("at = \"1s\"\ndo = \"link-rate\"\nlink = \"*\""),
            "f:1: fault.rate: missing; write the link's new rate, for example rate = \"10Gb/s\"");
  EXPECT_EQ(mistake("at = \"1s\"\ndo = \"link-loss\"\nlink = \"*\""),
            "f:1: fault.loss: missing; write the part of the packets that vanishes, for example "
            "loss = \"0.1%\"");
  EXPECT_EQ(mistake("on = {}\ndo = \"delay-request\""),
            "f:1: fault.delay: missing; write how long, for example delay = \"1ms\"");
  EXPECT_EQ(mistake("on = {}\ndo = \"complete-with\""),
            "f:1: fault.status: missing; write how the request ends, for example status = "
            "\"retry-exceeded\"");
  EXPECT_EQ(mistake("at = \"1s\"\ndo = \"remove-gid\"\ndevice = \"*\""),
            "f:1: fault.index: missing; write the entry's place in the GID table, for example "
            "index = 3");
  EXPECT_EQ(mistake("at = \"1s\"\ndo = \"add-gid\"\ndevice = \"*\""),
            "f:1: fault.gid: missing; write the entry, for example gid = { index = 4, address = "
            "\"10.8.0.9\" }");
}

TEST_F(FaultFile, WhatIsUnknown) {
  EXPECT_EQ(mistake("at = \"1s\"\ndo = \"link-dwon\""),
            "f:3: fault.do: \"link-dwon\" is not known; write \"link-down\"");
  EXPECT_EQ(mistake("at = \"1s\"\ndo = \"link-down\"\nlinks = \"*\""),
            "f:4: fault.links: there is no such key here; write \"link\"");
  EXPECT_EQ(mistake("at = \"1s\"\ndo = \"link-down\"\nlink = \"*\"\nloss = 0.5"),
            "f:5: fault.loss: there is no such key here; write one of do, at, on, link, for");
  EXPECT_EQ(mistake("at = \"1s\"\ndo = \"drop-request\""),
            "f:2: fault.at: this happens to a work request and not at a time; write which one, "
            "for example on = { device = \"host1/soft_0\", work = \"write\", number = 37 }");
  EXPECT_EQ(mistake("on = { work = \"wirte\" }\ndo = \"drop-request\""),
            "f:2: fault.on.work: \"wirte\" is not known; write \"write\"");
  EXPECT_EQ(mistake("on = { nth = 2 }\ndo = \"drop-request\""),
            "f:2: fault.on.nth: there is no such key here; write one of device, work, number");
  EXPECT_EQ(mistake("on = {}\ndo = \"complete-with\"\nstatus = \"retry-exceded\""),
            "f:4: fault.status: \"retry-exceded\" is not known; write \"retry-exceeded\"");
  EXPECT_EQ(fault_mistake("seed = 3", run_),
            "f:1: seed: there is no such key here; write one of fault");
}

TEST_F(FaultFile, NamesThatMatchNothing) {
  EXPECT_EQ(mistake("at = \"1s\"\ndo = \"link-down\"\nlink = \"leaf1-spine3\""),
            "f:4: fault.link: \"leaf1-spine3\" names no link; write a link such as "
            "\"host1/soft_0>leaf1\" or \"spine2>leaf2\", where > is one direction, - both, and * "
            "stands for any characters");
  EXPECT_EQ(mistake("at = \"1s\"\ndo = \"port-down\"\ndevice = [\"host1/*\", \"host3/*\"]"),
            "f:4: fault.device: \"host3/*\" names no device; write a name from \"host1/soft_0\" to "
            "\"host2/soft_1\", where * stands for any characters");
  EXPECT_EQ(mistake("at = \"1s\"\ndo = \"port-down\"\ndevice = [1]"),
            "f:4: fault.device: 1 is no text; write each element in quotes");
  EXPECT_EQ(mistake("at = \"1s\"\ndo = \"port-down\"\ndevice = []"),
            "f:4: fault.device: the list is empty; write at least one name");
  EXPECT_EQ(mistake("on = { device = \"host3/soft_0\" }\ndo = \"drop-request\""),
            "f:2: fault.on.device: \"host3/soft_0\" names no device; write a name from "
            "\"host1/soft_0\" to \"host2/soft_1\", where * stands for any characters");
  EXPECT_EQ(mistake("on = { device = \"host1/*\" }\ndo = \"drop-request\""),
            "f:2: fault.on.device: \"host1/*\" names 2 devices; write the name of one, or leave it "
            "out to count the requests of all");
}

TEST_F(FaultFile, WhatExcludesEachOther) {
  EXPECT_EQ(mistake("at = \"1s\"\non = {}\ndo = \"link-down\"\nlink = \"*\""),
            "f:3: fault.on: at and on exclude each other; write one of them");
  EXPECT_EQ(mistake("at = \"1s\"\ndo = \"link-rate\"\nlink = \"*\"\nundo = true\nfor = \"1s\""),
            "f:6: fault.for: what is undone has no duration; write the fault without it");
  EXPECT_EQ(
      mistake("at = \"1s\"\ndo = \"link-rate\"\nlink = \"*\"\nundo = true\nrate = \"1Gb/s\""),
      "f:6: fault.rate: undo brings back what the fabric file says; write the fault without it");
  EXPECT_EQ(mistake("at = \"1s\"\ndo = \"device-fatal\"\ndevice = \"*\"\nfor = \"1s\""),
            "f:5: fault.for: there is no such key here; write one of do, at, on, device");
}

TEST_F(FaultFile, NamesThatStandForMillionsAreRefused) {
  const RunDescription large = run_of("hosts = { count = 1024, rails = 4 }");
  std::string text;
  for (int i = 0; i < 600; ++i) {
    text += "[[fault]]\nat = \"1s\"\ndo = \"link-down\"\nlink = \"*\"\n";
  }
  EXPECT_EQ(fault_mistake(text, large),
            "f:2052: fault.link: the file's names stand for millions of links or devices; write "
            "fewer faults or narrower names");
}

}  // namespace
}  // namespace rocelane::softverbs
