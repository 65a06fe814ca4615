#include "softverbs/description/fault_words.h"

#include <array>

namespace rocelane::softverbs {
namespace {

constexpr FaultWord starts(FaultAction action, FaultTarget target,
                           FaultValue value = FaultValue::kNone) {
  return {action, target, value, false, true, false};
}

constexpr FaultWord ends(FaultAction action, FaultTarget target) {
  return {action, target, FaultValue::kNone, true, false, false};
}

// Of something that has a value: undo = true brings the usual one back.
constexpr FaultWord changes(FaultAction action, FaultTarget target, FaultValue value) {
  return {action, target, value, false, true, true};
}

constexpr FaultWord strikes(FaultAction action, FaultValue value) {
  return {action, FaultTarget::kRequest, value, false, false, false};
}

constexpr FaultTarget kLinks = FaultTarget::kLinks;
constexpr FaultTarget kDevices = FaultTarget::kDevices;

constexpr std::array<Word<FaultWord>, 17> kFaultWords{{
    {"cut-link", starts(FaultAction::kCutLink, kLinks)},
    {"restore-link", ends(FaultAction::kCutLink, kLinks)},
    {"link-down", starts(FaultAction::kLinkDown, kLinks)},
    {"link-up", ends(FaultAction::kLinkDown, kLinks)},
    {"link-rate", changes(FaultAction::kLinkRate, kLinks, FaultValue::kRate)},
    {"link-loss", changes(FaultAction::kLinkLoss, kLinks, FaultValue::kLoss)},
    {"link-delay", changes(FaultAction::kLinkDelay, kLinks, FaultValue::kDelay)},
    {"port-down", starts(FaultAction::kPortDown, kDevices)},
    {"port-up", ends(FaultAction::kPortDown, kDevices)},
    {"remove-gid", starts(FaultAction::kGidRemoved, kDevices, FaultValue::kGidIndex)},
    {"add-gid", starts(FaultAction::kGidAdded, kDevices, FaultValue::kGid)},
    {"device-fatal", {FaultAction::kDeviceFatal, kDevices}},
    {"slow-receiver", changes(FaultAction::kSlowReceiver, kDevices, FaultValue::kDelay)},
    {"drop-request", strikes(FaultAction::kDropRequest, FaultValue::kTimes)},
    {"drop-acknowledgement", strikes(FaultAction::kDropAcknowledgement, FaultValue::kTimes)},
    {"delay-request", strikes(FaultAction::kDelayRequest, FaultValue::kDelay)},
    {"complete-with", strikes(FaultAction::kCompleteWith, FaultValue::kStatus)},
}};

constexpr std::array<Word<WorkKind>, 5> kWorkWords{
    {{"send", WorkKind::kSend},
     {"write", WorkKind::kWrite},
     {"write-with-immediate", WorkKind::kWriteWithImmediate},
     {"read", WorkKind::kRead},
     {"any", WorkKind::kAny}}};

}  // namespace

std::span<const Word<FaultWord>> fault_words() { return kFaultWords; }

std::span<const Word<WorkKind>> work_words() { return kWorkWords; }

std::optional<FaultKey> required_key(FaultValue value) {
  switch (value) {
    case FaultValue::kRate:
      return FaultKey{"rate", "the link's new rate, for example rate = \"10Gb/s\""};
    case FaultValue::kLoss:
      return FaultKey{"loss", "the part of the packets that vanishes, for example loss = \"0.1%\""};
    case FaultValue::kDelay:
      return FaultKey{"delay", "how long, for example delay = \"1ms\""};
    case FaultValue::kStatus:
      return FaultKey{"status", "how the request ends, for example status = \"retry-exceeded\""};
    case FaultValue::kGidIndex:
      return FaultKey{"index", "the entry's place in the GID table, for example index = 3"};
    case FaultValue::kGid:
      return FaultKey{"gid", "the entry, for example gid = { index = 4, address = \"10.8.0.9\" }"};
    case FaultValue::kNone:
    case FaultValue::kTimes:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace rocelane::softverbs
