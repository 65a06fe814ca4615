#include "net/health/latency_histogram.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rocelane::telemetry {
namespace {

uint64_t representative(uint32_t bucket) {
  if (bucket == 0) {
    return latency_bucket_floor(1);
  }
  const uint64_t floor = latency_bucket_floor(bucket);
  return bucket == kLatencyBuckets - 1 ? floor
                                       : floor + (latency_bucket_floor(bucket + 1) - floor) / 2;
}

}  // namespace

LatencyHistogram::LatencyHistogram(const uint64_t (&buckets)[kLatencyBuckets])
    : buckets_(std::to_array(buckets)) {}

uint64_t LatencyHistogram::count() const {
  return std::accumulate(buckets_.begin(), buckets_.end(), uint64_t{0});
}

std::optional<uint64_t> LatencyHistogram::quantile(double quantile) const {
  const uint64_t total = count();
  if (total == 0) {
    return std::nullopt;
  }
  // Nearest rank: the first message counts for quantile 0, the last for 1. Beyond 2^53 messages a
  // double loses single ones, which does not matter; running past the last one would.
  const double share = std::clamp(quantile, 0.0, 1.0);
  const double wanted = std::ceil(share * static_cast<double>(total));
  const auto rank = wanted < static_cast<double>(total)
                        ? std::max<uint64_t>(static_cast<uint64_t>(wanted), 1)
                        : total;
  uint64_t seen = 0;
  for (uint32_t bucket = 0; bucket < kLatencyBuckets; ++bucket) {
    seen += buckets_[bucket];
    if (seen >= rank) {
      return representative(bucket);
    }
  }
  return representative(kLatencyBuckets - 1);
}

LatencyHistogram LatencyHistogram::since(const LatencyHistogram& earlier) const {
  LatencyHistogram difference;
  for (size_t i = 0; i < buckets_.size(); ++i) {
    difference.buckets_[i] =
        buckets_[i] > earlier.buckets_[i] ? buckets_[i] - earlier.buckets_[i] : 0;
  }
  return difference;
}

LatencyHistogram& LatencyHistogram::operator+=(const LatencyHistogram& other) {
  for (size_t i = 0; i < buckets_.size(); ++i) {
    buckets_[i] += other.buckets_[i];
  }
  return *this;
}

}  // namespace rocelane::telemetry
