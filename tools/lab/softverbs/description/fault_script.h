#pragma once

// Disasters by script: what happens, and when.

#include <cstdint>
#include <string>
#include <vector>

#include "softverbs/description/run_description.h"

namespace rocelane::softverbs {

enum class WorkKind : uint8_t { kSend, kWrite, kWriteWithImmediate, kRead, kAny };

enum class FaultAction : uint8_t {
  // Links. A cut loses everything silently; a link that is down is avoided by the switches after
  // FabricDescription::reroute_ns.
  kCutLink,
  kLinkDown,
  kLinkRate,   // value: bits per second, 0 unlimited
  kLinkLoss,   // value: probability
  kLinkDelay,  // value: nanoseconds
  // Devices.
  kPortDown,  // with its event; nothing leaves or arrives
  kGidRemoved,
  kGidAdded,
  kDeviceFatal,   // with its event; every call fails from then on
  kSlowReceiver,  // everything arriving at the device waits `value` ns more
  // Work requests.
  kDropRequest,          // packets of the request never arrive
  kDropAcknowledgement,  // they arrive, and their sender never learns of it
  kDelayRequest,         // they arrive `value` ns late; later ones overtake, other queue pairs' too
  kCompleteWith,         // the request ends with `status` and never leaves
};

// Either a time since the run began, or the n-th work request of a kind at a device.
struct FaultTrigger {
  bool by_time = true;
  uint64_t at_ns = 0;
  int device = -1;  // -1: any
  WorkKind work = WorkKind::kAny;
  uint64_t number = 0;  // counted from 1, retransmissions not counted
};

struct Fault {
  FaultTrigger trigger;
  FaultAction action = FaultAction::kCutLink;
  std::vector<int> links;    // link actions: numbers of fabric/topology.h
  std::vector<int> devices;  // device actions
  uint64_t duration_ns = 0;  // link and device actions: undone after it; 0: never
  bool undo = false;         // restores what the same action has done, for example link up
  uint32_t times = 0;        // drop actions: transmissions of the request; 0: all of them
  double value = 0;
  int status = 0;             // kCompleteWith: ibv_wc_status
  uint32_t vendor_error = 0;  // kCompleteWith
  GidDescription gid;         // kGidRemoved: the index; kGidAdded: all of it
  int line = 0;               // of the file
};

struct FaultScript {
  std::vector<Fault> faults;  // as in the file
};

}  // namespace rocelane::softverbs
