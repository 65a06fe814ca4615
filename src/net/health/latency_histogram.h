#pragma once

// A latency histogram as read from a page: plain numbers, no longer changing.

#include <array>
#include <cstdint>
#include <optional>

#include "rocelane/telemetry_page.h"

namespace rocelane::telemetry {

class LatencyHistogram {
 public:
  LatencyHistogram() = default;
  explicit LatencyHistogram(const uint64_t (&buckets)[kLatencyBuckets]);

  void add(uint64_t nanoseconds, uint64_t times = 1) {
    buckets_[latency_bucket(nanoseconds)] += times;
  }
  uint64_t count() const;

  // The latency in nanoseconds that the share `quantile` (0 to 1) of all messages did not exceed,
  // at most 3.2 % off; nullopt when nothing was counted. Below 256 ns it answers 256 ns, from 64 s
  // on 64 s: "no more than" and "no less than".
  std::optional<uint64_t> quantile(double quantile) const;

  // What was counted since `earlier`, which is an earlier reading of the same life of the same
  // lane. A bucket that shrank, which no honest page has, counts as empty.
  LatencyHistogram since(const LatencyHistogram& earlier) const;
  // All lanes of a connection, or of a port, together.
  LatencyHistogram& operator+=(const LatencyHistogram& other);
  bool operator==(const LatencyHistogram&) const = default;

 private:
  std::array<uint64_t, kLatencyBuckets> buckets_{};
};

}  // namespace rocelane::telemetry
