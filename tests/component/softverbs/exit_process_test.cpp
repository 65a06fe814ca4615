// Programs end as they like: with threads of theirs, and of NCCL's, still in the verbs.

#include <string>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <unistd.h>

#include "processes.h"

namespace rocelane::softverbs_test {
namespace {

// The library this test has been loaded with.
std::string path_of_library() {
  Dl_info facts{};
  const bool found = dladdr(reinterpret_cast<void*>(&ibv_get_device_list), &facts) != 0;
  demand(found, "nobody knows where ibv_get_device_list comes from");
  return facts.dli_fname;
}

void exit_again_and_again(LabRun& run) {
  constexpr int kRounds = 20;
  const std::string library = path_of_library();
  for (int round = 0; round < kRounds; ++round) {
    Process& program = run.start([&library](Line&) {
      execl(EXIT_WHILE_POLLING_PROGRAM, EXIT_WHILE_POLLING_PROGRAM, library.c_str(), nullptr);
      demand_call(false, "running " EXIT_WHILE_POLLING_PROGRAM);
    });
    ASSERT_TRUE(ends_well(program)) << "round " << round;
    run.forget(program);
  }
}

TEST(ExitWhilePolling, IsFineWhenDataTakesNoTime) {
  LabRun run;
  exit_again_and_again(run);
}

TEST(ExitWhilePolling, IsFineOnAFabricThatTakesTime) {
  LabRun run({.timed = true});
  exit_again_and_again(run);
}

}  // namespace
}  // namespace rocelane::softverbs_test
