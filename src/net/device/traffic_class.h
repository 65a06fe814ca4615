#pragma once

// Which traffic class our packets carry. The two ends of a connection must use the same one: an RC
// responder acknowledges with its own address vector, so a class set at one end only leaves half of
// the traffic in another queue.

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/settings.h"

namespace rocelane::net {

struct TrafficClassChoice {
  uint8_t value = 0;
  bool is_explicit = false;  // a user or the communicator asked for it
  std::string source;        // "NCCL_IB_TC=106", "the communicator's trafficClass", "the default"
};

struct TrafficClasses {
  TrafficClassChoice data;
  TrafficClassChoice control;  // clear-to-send; like data unless set
};

// Setting, else the communicator's, else 0.
TrafficClasses resolve_traffic_classes(const Settings& settings,
                                       std::optional<uint8_t> communicator);

// What one end tells the other. Plain numbers: they come off the wire.
struct TrafficClassOffer {
  uint8_t data = 0;
  uint8_t control = 0;
  bool data_is_explicit = false;
  bool control_is_explicit = false;
};
struct AgreedTrafficClasses {
  uint8_t data = 0;
  uint8_t control = 0;
  bool operator==(const AgreedTrafficClasses&) const = default;
};

TrafficClassOffer offer_of(const TrafficClasses& classes);

// Both ends compute the same result. An explicit side rules both directions; two explicit,
// different values are an error that names both. `local` is kept apart only to name its source in
// the sentence.
Result<AgreedTrafficClasses> agree_on_traffic_classes(const TrafficClasses& local,
                                                      const TrafficClassOffer& peer);

std::string describe_traffic_class(uint8_t value);  // "106 (DSCP 26, ECN ECT(0))"
std::string describe(const TrafficClasses& classes);

// A sentence when the ECN bits of an explicit choice are worth a look, e.g. CE already set by the
// sender.
std::optional<std::string> traffic_class_caution(const TrafficClassChoice& choice);

// A sentence, for INFO, when an explicit choice has ECN bits 00: right where the NIC sets them
// itself, and otherwise DCQCN never hears of congestion. Class 0 is not told from no wish.
std::optional<std::string> traffic_class_note(const TrafficClassChoice& choice);

}  // namespace rocelane::net
