#include "collperf/rendezvous.h"

#include <array>
#include <future>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace rocelane::collperf {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr milliseconds kLong{20000};
constexpr milliseconds kShort{300};

uint16_t free_port() {
  const Socket probe(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(bind(probe.fd(), generic, length), 0);
  EXPECT_EQ(getsockname(probe.fd(), generic, &length), 0);
  return ntohs(address.sin_port);
}

class Meeting : public testing::Test {
 protected:
  using Joined = Result<std::unique_ptr<Rendezvous>>;

  Joined join(int process, int processes, milliseconds patience) const {
    RankLayout layout;
    layout.process = process;
    layout.processes = processes;
    layout.meeting_port = port_;
    return Rendezvous::join(layout, patience);
  }

  // Runs `act` as each of `processes` processes, on threads.
  template <class Act>
  auto as_all(int processes, milliseconds patience, Act act) const {
    using Outcome = decltype(act(0, std::declval<Rendezvous&>()));
    std::vector<std::future<Outcome>> running;
    for (int process = 0; process < processes; ++process) {
      running.push_back(std::async(std::launch::async, [=, this]() -> Outcome {
        Joined joined = join(process, processes, patience);
        if (!joined) {
          return joined.error();
        }
        return act(process, **joined);
      }));
    }
    std::vector<Outcome> outcomes;
    for (auto& outcome : running) {
      outcomes.push_back(outcome.get());
    }
    return outcomes;
  }

  uint16_t port_ = free_port();
};

TEST_F(Meeting, GivesEverybodyWhatEachContributed) {
  using Texts = Result<std::vector<std::string>>;
  const auto outcomes = as_all(3, kLong, [](int process, Rendezvous& rendezvous) -> Texts {
    return rendezvous.exchange("names", "process " + std::to_string(process));
  });
  for (const Texts& outcome : outcomes) {
    ASSERT_TRUE(outcome.ok()) << outcome.error().what;
    EXPECT_THAT(*outcome, ElementsAre("process 0", "process 1", "process 2"));
  }
}

TEST_F(Meeting, CanBeUsedManyTimes) {
  const auto outcomes = as_all(3, kLong, [](int process, Rendezvous& rendezvous) -> Result<double> {
    double sum = 0;
    for (int round = 0; round < 50; ++round) {
      const auto numbers = rendezvous.exchange_numbers("round", process + round);
      const auto id = rendezvous.from_first("id", std::string(128, static_cast<char>(process)));
      const Status barrier = rendezvous.barrier("barrier");
      if (!numbers || !id || !barrier) {
        return Error{ErrorCode::kRemote, "a step failed"};
      }
      EXPECT_EQ(*id, std::string(128, '\0'));
      sum += (*numbers)[0] + (*numbers)[1] + (*numbers)[2];
    }
    return sum;
  });
  for (const Result<double>& outcome : outcomes) {
    ASSERT_TRUE(outcome.ok()) << outcome.error().what;
    EXPECT_EQ(*outcome, 50 * 3 + 3 * 49 * 50 / 2);
  }
}

TEST_F(Meeting, NamesWhoNeverCame) {
  auto first = std::async(std::launch::async, [this] { return join(0, 4, kShort); });
  auto second = std::async(std::launch::async, [this] { return join(2, 4, kShort); });
  const Joined outcome = first.get();
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().what,
              AllOf(HasSubstr("RANK 1, 3 of 4"), HasSubstr("127.0.0.1"), HasSubstr("0.3 s")));
}

TEST_F(Meeting, SaysWhereRankZeroShouldBeWhenItIsNotThere) {
  const Joined outcome = join(1, 2, kShort);
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().what,
              AllOf(HasSubstr("RANK 1"), HasSubstr("MASTER_ADDR"), HasSubstr("refused")));
}

TEST_F(Meeting, NamesWhoIsLateForAStepAndTellsTheOthers) {
  std::promise<void> others_are_through;
  std::shared_future<void> may_leave = others_are_through.get_future().share();
  std::atomic<int> through = 0;
  const auto outcomes = as_all(3, kShort, [&](int process, Rendezvous& rendezvous) -> Status {
    if (process == 2) {
      may_leave.wait();
      return {};
    }
    Status done = rendezvous.barrier("the start");
    if (++through == 2) {
      others_are_through.set_value();
    }
    return done;
  });
  for (const int process : {0, 1}) {
    ASSERT_FALSE(outcomes[static_cast<size_t>(process)].ok());
    EXPECT_THAT(outcomes[static_cast<size_t>(process)].error().what,
                AllOf(HasSubstr("RANK 2 of 3"), HasSubstr("the start")));
  }
}

TEST_F(Meeting, PassesOnWhyAProcessGaveUp) {
  const auto outcomes = as_all(3, kLong, [](int process, Rendezvous& rendezvous) -> Status {
    if (process == 1) {
      rendezvous.give_up("its GPU is on fire.");
      return {};
    }
    return rendezvous.barrier("the end");
  });
  EXPECT_THAT(outcomes[0].error().what, HasSubstr("RANK 1 gave up: its GPU is on fire."));
  EXPECT_THAT(outcomes[2].error().what, HasSubstr("RANK 1 gave up: its GPU is on fire."));
}

TEST_F(Meeting, NoticesWhileLookingThatAPeerHasGone) {
  const auto outcomes = as_all(2, kLong, [](int process, Rendezvous& rendezvous) -> Status {
    const Deadline end = Clock::now() + kLong;
    Status seen;
    while (process == 0 && seen && Clock::now() < end) {
      seen = rendezvous.look_at_peers();
    }
    return seen;
  });
  ASSERT_FALSE(outcomes[0].ok());
  EXPECT_THAT(outcomes[0].error().what, HasSubstr("RANK 1 has gone"));
}

TEST_F(Meeting, KeepsAContributionThatCameWhileLooking) {
  std::promise<void> sent;
  const auto outcomes =
      as_all(2, kLong, [&](int process, Rendezvous& rendezvous) -> Result<double> {
        Status fine;
        if (process == 0) {
          sent.get_future().wait();
          for (int look = 0; look < 1000 && fine; ++look) {
            fine = rendezvous.look_at_peers();
          }
        } else {
          sent.set_value();
        }
        if (!fine) {
          return fine.error();
        }
        const auto numbers = rendezvous.exchange_numbers("numbers", process + 1.0);
        return numbers ? Result<double>((*numbers)[0] + (*numbers)[1]) : numbers.error();
      });
  for (const Result<double>& outcome : outcomes) {
    ASSERT_TRUE(outcome.ok()) << outcome.error().what;
    EXPECT_EQ(*outcome, 3.0);
  }
}

TEST_F(Meeting, EndsWhenTheProcessesAreAtDifferentSteps) {
  const auto outcomes = as_all(2, kLong, [](int process, Rendezvous& rendezvous) -> Status {
    return rendezvous.barrier(process == 0 ? "sizes of float" : "sizes of half");
  });
  for (const Status& outcome : outcomes) {
    ASSERT_FALSE(outcome.ok());
    EXPECT_THAT(outcome.error().what,
                AllOf(HasSubstr("sizes of float"), HasSubstr("sizes of half")));
  }
}

TEST_F(Meeting, RefusesTwoProcessesWithOneRank) {
  auto first = std::async(std::launch::async, [this] { return join(0, 3, kLong); });
  auto one = std::async(std::launch::async, [this] { return join(1, 3, kLong); });
  auto same = std::async(std::launch::async, [this] { return join(1, 3, kLong); });
  const Joined outcome = first.get();
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().what, HasSubstr("Two processes came with RANK=1"));
}

TEST_F(Meeting, IgnoresAStrangerWhoSaysNonsense) {
  auto stranger = std::async(std::launch::async, [this] {
    Result<Socket> socket = connect_before("127.0.0.1", port_, Clock::now() + kLong);
    ASSERT_TRUE(socket.ok());
    const std::string_view request = "GET / HTTP/1.1\r\n\r\n";
    EXPECT_GT(send(socket->fd(), request.data(), request.size(), MSG_NOSIGNAL), 0);
    std::array<char, 1> end{};
    EXPECT_LE(recv(socket->fd(), end.data(), end.size(), 0), 0);  // hung up on
  });
  auto first = std::async(std::launch::async, [this] { return join(0, 2, kLong); });
  stranger.wait();
  auto second = join(1, 2, kLong);
  EXPECT_TRUE(first.get().ok());
  EXPECT_TRUE(second.ok());
}

TEST(RendezvousOfOne, NeedsNoNetwork) {
  RankLayout alone;
  alone.meeting_host = "no such host";
  const auto joined = Rendezvous::join(alone, kShort);
  ASSERT_TRUE(joined.ok());
  EXPECT_THAT(*(*joined)->exchange("x", "mine"), ElementsAre("mine"));
}

}  // namespace
}  // namespace rocelane::collperf
