#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "api_table.h"
#include "jump.h"
#include "nccl_library.h"

namespace rocelane::lab {
namespace {

const Result<ElfSymbols>& nccl_symbols() {
  static const auto symbols = ElfSymbols::read(ROCELANE_TEST_NCCL_LIBRARY);
  return symbols;
}

bool only_2_28_9(int version) { return version == 22809; }

TEST(NcclLibrary, AKnownVersionWithItsSymbolTableMayRun) {
  const Status judged = judge_nccl({"lib.so", 0, 22809}, nccl_symbols(), only_2_28_9);
  EXPECT_TRUE(judged.ok()) << judged.error().what;
}

TEST(NcclLibrary, AnUnknownVersionIsRefusedByName) {
  const Status judged = judge_nccl({"lib.so", 0, 23203}, nccl_symbols(), only_2_28_9);
  ASSERT_FALSE(judged.ok());
  EXPECT_EQ(judged.error().what,
            "lib.so cannot run on the emulated GPU: NCCL 2.32.3 is not a version whose device "
            "structures are known here, use 2.28.9");
}

TEST(NcclLibrary, ALibraryWithoutSymbolTableIsRefused) {
  const Error stripped{ErrorCode::kInvalidArgument, "lib.so has no symbol table"};
  const Status judged = judge_nccl({"lib.so", 0, 22809}, stripped, only_2_28_9);
  ASSERT_FALSE(judged.ok());
  EXPECT_EQ(judged.error().what,
            "lib.so cannot run on the emulated GPU: lib.so has no symbol table");
}

TEST(NcclLibrary, ALibraryThatIsNotNcclIsRefused) {
  const auto other = ElfSymbols::read("/proc/self/exe");
  ASSERT_TRUE(other.ok());
  const Status judged = judge_nccl({"lib.so", 0, 22809}, other, only_2_28_9);
  ASSERT_FALSE(judged.ok());
  EXPECT_NE(judged.error().what.find("ncclDevFuncRowToId"), std::string::npos);
}

TEST(NcclLibrary, EveryRuntimeFunctionGetsOneReplacementWithRoomForIt) {
  ASSERT_TRUE(nccl_symbols().ok());
  const auto plan = plan_replacements({"lib.so", 0x1000, 22809}, *nccl_symbols());
  std::set<uintptr_t> addresses;
  for (const Replacement& one : plan) {
    EXPECT_GE(one.room, kNearJumpBytes) << one.name;
    EXPECT_TRUE(addresses.insert(one.address).second) << one.name;
  }
  EXPECT_EQ(*addresses.begin() >= 0x1000, true);
  EXPECT_GT(plan.size(), 300U);
}

TEST(NcclLibrary, EmulatedFunctionsKeepTheirArgumentsAndOthersCarryTheirName) {
  ASSERT_TRUE(nccl_symbols().ok());
  const auto plan = plan_replacements({"lib.so", 0, 22809}, *nccl_symbols());
  const auto find = [&](std::string_view name) {
    return std::ranges::find(plan, name, &Replacement::name);
  };
  const auto malloc = find("cudaMalloc");
  ASSERT_NE(malloc, plan.end());
  EXPECT_EQ(malloc->continue_at, find_api("cudaMalloc"));
  EXPECT_EQ(malloc->argument, nullptr);
  const auto clone = find("cudaGraphClone");
  ASSERT_NE(clone, plan.end());
  EXPECT_EQ(clone->continue_at, not_emulated_entry());
  EXPECT_NE(clone->argument, nullptr);
  EXPECT_EQ(find("__cudaRegisterFatBinary"), plan.end());
}

}  // namespace
}  // namespace rocelane::lab
