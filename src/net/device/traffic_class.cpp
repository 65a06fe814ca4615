#include "net/device/traffic_class.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace rocelane::net {
namespace {

constexpr int kEcnMask = 3;
constexpr int kEcnCongestionExperienced = 3;

// What people mean when they write a DSCP where the whole byte is wanted.
constexpr std::array<uint8_t, 4> kUsualDscps{24, 26, 46, 48};

const char* ecn_text(int ecn) {
  constexpr std::array<const char*, 4> kTexts{"not capable", "ECT(1)", "ECT(0)", "CE"};
  return kTexts[static_cast<size_t>(ecn & kEcnMask)];
}

uint8_t byte_of(int value) { return static_cast<uint8_t>(std::clamp(value, 0, 255)); }

TrafficClassChoice resolve_data(const Settings& settings, std::optional<uint8_t> communicator) {
  if (settings.traffic_class) {
    return {byte_of(*settings.traffic_class), true, where_from(settings, Setting::kTrafficClass)};
  }
  if (communicator) {
    return {*communicator, true, "the communicator's trafficClass"};
  }
  return {0, false, "the default"};
}

struct Side {
  uint8_t value;
  bool is_explicit;
};

// Explicit beats default; equal is equal. Without an explicit side both carry a default, and should
// two versions of this library have different ones, the larger is a rule both ends can compute.
std::optional<Side> agree(Side local, Side peer) {
  if (local.is_explicit && peer.is_explicit && local.value != peer.value) {
    return std::nullopt;
  }
  if (local.is_explicit != peer.is_explicit) {
    return local.is_explicit ? local : peer;
  }
  return local.value >= peer.value ? local : peer;
}

Error disagreement(std::string_view what, const TrafficClassChoice& local, uint8_t peer) {
  return {ErrorCode::kInvalidArgument,
          fmt::format("the two ends of this connection want different traffic classes for {}: here "
                      "{} from {}, the peer {}; set the same on all hosts",
                      what, describe_traffic_class(local.value), local.source,
                      describe_traffic_class(peer))};
}

}  // namespace

TrafficClasses resolve_traffic_classes(const Settings& settings,
                                       std::optional<uint8_t> communicator) {
  TrafficClasses classes;
  classes.data = resolve_data(settings, communicator);
  if (settings.control_traffic_class) {
    classes.control = {byte_of(*settings.control_traffic_class), true,
                       where_from(settings, Setting::kControlTrafficClass)};
  } else {
    classes.control = {classes.data.value, false, "same as data"};
  }
  return classes;
}

TrafficClassOffer offer_of(const TrafficClasses& classes) {
  return {classes.data.value, classes.control.value, classes.data.is_explicit,
          classes.control.is_explicit};
}

Result<AgreedTrafficClasses> agree_on_traffic_classes(const TrafficClasses& local,
                                                      const TrafficClassOffer& peer) {
  const std::optional<Side> data =
      agree({local.data.value, local.data.is_explicit}, {peer.data, peer.data_is_explicit});
  if (!data) {
    return disagreement("data", local.data, peer.data);
  }
  const std::optional<Side> control = agree({local.control.value, local.control.is_explicit},
                                            {peer.control, peer.control_is_explicit});
  if (!control) {
    return disagreement("control", local.control, peer.control);
  }
  return AgreedTrafficClasses{data->value, control->is_explicit ? control->value : data->value};
}

std::string describe_traffic_class(uint8_t value) {
  return fmt::format("{} (DSCP {}, ECN {})", value, value >> 2, ecn_text(value));
}

std::string describe(const TrafficClasses& classes) {
  const std::string data = fmt::format(
      "traffic class {} from {}", describe_traffic_class(classes.data.value), classes.data.source);
  if (!classes.control.is_explicit) {
    return data + ", control the same";
  }
  return fmt::format("{}, control {} from {}", data, describe_traffic_class(classes.control.value),
                     classes.control.source);
}

std::optional<std::string> traffic_class_caution(const TrafficClassChoice& choice) {
  if (!choice.is_explicit) {
    return std::nullopt;
  }
  const std::string what =
      fmt::format("traffic class {} from {}", describe_traffic_class(choice.value), choice.source);
  if (std::find(kUsualDscps.begin(), kUsualDscps.end(), choice.value) != kUsualDscps.end()) {
    return fmt::format("{}: the value is the whole byte; if DSCP {} is meant, set {}", what,
                       choice.value, choice.value * 4 + 2);
  }
  const int ecn = choice.value & kEcnMask;
  if (ecn == kEcnCongestionExperienced) {
    return fmt::format(
        "{} says that every packet met congestion, so receivers slow us down for "
        "nothing; set {}",
        what, choice.value - 1);
  }
  return std::nullopt;
}

std::optional<std::string> traffic_class_note(const TrafficClassChoice& choice) {
  const bool may_be_marked = (choice.value & kEcnMask) != 0;
  if (!choice.is_explicit || choice.value == 0 || may_be_marked ||
      traffic_class_caution(choice).has_value()) {
    return std::nullopt;
  }
  return fmt::format(
      "traffic class {} from {}: unless the NIC sets the ECN bits itself, switches drop where they "
      "could mark, and DCQCN does not hear of congestion; {} lets them mark",
      describe_traffic_class(choice.value), choice.source, choice.value + 2);
}

}  // namespace rocelane::net
