#include "collperf/rendezvous.h"

#include <cstring>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rocelane::collperf {
namespace {

constexpr std::string_view kGreeting = "collperf rendezvous 1";
constexpr auto kForEver = std::chrono::hours(24 * 365);
// Process 0 knows who is missing, so it should be the one to lose patience first.
constexpr auto kOthersWaitLonger = std::chrono::seconds(5);
constexpr auto kFarewell = std::chrono::seconds(1);

void append_number(std::string& text, uint64_t number) {
  const size_t at = text.size();
  text.resize(at + sizeof number);
  std::memcpy(text.data() + at, &number, sizeof number);
}

void append_text(std::string& text, std::string_view part) {
  append_number(text, part.size());
  text += part;
}

// Takes values off the front of a frame body; a short body makes everything after it empty.
class BodyReader {
 public:
  explicit BodyReader(std::string_view body) : rest_(body) {}

  uint64_t number() {
    uint64_t value = 0;
    if (rest_.size() < sizeof value) {
      sound_ = false;
      return 0;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }

  std::string text() {
    const uint64_t length = number();
    if (length > rest_.size()) {
      sound_ = false;
      return {};
    }
    std::string part(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return part;
  }

  bool sound() const { return sound_; }

 private:
  std::string_view rest_;
  bool sound_ = true;
};

std::string contribution_body(uint64_t step, std::string_view what, std::string_view mine) {
  std::string body;
  append_number(body, step);
  append_text(body, what);
  append_text(body, mine);
  return body;
}

Error remote(std::string sentence) { return Error{ErrorCode::kRemote, std::move(sentence)}; }

}  // namespace

Rendezvous::Rendezvous(const RankLayout& layout, std::chrono::milliseconds patience)
    : layout_(layout), patience_(patience) {}

Result<std::unique_ptr<Rendezvous>> Rendezvous::join(const RankLayout& layout,
                                                     std::chrono::milliseconds patience) {
  std::unique_ptr<Rendezvous> rendezvous(new Rendezvous(layout, patience));
  if (layout.processes > 1) {
    const Deadline deadline = rendezvous->deadline_from_now();
    const Status joined =
        layout.process == 0 ? rendezvous->gather_hellos(deadline) : rendezvous->say_hello(deadline);
    if (!joined) {
      return joined.error();
    }
  }
  return rendezvous;
}

Status Rendezvous::gather_hellos(Deadline deadline) {
  Result<Socket> listener = listen_on(layout_.meeting_host, layout_.meeting_port);
  if (!listener) {
    return listener.error();
  }
  const auto processes = static_cast<size_t>(layout_.processes);
  peers_.resize(processes);
  early_.resize(processes);
  size_t missing = processes - 1;
  while (missing > 0) {
    Socket caller = accept_before(*listener, deadline);
    if (!caller.open()) {
      std::vector<size_t> absent;
      for (size_t process = 1; process < processes; ++process) {
        if (!peers_[process].open()) {
          absent.push_back(process);
        }
      }
      return fail_everybody(fmt::format(
          "After {} s RANK {} of {} did not come to the rendezvous at {}:{}. Were they started, "
          "with the same MASTER_ADDR, MASTER_PORT and WORLD_SIZE?",
          patience_s(), fmt::join(absent, ", "), processes, layout_.meeting_host,
          layout_.meeting_port));
    }
    const FrameOutcome outcome =
        read_frame(caller, std::min(deadline, Clock::now() + std::chrono::seconds(5)));
    const Frame* const hello = std::get_if<Frame>(&outcome);
    if (hello == nullptr || hello->kind != FrameKind::kHello) {
      continue;  // a stranger, for example a port scan
    }
    BodyReader body(hello->body);
    const std::string greeting = body.text();
    const uint64_t process = body.number();
    const uint64_t world = body.number();
    if (!body.sound() || greeting != kGreeting) {
      continue;
    }
    if (world != processes || process == 0 || process >= processes) {
      return fail_everybody(fmt::format(
          "A process came with RANK={} WORLD_SIZE={}, but rank 0 was started with WORLD_SIZE={}.",
          process, world, processes));
    }
    if (peers_[process].open()) {
      return fail_everybody(
          fmt::format("Two processes came with RANK={}: each needs its own.", process));
    }
    peers_[process] = std::move(caller);
    --missing;
  }
  return {};
}

Status Rendezvous::say_hello(Deadline deadline) {
  Result<Socket> first = connect_before(layout_.meeting_host, layout_.meeting_port, deadline);
  if (!first) {
    return remote(fmt::format("RANK {} {}", layout_.process, first.error().what));
  }
  std::string body;
  append_text(body, kGreeting);
  append_number(body, static_cast<uint64_t>(layout_.process));
  append_number(body, static_cast<uint64_t>(layout_.processes));
  peers_.push_back(std::move(*first));
  if (!write_frame(peers_[0], {FrameKind::kHello, body}, deadline)) {
    return remote(fmt::format("RANK {} reached {}:{}, but what listens there hung up.",
                              layout_.process, layout_.meeting_host, layout_.meeting_port));
  }
  return {};
}

Result<std::vector<std::string>> Rendezvous::exchange(std::string_view what,
                                                      std::string_view mine) {
  ++step_;
  if (layout_.processes == 1) {
    return std::vector<std::string>{std::string(mine)};
  }
  return layout_.process == 0 ? exchange_as_first(what, mine) : exchange_as_other(what, mine);
}

Result<std::vector<std::string>> Rendezvous::exchange_as_first(std::string_view what,
                                                               std::string_view mine) {
  const Deadline deadline = deadline_from_now();
  std::vector<std::string> everybody(peers_.size());
  everybody[0] = mine;
  std::vector<size_t> awaited(peers_.size() - 1);
  std::iota(awaited.begin(), awaited.end(), size_t{1});
  while (!awaited.empty()) {
    std::vector<size_t> still_awaited;
    for (const size_t process : awaited) {
      if (!early_[process] && !readable_now(peers_[process])) {
        still_awaited.push_back(process);
        continue;
      }
      Result<std::string> contribution = contribution_of(process, what, deadline);
      if (!contribution) {
        return fail_everybody(contribution.error().what);
      }
      everybody[process] = std::move(*contribution);
    }
    awaited = std::move(still_awaited);
    if (!awaited.empty() && !wait_until_readable(sockets_of(awaited), deadline)) {
      return fail_everybody(fmt::format("After {} s RANK {} of {} did not come to '{}'.",
                                        patience_s(), fmt::join(awaited, ", "), peers_.size(),
                                        what));
    }
  }
  std::string answer;
  for (const std::string& contribution : everybody) {
    append_text(answer, contribution);
  }
  for (size_t process = 1; process < peers_.size(); ++process) {
    if (!write_frame(peers_[process], {FrameKind::kAnswer, answer}, deadline)) {
      return fail_everybody(fmt::format("RANK {} has gone after '{}'.", process, what));
    }
  }
  return everybody;
}

Result<std::string> Rendezvous::contribution_of(size_t process, std::string_view what,
                                                Deadline deadline) {
  const FrameOutcome outcome = early_[process]
                                   ? FrameOutcome(*std::exchange(early_[process], std::nullopt))
                                   : read_frame(peers_[process], deadline);
  const Frame* const frame = std::get_if<Frame>(&outcome);
  if (frame == nullptr) {
    return remote(fmt::format("RANK {} has gone while all meet for '{}'.", process, what));
  }
  if (frame->kind == FrameKind::kFailure) {
    return remote(fmt::format("RANK {} gave up: {}", process, frame->body));
  }
  BodyReader body(frame->body);
  const uint64_t step = body.number();
  const std::string its_what = body.text();
  std::string contribution = body.text();
  if (!body.sound() || step != step_ || its_what != what) {
    return remote(
        fmt::format("RANK {} is at step {} '{}' while rank 0 is at step {} '{}': were all started "
                    "with the same options?",
                    process, step, its_what, step_, what));
  }
  return contribution;
}

std::vector<const Socket*> Rendezvous::sockets_of(const std::vector<size_t>& processes) const {
  std::vector<const Socket*> sockets;
  for (const size_t process : processes) {
    sockets.push_back(&peers_[process]);
  }
  return sockets;
}

Result<std::vector<std::string>> Rendezvous::exchange_as_other(std::string_view what,
                                                               std::string_view mine) {
  const Deadline deadline = deadline_from_now() + kOthersWaitLonger;
  const Frame contribution{FrameKind::kContribution, contribution_body(step_, what, mine)};
  const bool sent = write_frame(peers_[0], contribution, deadline);
  // A failure frame may have arrived before our write failed: read in any case.
  const FrameOutcome outcome = read_frame(peers_[0], deadline);
  const Frame* const frame = std::get_if<Frame>(&outcome);
  if (frame != nullptr && frame->kind == FrameKind::kFailure) {
    return remote(frame->body);
  }
  if (frame == nullptr || frame->kind != FrameKind::kAnswer || !sent) {
    const bool late = frame == nullptr && std::get<NoFrame>(outcome) == NoFrame::kDeadline;
    return remote(fmt::format("RANK 0 {} while all meet for '{}'.",
                              late ? "did not answer in time" : "has gone", what));
  }
  BodyReader body(frame->body);
  std::vector<std::string> everybody(static_cast<size_t>(layout_.processes));
  for (std::string& theirs : everybody) {
    theirs = body.text();
  }
  if (!body.sound()) {
    return remote(fmt::format("RANK 0 sent an answer to '{}' that is cut short.", what));
  }
  return everybody;
}

Status Rendezvous::barrier(std::string_view what) {
  const Result<std::vector<std::string>> all = exchange(what, {});
  return all ? Status() : Status(all.error());
}

Result<std::string> Rendezvous::from_first(std::string_view what, std::string_view mine) {
  Result<std::vector<std::string>> all =
      exchange(what, layout_.process == 0 ? mine : std::string_view{});
  if (!all) {
    return all.error();
  }
  return std::move(all->front());
}

Result<std::vector<double>> Rendezvous::exchange_numbers(std::string_view what, double mine) {
  std::string bytes(sizeof mine, '\0');
  std::memcpy(bytes.data(), &mine, sizeof mine);
  const Result<std::vector<std::string>> all = exchange(what, bytes);
  if (!all) {
    return all.error();
  }
  std::vector<double> numbers;
  for (const std::string& theirs : *all) {
    if (theirs.size() != sizeof(double)) {
      return remote(fmt::format("RANK {} sent no number to '{}'.", numbers.size(), what));
    }
    double number = 0;
    std::memcpy(&number, theirs.data(), sizeof number);
    numbers.push_back(number);
  }
  return numbers;
}

Status Rendezvous::look_at_peers() {
  for (size_t slot = 0; slot < peers_.size(); ++slot) {
    const bool already_holds_a_frame = slot < early_.size() && early_[slot];
    if (!peers_[slot].open() || already_holds_a_frame || !readable_now(peers_[slot])) {
      continue;
    }
    FrameOutcome outcome = read_frame(peers_[slot], Clock::now() + std::chrono::seconds(1));
    Frame* const frame = std::get_if<Frame>(&outcome);
    if (frame == nullptr) {
      return layout_.process == 0 ? Status(fail_everybody(fmt::format("RANK {} has gone.", slot)))
                                  : Status(remote("RANK 0 has gone."));
    }
    if (frame->kind == FrameKind::kFailure) {
      return layout_.process == 0
                 ? Status(fail_everybody(fmt::format("RANK {} gave up: {}", slot, frame->body)))
                 : Status(remote(frame->body));
    }
    if (layout_.process == 0) {
      early_[slot] = std::move(*frame);
    }
  }
  return {};
}

void Rendezvous::give_up(std::string_view sentence) {
  for (const Socket& peer : peers_) {
    if (peer.open()) {
      write_frame(peer, {FrameKind::kFailure, std::string(sentence)}, Clock::now() + kFarewell);
    }
  }
}

Error Rendezvous::fail_everybody(std::string sentence) {
  give_up(sentence);
  return remote(std::move(sentence));
}

Deadline Rendezvous::deadline_from_now() const {
  return Clock::now() + (patience_.count() == 0 ? std::chrono::milliseconds(kForEver) : patience_);
}

double Rendezvous::patience_s() const { return static_cast<double>(patience_.count()) / 1000; }

}  // namespace rocelane::collperf
