#include "bench/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_net.h"

namespace rocelane::bench {
namespace {

using nccl_host::FakeNet;
using nccl_host::Misdeed;
using testing::Each;
using testing::Gt;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Two streams, ping, pong: as sizes are measured.
SessionSettings settings_for_sizes() {
  SessionSettings settings;
  settings.connections = {{{0, 1}, 4096}, {{0, 1}, 4096}, {{0, 1}, 64}, {{1, 0}, 64}};
  settings.patience_s = 20;
  return settings;
}

Request ping_pong(size_t round_trips) {
  Request request;
  request.what = Measurement::kPingPong;
  request.messages = round_trips;
  request.connections = 2;
  request.ping = 2;
  request.pong = 3;
  return request;
}

Request stream(size_t messages, bool one_thread) {
  Request request;
  request.bytes = 4096;
  request.messages = messages;
  request.connections = 2;
  request.one_thread = one_thread;
  return request;
}

void nothing_hangs(const std::string& sentence) { ADD_FAILURE() << sentence; }

class SessionOverAFake : public testing::Test {
 protected:
  void open(const SessionSettings& settings, int abi = 12) {
    net_ = fake_.net(abi);
    session_ =
        std::make_unique<Session>(*net_, settings, softverbs_, Session::InstructionCounting());
    const Result<SetUpAnswer> answer = session_->set_up(nothing_hangs);
    ASSERT_TRUE(answer) << answer.error().what;
    set_up_ = *answer;
  }
  Answer measured(const Request& request) {
    Result<Answer> answer = session_->measure(request);
    EXPECT_TRUE(answer) << answer.error().what;
    return answer ? *answer : Answer();
  }

  FakeNet fake_;
  nccl_host::Softverbs softverbs_;  // not there
  std::unique_ptr<nccl_host::Net> net_;
  std::unique_ptr<Session> session_;
  SetUpAnswer set_up_;
};

TEST_F(SessionOverAFake, SaysWhatItHasSetUp) {
  open(settings_for_sizes(), 11);
  EXPECT_EQ(set_up_.abi, 11);
  EXPECT_EQ(set_up_.connections, 4);
  EXPECT_THAT(set_up_.places, SizeIs(2));
  EXPECT_GT(set_up_.seconds, 0);
  EXPECT_EQ(fake_.calls().open_connections, 8);
  EXPECT_EQ(fake_.calls().inits, 2);
}

TEST_F(SessionOverAFake, MeasuresOneThingAfterAnother) {
  open(settings_for_sizes());
  EXPECT_GT(measured(stream(500, false)).seconds, 0);
  const Answer pinged = measured(ping_pong(200));
  EXPECT_THAT(pinged.round_trips_us, SizeIs(200));
  EXPECT_THAT(pinged.round_trips_us, Each(Gt(0)));
  EXPECT_GT(measured(stream(30, true)).seconds, 0);
  EXPECT_GT(measured(stream(1, false)).seconds, 0);
  EXPECT_FALSE(measured(stream(1, false)).counts) << "there is no softverbs";
  ASSERT_TRUE(session_->close());
  EXPECT_THAT(fake_.violations(), IsEmpty());
  EXPECT_EQ(fake_.calls().open_connections, 0);
  EXPECT_EQ(fake_.calls().open_registrations, 0);
  EXPECT_EQ(fake_.calls().finalizes, 2);
}

TEST_F(SessionOverAFake, KeepsToTheWindow) {
  SessionSettings settings = settings_for_sizes();
  settings.window = 3;
  open(settings);
  measured(stream(200, false));
  EXPECT_LE(fake_.calls().most_outstanding_receives, 3U);
}

TEST_F(SessionOverAFake, MeasuresLatencyBesideALoad) {
  open(settings_for_sizes());
  Request request = ping_pong(300);
  request.load_bytes = 4096;
  EXPECT_THAT(measured(request).round_trips_us, SizeIs(300));
  EXPECT_GT(measured(stream(10, false)).seconds, 0) << "all of the load has arrived";
  ASSERT_TRUE(session_->close());
  EXPECT_THAT(fake_.violations(), IsEmpty());
}

TEST_F(SessionOverAFake, TimesRoundsWithNothingToDo) {
  SessionSettings settings;
  settings.connections.assign(20, {{0, 1}, 8});
  open(settings);
  for (const Measurement what : {Measurement::kIdleReceives, Measurement::kIdleSends}) {
    Request request;
    request.what = what;
    request.messages = 100;
    request.one_thread = true;
    EXPECT_GT(measured(request).seconds, 0);
  }
  ASSERT_TRUE(session_->close()) << "nothing is left under way";
  EXPECT_THAT(fake_.violations(), IsEmpty());
}

TEST_F(SessionOverAFake, DoesNotCountInstructionsOutsideOfCallgrind) {
  open(settings_for_sizes());
  Request request = stream(1, true);
  request.count_instructions = true;
  EXPECT_FALSE(session_->measure(request));
}

TEST_F(SessionOverAFake, RefusesDevicesThatAreNotThere) {
  SessionSettings settings = settings_for_sizes();
  settings.devices = {"0", "nowhere"};
  net_ = fake_.net(12);
  Session session(*net_, settings, softverbs_, {});
  const Result<SetUpAnswer> answer = session.set_up(nothing_hangs);
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().what, HasSubstr("names 'nowhere'"));
  EXPECT_FALSE(session.has_ranks());
}

TEST_F(SessionOverAFake, RefusesRailsThatTheNetDoesNotMakeOneDevice) {
  for (const int abi : {8, 12}) {
    SessionSettings settings = settings_for_sizes();
    settings.rails = 2;
    net_ = fake_.net(abi);
    Session session(*net_, settings, softverbs_, {});
    const Result<SetUpAnswer> answer = session.set_up(nothing_hangs);
    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.error().what, HasSubstr("makeVDevice returned invalid usage"));
  }
}

TEST(SessionOverABrokenNet, EndsWithASentenceAboutTheConnectionThatDoesNotCome) {
  FakeNet fake(Misdeed::kNeverAccepts);
  const std::unique_ptr<nccl_host::Net> net = fake.net(12);
  SessionSettings settings = settings_for_sizes();
  settings.patience_s = 0.2;
  const nccl_host::Softverbs none;
  Session session(*net, settings, none, {});
  const Result<SetUpAnswer> answer = session.set_up(nothing_hangs);
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().what, HasSubstr("has waited 0.2 s for accept"));
  EXPECT_TRUE(session.has_ranks());
}

TEST(SessionOverABrokenNet, EndsWithASentenceAboutTheLostMessage) {
  FakeNet fake(Misdeed::kLoses, 5);
  const std::unique_ptr<nccl_host::Net> net = fake.net(12);
  SessionSettings settings = settings_for_sizes();
  settings.patience_s = 0.3;
  const nccl_host::Softverbs none;
  Session session(*net, settings, none, {});
  ASSERT_TRUE(session.set_up(nothing_hangs));
  const Result<Answer> answer = session.measure(stream(20, false));
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().what, HasSubstr("has waited 0.3 s"));
}

TEST(SessionOverABrokenNet, NoticesWrongSizes) {
  FakeNet fake(Misdeed::kWrongSize, 5);
  const std::unique_ptr<nccl_host::Net> net = fake.net(12);
  const nccl_host::Softverbs none;
  Session session(*net, settings_for_sizes(), none, {});
  ASSERT_TRUE(session.set_up(nothing_hangs));
  const Result<Answer> answer = session.measure(stream(20, true));
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().what, HasSubstr("brought 4097 bytes, not 4096"));
}

}  // namespace
}  // namespace rocelane::bench
