#include <random>
#include <string>

#include <gtest/gtest.h>

#include "description_support.h"

namespace rocelane::softverbs {
namespace {

constexpr std::string_view kFabric = R"(seed = 7
[hosts]
count = 4
rate = "100Gb/s"
[fabric]
kind = "leaf-spine"
spines = 4
host_link = { rate = "100Gb/s", delay = "500ns", loss = 0.1 }
[[link]]
name = "leaf1-spine2"
rate = "10Gb/s"
[[device]]
name = "host1/*"
gids = [ { index = 4, address = "fe80::1" } ]
[device.limits]
queue_pairs = 100
[[unreachable]]
from = "host1/soft_0"
to = "*"
error = "ETIMEDOUT"
)";

constexpr std::string_view kFaults = R"([[fault]]
at = "200ms"
do = "link-rate"
link = ["leaf1-spine2", "host*"]
rate = "1Gb/s"
for = "3s"
[[fault]]
on = { device = "host1/soft_0", work = "write", number = 37 }
do = "complete-with"
status = "retry-exceeded"
)";

// A few bytes replaced, removed, doubled or taken from the alphabet that means something.
std::string spoiled(std::string text, std::mt19937_64& random) {
  constexpr std::string_view kMeaningful = "[]{}=\"'#.,*->\n\\\x00\x7F\xFF 09eE+_iT";
  const auto below = [&random](size_t most) { return static_cast<size_t>(random() % most); };
  const size_t changes = 1 + below(4);
  for (size_t i = 0; i < changes && !text.empty(); ++i) {
    const size_t at = below(text.size());
    const size_t length = std::min(1 + below(12), text.size() - at);
    switch (below(4)) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(below(text.size()), text.substr(at, length));
        break;
      default:
        text[at] = kMeaningful[below(kMeaningful.size())];
    }
  }
  return text;
}

// One line, with the file in front and something to write instead.
void expect_a_sentence(const Error& error) {
  EXPECT_TRUE(error.what.starts_with("f:")) << error.what;
  EXPECT_NE(error.what.find("; write "), std::string::npos) << error.what;
  EXPECT_EQ(error.what.find('\n'), std::string::npos) << error.what;
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
}

TEST(AnyBytes, GiveARunOrASentence) {
  std::mt19937_64 random(1);
  int accepted = 0;
  for (int i = 0; i < 2000; ++i) {
    const Result<RunDescription> run = read_fabric(spoiled(std::string(kFabric), random), "f");
    if (run) {
      ++accepted;
    } else {
      expect_a_sentence(run.error());
    }
  }
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, 1900);
}

TEST(AnyBytes, GiveFaultsOrASentence) {
  const RunDescription run = run_of(kFabric);
  std::mt19937_64 random(2);
  int accepted = 0;
  for (int i = 0; i < 2000; ++i) {
    const Result<FaultScript> script = read_faults(spoiled(std::string(kFaults), random), "f", run);
    if (script) {
      ++accepted;
    } else {
      expect_a_sentence(script.error());
    }
  }
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, 1900);
}

TEST(AnyBytes, DeepNestingIsRefused) {
  expect_a_sentence(read_fabric("a = " + std::string(100000, '['), "f").error());
  std::string tables = "a = ";
  for (int i = 0; i < 100000; ++i) {
    tables += "{a=";
  }
  expect_a_sentence(read_fabric(tables, "f").error());
  // Keys with dots nest as well: once on a line, and over lines.
  std::string dotted = "a";
  for (int i = 0; i < 300'000; ++i) {
    dotted += ".a";
  }
  expect_a_sentence(read_fabric(dotted + " = 1", "f").error());
  expect_a_sentence(read_fabric("\n[" + dotted + "]", "f").error());
  EXPECT_EQ(fabric_mistake("\n[" + dotted + "]"),
            "f:2: this line has more than 256 dots; write shorter keys, or a list on several "
            "lines");
  std::string lines = "a";
  for (int i = 0; i < 200; ++i) {
    lines += dotted.substr(1, 500) + " = [{\na";
  }
  expect_a_sentence(read_fabric(lines, "f").error());
}

}  // namespace
}  // namespace rocelane::softverbs
