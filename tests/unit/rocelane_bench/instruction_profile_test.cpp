#include "bench/instruction_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocelane::bench {
namespace {

using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

// Names compressed, a call into another object, positions relative to the last.
constexpr const char* kProfile = R"(# callgrind format
version: 1
creator: callgrind-3.19.0
positions: line
events: Ir

ob=(1) /lib/libnet.so
fl=(1) send.cpp
fn=(1) isend
10 100
+2 20
cob=(2) /lib/libibverbs.so.1
cfi=(2) verbs.c
cfn=(2) ibv_post_send
calls=3 50
+1 999
* 5

ob=(2)
fl=(2)
fn=(2)
50 300

ob=(3) /lib/libc.so.6
fn=(3) memcpy
0 7
-1 1

ob=(1)
fn=(4) test
90 30

totals: 463
)";

TEST(InstructionProfile, SumsWhatEveryObjectDoesItself) {
  const Result<InstructionsByObject> objects = parse_profile(kProfile, "profile");
  ASSERT_TRUE(objects) << objects.error().what;
  EXPECT_THAT(*objects,
              UnorderedElementsAre(Pair("/lib/libnet.so", 155), Pair("/lib/libibverbs.so.1", 300),
                                   Pair("/lib/libc.so.6", 8)));
}

TEST(InstructionProfile, FindsInstructionsAmongOtherEvents) {
  const Result<InstructionsByObject> objects = parse_profile(
      "positions: instr line\nevents: Dr Ir Dw\nob=/x\nfn=f\n0x10 3 1 22 4\n0x14 3 1\n", "profile");
  ASSERT_TRUE(objects) << objects.error().what;
  EXPECT_THAT(*objects, UnorderedElementsAre(Pair("/x", 22)));
}

TEST(InstructionProfile, NothingCountedIsNoError) {
  const Result<InstructionsByObject> objects = parse_profile("events: Ir\n", "profile");
  ASSERT_TRUE(objects) << objects.error().what;
  EXPECT_TRUE(objects->empty());
}

TEST(InstructionProfile, RefusesWhatIsNotOne) {
  const auto sentence = [](const char* text) {
    const Result<InstructionsByObject> objects = parse_profile(text, "/tmp/p.1");
    return objects ? std::string() : objects.error().what;
  };
  EXPECT_THAT(sentence(""), HasSubstr("/tmp/p.1 counts no instructions"));
  EXPECT_THAT(sentence("events: Cycles\n"), HasSubstr("Line 1 of /tmp/p.1"));
  EXPECT_THAT(sentence("events: Ir\n10 100\n"), HasSubstr("Line 2"));
  EXPECT_THAT(sentence("events: Ir\nob=(7)\n"), HasSubstr("Line 2"));
  EXPECT_THAT(sentence("events: Ir\nob=/x\n1 many\n"), HasSubstr("Line 3"));
}

TEST(InstructionProfile, TellsTransportVerbsAndOthersApart) {
  const Instructions parts = by_part({{"/opt/libnccl-net-x.so", 10},
                                      {"/lib/libibverbs.so.1.14", 20},
                                      {"/lib/libibverbs/libmlx5-rdmav34.so", 2},
                                      {"/lib/libmlx5.so.1", 1},
                                      {"/lib/libc.so.6", 40},
                                      {"/usr/bin/rocelane", 1000}},
                                     "/opt/libnccl-net-x.so", "/usr/bin/rocelane");
  EXPECT_EQ(parts.transport, 10U);
  EXPECT_EQ(parts.verbs, 23U);
  EXPECT_EQ(parts.others, 40U);
}

}  // namespace
}  // namespace rocelane::bench
