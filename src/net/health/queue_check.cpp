#include "net/health/queue_check.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rocelane::telemetry {
namespace {

using Bytes = std::array<uint64_t, kPriorities>;

// A counter that went back was reset; what it counted before is not known.
Bytes growth(const Bytes& before, const Bytes& after) {
  Bytes grown{};
  for (size_t i = 0; i < kPriorities; ++i) {
    grown[i] = after[i] >= before[i] ? after[i] - before[i] : 0;
  }
  return grown;
}

bool is_lossless(const QueueRules& rules, size_t priority) {
  return (rules.lossless >> priority & 1U) != 0;
}

// The priority without PFC that took most of the RDMA bytes. Other traffic, which belongs in such a
// priority, cannot mislead: the bytes in lossless ones must also be too few for our own.
std::optional<size_t> lossy_priority(const Bytes& grown, uint64_t rdma_bytes,
                                     const QueueRules& rules) {
  uint64_t lossless = 0;
  std::optional<size_t> busiest;
  for (size_t i = 0; i < kPriorities; ++i) {
    if (is_lossless(rules, i)) {
      lossless += grown[i];
    } else if (!busiest || grown[i] > grown[*busiest]) {
      busiest = i;
    }
  }
  const uint64_t half = rdma_bytes / 2;
  if (rdma_bytes < kEnoughToJudgeBytes || !busiest || lossless >= half || grown[*busiest] < half) {
    return std::nullopt;
  }
  return busiest;
}

std::string lossless_text(const QueueRules& rules) {
  std::vector<size_t> priorities;
  for (size_t i = 0; i < kPriorities; ++i) {
    if (is_lossless(rules, i)) {
      priorities.push_back(i);
    }
  }
  return fmt::format("{}", fmt::join(priorities, ","));
}

std::string advice_for_sent(const QueueSubject& subject, const QueueRules& rules) {
  const int dscp = subject.traffic_class >> 2;
  const auto mapped = rules.priority_of_dscp[static_cast<size_t>(dscp)];
  if (mapped && *mapped < kPriorities && is_lossless(rules, *mapped)) {
    return fmt::format(
        "DSCP {} is mapped to priority {}, so check that {} trusts DSCP (trust mode), not PCP",
        dscp, *mapped, subject.interface);
  }
  if (mapped) {
    return fmt::format(
        "DSCP {} is mapped to priority {}: turn PFC on there, or set ROCELANE_TRAFFIC_CLASS to a "
        "DSCP of a priority that has it",
        dscp, *mapped);
  }
  return fmt::format(
      "set ROCELANE_TRAFFIC_CLASS to the DSCP of the lossless priority, and check the trust mode "
      "and the DSCP map of {}",
      subject.interface);
}

}  // namespace

std::optional<std::string> wrong_queue(const QueueSubject& subject, const QueueTraffic& traffic,
                                       const QueueRules& rules) {
  if (rules.lossless == 0) {
    return std::nullopt;
  }
  const auto sentence = [&](std::string_view verb, size_t priority, std::string_view advice) {
    return fmt::format(
        "{} ({}): traffic class {} (DSCP {}) is {} in priority {}, where packets may be lost; PFC "
        "is on for {}. {}",
        subject.device, subject.interface, subject.traffic_class, subject.traffic_class >> 2, verb,
        priority, lossless_text(rules), advice);
  };
  const auto sent = lossy_priority(growth(traffic.before.sent, traffic.after.sent),
                                   traffic.rdma_sent_bytes, rules);
  if (sent) {
    return sentence("sent and counted", *sent, advice_for_sent(subject, rules));
  }
  const auto received = lossy_priority(growth(traffic.before.received, traffic.after.received),
                                       traffic.rdma_received_bytes, rules);
  if (received) {
    return sentence("received and counted", *received,
                    "Check the trust mode here and at the peer, and what switches make of the DSCP "
                    "on the way");
  }
  return std::nullopt;
}

}  // namespace rocelane::telemetry
