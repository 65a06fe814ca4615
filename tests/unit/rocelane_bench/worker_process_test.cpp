#include "bench/worker_process.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

namespace rocelane::bench {
namespace {

using testing::HasSubstr;

// Stands where valgrind would, in front of the command line, and does what it likes. The program is
// its $0, so that nothing has to be written anywhere.
std::vector<std::string> stand_in(const std::string& script) { return {"/bin/sh", "-c", script}; }

Error error_of(const std::string& script) {
  Result<WorkerProcess> worker =
      WorkerProcess::start({stand_in(script), {{"BENCH_WORD", "seen"}}, false});
  EXPECT_TRUE(worker);
  const Result<SetUpAnswer> answer = worker->open(SessionSettings());
  EXPECT_FALSE(answer);
  return answer ? Error() : answer.error();
}

TEST(WorkerProcessTest, PassesOnWhatTheWorkerSaysIsWrong) {
  const Error bad_input =
      error_of(R"(read line <&3; echo '{"error": "No device.", "bad_input": true}' >&3)");
  EXPECT_EQ(bad_input.code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(bad_input.what, "No device.");
  const Error failed =
      error_of(R"(read line <&3; echo '{"error": "It broke.", "bad_input": false}' >&3)");
  EXPECT_EQ(failed.code, ErrorCode::kRemote);
}

TEST(WorkerProcessTest, SaysHowAWorkerEndedWithoutAWord) {
  EXPECT_THAT(error_of("exit 7").what, HasSubstr("ended with status 7"));
  EXPECT_THAT(error_of("kill -11 $$").what, HasSubstr("killed by signal 11"));
}

TEST(WorkerProcessTest, HandsOverTheEnvironmentAndTheArgument) {
  const Error error =
      error_of(R"(read line <&3; echo "{\"error\": \"$BENCH_WORD $1\", \"bad_input\": true}" >&3)");
  EXPECT_EQ(error.what, "seen bench-worker");
}

TEST(WorkerProcessTest, LeavesNoProcessBehind) {
  {
    Result<WorkerProcess> worker =
        WorkerProcess::start({stand_in("read line <&3; read line <&3"), {}, false});
    ASSERT_TRUE(worker);
  }
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is still there";
}

}  // namespace
}  // namespace rocelane::bench
