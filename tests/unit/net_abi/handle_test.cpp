#include "net/abi/handle.h"

#include <gtest/gtest.h>

#include "nccl_plugin/common.h"

namespace rocelane::net::abi {
namespace {

// Only addresses matter here; nothing is followed.
alignas(8) char g_place[8];

template <class Object>
Object* some_object() {
  return reinterpret_cast<Object*>(g_place);
}

TEST(Handles, BringBackTheObjectTheyWereMadeFrom) {
  EXPECT_EQ(from_handle<Context>(to_handle(some_object<Context>())), some_object<Context>());
  EXPECT_EQ(from_handle<Listener>(to_handle(some_object<Listener>())), some_object<Listener>());
  EXPECT_EQ(from_handle<SendConnection>(to_handle(some_object<SendConnection>())),
            some_object<SendConnection>());
  EXPECT_EQ(from_handle<ReceiveConnection>(to_handle(some_object<ReceiveConnection>())),
            some_object<ReceiveConnection>());
  EXPECT_EQ(from_handle<Registration>(to_handle(some_object<Registration>())),
            some_object<Registration>());
  EXPECT_EQ(from_handle<Request>(to_handle(some_object<Request>())), some_object<Request>());
}

TEST(Handles, OfNothingAreNull) {
  EXPECT_EQ(to_handle(static_cast<Request*>(nullptr)), nullptr);
  EXPECT_EQ(from_handle<Request>(nullptr), nullptr);
}

TEST(Handles, OfAnotherKindAreRefused) {
  void* sender = to_handle(some_object<SendConnection>());
  EXPECT_EQ(from_handle<ReceiveConnection>(sender), nullptr);
  EXPECT_EQ(from_handle<Listener>(sender), nullptr);
  EXPECT_EQ(from_handle<Request>(sender), nullptr);
  EXPECT_EQ(from_handle<Request>(g_place), nullptr);
}

TEST(Handles, DoNotTakeNcclsHintForARequest) {
  void* hint = reinterpret_cast<void*>(kNcclNetOptionalReceiveCompletion);
  EXPECT_EQ(from_handle<Request>(hint), nullptr);
  EXPECT_EQ(from_handle<Context>(hint), nullptr);
}

TEST(WrongHandles, AreExplainedWithTheCallAndTheExpectation) {
  const Error null = wrong_handle("isend", nullptr, "a send connection (from connect)");
  EXPECT_EQ(null.code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(null.what,
            "isend was called with NULL where it needs a send connection (from connect).");
  const Error other = wrong_handle("test", g_place, "a request (from isend, irecv or iflush)");
  EXPECT_NE(other.what.find("which is not a request"), std::string::npos);
}

}  // namespace
}  // namespace rocelane::net::abi
