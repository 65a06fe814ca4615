#include "net/abi/wall.h"

#include <new>
#include <stdexcept>

#include <gtest/gtest.h>

#include "nccl_log.h"

namespace rocelane::net::abi {
namespace {

TEST(Wall, SaysNothingAboutSuccess) {
  const NcclLog log;
  EXPECT_EQ(wall("init", [] { return Status(); }), kNcclSuccess);
  EXPECT_TRUE(log.lines().empty());
}

TEST(Wall, PrintsAnErrorsSentenceOnceAndReturnsItsCode) {
  const NcclLog log;
  const auto fail = [] { return Status(Error{ErrorCode::kRemote, "The peer is gone."}); };
  EXPECT_EQ(wall("test", fail), kNcclRemoteError);
  ASSERT_EQ(log.lines().size(), 1U);
  EXPECT_EQ(log.lines()[0].text, "NET/Rocelane : The peer is gone.");
}

TEST(Wall, DoesNotRepeatWhatWasSaidAlready) {
  const NcclLog log;
  const auto fail = [] { return Status(Error{ErrorCode::kRemote, "The peer is gone.", true}); };
  EXPECT_EQ(wall("test", fail), kNcclRemoteError);
  EXPECT_TRUE(log.lines().empty());
}

TEST(Wall, TurnsExceptionsIntoCodes) {
  const NcclLog log;
  EXPECT_EQ(wall("regMr", []() -> Status { throw std::bad_alloc(); }), kNcclSystemError);
  EXPECT_EQ(wall("regMr", []() -> Status { throw std::runtime_error("an index was wrong"); }),
            kNcclInternalError);
  EXPECT_EQ(wall("regMr", []() -> Status { throw 42; }), kNcclInternalError);
  ASSERT_EQ(log.lines().size(), 3U);
  EXPECT_NE(log.lines()[0].text.find("no memory"), std::string::npos);
  EXPECT_NE(log.lines()[1].text.find("an index was wrong"), std::string::npos);
}

TEST(Wall, DoesNotEnterABodyWithTheWrongHandle) {
  const NcclLog log;
  bool entered = false;
  const auto body = [&](SendConnection&) {
    entered = true;
    return Status();
  };
  alignas(8) char place[8];
  void* listener = to_handle(reinterpret_cast<Listener*>(place));
  EXPECT_EQ(wall<SendConnection>("isend", nullptr, body), kNcclInvalidArgument);
  EXPECT_EQ(wall<SendConnection>("isend", listener, body), kNcclInvalidArgument);
  EXPECT_FALSE(entered);
  EXPECT_EQ(log.lines().size(), 2U);
}

}  // namespace
}  // namespace rocelane::net::abi
