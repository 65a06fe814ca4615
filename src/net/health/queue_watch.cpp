#include "net/health/queue_watch.h"

#include <fmt/format.h>

namespace rocelane::telemetry {
namespace {

// Some drivers refresh their statistics once a second; a young difference would be too small.
constexpr int kLooksBeforeJudging = 3;

std::optional<uint64_t> value_of(const PortCounters& counters, PortCounter counter) {
  const auto index = static_cast<size_t>(counter);
  if ((counters.known() >> index & 1U) == 0) {
    return std::nullopt;
  }
  return counters.values().at(index);
}

uint64_t grown(uint64_t before, uint64_t after) { return after >= before ? after - before : 0; }

}  // namespace

void QueueWatch::carries(uint8_t traffic_class) {
  int nothing = kNothingCarried;
  traffic_class_.compare_exchange_strong(nothing, traffic_class);
}

std::optional<QueueWatch::Rdma> QueueWatch::rdma_bytes(const PortCounters& counters) {
  const auto sent = value_of(counters, PortCounter::kSentBytes);
  const auto received = value_of(counters, PortCounter::kReceivedBytes);
  if (!sent || !received) {
    return std::nullopt;
  }
  return Rdma{*sent, *received};
}

std::optional<QueueFinding> QueueWatch::look(const PortCounters& counters) {
  const int traffic_class = traffic_class_.load();
  if (has_ended_ || traffic_class == kNothingCarried) {
    return std::nullopt;
  }
  const auto rdma = rdma_bytes(counters);
  if (!rdma) {
    return unknown("the port does not count its RDMA bytes");
  }
  if (!has_begun_) {
    return begin(*rdma);
  }
  if (++looks_ < kLooksBeforeJudging) {
    return std::nullopt;
  }
  return judge(*rdma, static_cast<uint8_t>(traffic_class));
}

std::optional<QueueFinding> QueueWatch::begin(const Rdma& rdma) {
  const auto rules = sources_.rules(interface_);
  if (!rules) {
    return unknown(rules.error().what);
  }
  if (rules->lossless == 0) {
    return unknown("no priority has PFC");
  }
  const auto statistics = sources_.statistics(interface_);
  if (!statistics) {
    return unknown(statistics.error().what);
  }
  const auto bytes = priority_bytes(*statistics);
  if (!bytes) {
    return unknown("its driver does not count bytes by priority");
  }
  before_ = *bytes;
  rdma_before_ = rdma;
  has_begun_ = true;
  return std::nullopt;
}

// Each direction once, when enough went through it: some ranks only send for a long time.
std::optional<QueueFinding> QueueWatch::judge(const Rdma& rdma, uint8_t traffic_class) {
  QueueTraffic traffic;
  traffic.before = before_;
  traffic.rdma_sent_bytes = grown(rdma_before_.sent, rdma.sent);
  traffic.rdma_received_bytes = grown(rdma_before_.received, rdma.received);
  const bool sent_due = !sent_judged_ && traffic.rdma_sent_bytes >= kEnoughToJudgeBytes;
  const bool received_due = !received_judged_ && traffic.rdma_received_bytes >= kEnoughToJudgeBytes;
  if (!sent_due && !received_due) {
    return std::nullopt;
  }
  const auto rules = sources_.rules(interface_);
  const auto statistics = sources_.statistics(interface_);
  if (!rules || !statistics) {
    return unknown(rules ? statistics.error().what : rules.error().what);
  }
  const auto bytes = priority_bytes(*statistics);
  if (!bytes) {
    return unknown("its driver no longer counts bytes by priority");
  }
  traffic.after = *bytes;
  if (auto wrong = wrong_queue({device_, interface_, traffic_class}, traffic, *rules)) {
    return end(true, std::move(*wrong));
  }
  sent_judged_ = sent_judged_ || sent_due;
  received_judged_ = received_judged_ || received_due;
  has_ended_ = sent_judged_ && received_judged_;
  return std::nullopt;
}

QueueFinding QueueWatch::end(bool is_wrong, std::string text) {
  has_ended_ = true;
  return {is_wrong, std::move(text)};
}

QueueFinding QueueWatch::unknown(const std::string& why) {
  return end(false,
             fmt::format("{} ({}): cannot tell whether traffic is in a lossless priority: {}",
                         device_, interface_.empty() ? "no interface" : interface_, why));
}

}  // namespace rocelane::telemetry
