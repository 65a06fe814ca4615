#include "softverbs/timed/faults.h"

#include "softverbs/engine/addresses.h"
#include "softverbs/engine/async_events.h"
#include "softverbs/timed/event_log.h"
#include "softverbs/timed/event_queue.h"
#include "softverbs/timed/links.h"

namespace rocelane::softverbs::timed {
namespace {

constexpr uint64_t kFaultOwner = uint64_t{1} << 40;

const Fault& fault_at(const Run& run, uint32_t number) { return run.faults().faults[number]; }

WorkKind kind_of(const SendEntry& entry) {
  switch (entry.opcode) {
    case IBV_WR_RDMA_WRITE:
      return WorkKind::kWrite;
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return WorkKind::kWriteWithImmediate;
    case IBV_WR_RDMA_READ:
      return WorkKind::kRead;
    default:
      return WorkKind::kSend;
  }
}

bool concerns_requests(FaultAction action) {
  return action == FaultAction::kDropRequest || action == FaultAction::kDropAcknowledgement ||
         action == FaultAction::kDelayRequest || action == FaultAction::kCompleteWith;
}

bool matches(const FaultTrigger& trigger, const QueuePair& pair, const SendEntry& entry) {
  return !trigger.by_time &&
         (trigger.device < 0 || static_cast<uint32_t>(trigger.device) == pair.device) &&
         (trigger.work == WorkKind::kAny || trigger.work == kind_of(entry));
}

void reroute_now(Run& run) { run.fabric().path_epoch.fetch_add(1); }

void set_link(Run& run, const Fault& fault, uint32_t number, bool on) {
  LinkState& link = run.link(number);
  const LinkProperties& described = run.topology().links()[number].properties;
  switch (fault.action) {
    case FaultAction::kCutLink:
      link.cut = on;
      return;
    case FaultAction::kLinkDown:
      link.down = on;
      if (on) {
        link.avoided_from_ns = run.now_ns() + run.description().fabric.reroute_ns;
        schedule(run, link.avoided_from_ns, Event::Kind::kRerouted, number, kFaultOwner);
      } else {
        reroute_now(run);
      }
      return;
    case FaultAction::kLinkRate:
      set_rate(run, number, on ? fault.value : described.rate_bits_per_s);
      return;
    case FaultAction::kLinkLoss:
      link.loss = on ? fault.value : described.loss;
      return;
    case FaultAction::kLinkDelay:
      link.delay_ns = on ? static_cast<uint64_t>(fault.value) : described.delay_ns;
      return;
    default:
      return;
  }
}

void set_port(Run& run, uint32_t number, bool up) {
  Device& device = run.device(number);
  if (device.port_up.exchange(up) == up) {
    return;
  }
  if (!up) {
    device.counters.port_down_events.add(1);
  }
  raise_device_event(run, number, up ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR);
}

void set_gid(Run& run, const Fault& fault, uint32_t number, bool on) {
  const auto index = static_cast<uint32_t>(fault.gid.index);
  const bool fill = (fault.action == FaultAction::kGidAdded) == on;
  if (fill) {
    const GidDescription* gid = &fault.gid;
    // Undoing a removal brings back what the description has there.
    if (fault.action == FaultAction::kGidRemoved) {
      gid = nullptr;
      for (const GidDescription& described : run.description().devices[number].gids) {
        if (described.index == fault.gid.index) {
          gid = &described;
        }
      }
    }
    write_gid(run, number, index, gid);
  } else {
    write_gid(run, number, index, nullptr);
  }
  raise_device_event(run, number, IBV_EVENT_GID_CHANGE);
}

void set_device(Run& run, const Fault& fault, uint32_t number, bool on) {
  Device& device = run.device(number);
  switch (fault.action) {
    case FaultAction::kPortDown:
      set_port(run, number, !on);
      return;
    case FaultAction::kGidRemoved:
    case FaultAction::kGidAdded:
      set_gid(run, fault, number, on);
      return;
    case FaultAction::kDeviceFatal:
      device.fatal.store(on);
      if (on) {
        raise_device_event(run, number, IBV_EVENT_DEVICE_FATAL);
      }
      return;
    case FaultAction::kSlowReceiver:
      device.slow_ns.store(on ? static_cast<uint64_t>(fault.value) : 0);
      return;
    default:
      return;
  }
}

void apply(Run& run, const Fault& fault, bool on) {
  for (const int link : fault.links) {
    set_link(run, fault, static_cast<uint32_t>(link), on);
  }
  for (const int device : fault.devices) {
    set_device(run, fault, static_cast<uint32_t>(device), on);
  }
}

bool hits_this_transmission(const Fault& fault, const SendEntry& entry) {
  return fault.times == 0 || entry.transmissions <= fault.times;
}

bool has_action(const Run& run, const SendEntry& entry, FaultAction action) {
  return entry.fault != kNone && fault_at(run, entry.fault).action == action;
}

}  // namespace

void schedule_faults(Run& run, uint32_t first, uint64_t origin_ns) {
  const auto count = static_cast<uint32_t>(run.faults().faults.size());
  for (uint32_t number = first; number < count; ++number) {
    const FaultTrigger& trigger = fault_at(run, number).trigger;
    if (trigger.by_time) {
      schedule(run, origin_ns + trigger.at_ns, Event::Kind::kFault, number, kFaultOwner);
    }
  }
}

void notice_request(Run& run, const QueuePair& pair, SendEntry& entry) {
  const auto count = static_cast<uint32_t>(run.faults().faults.size());
  uint64_t* counts = run.at(run.fabric().fault_counts);
  for (uint32_t number = 0; number < count; ++number) {
    const Fault& fault = fault_at(run, number);
    if (!matches(fault.trigger, pair, entry) || ++counts[number] != fault.trigger.number) {
      continue;
    }
    if (concerns_requests(fault.action)) {
      entry.fault = number;
      log_fault(run, "aimed", number);
    } else {
      carry_out(run, number);
    }
  }
}

void carry_out(Run& run, uint32_t number) {
  const Fault& fault = fault_at(run, number);
  log_fault(run, "happens", number);
  apply(run, fault, !fault.undo);
  if (fault.duration_ns > 0) {
    schedule(run, run.now_ns() + fault.duration_ns, Event::Kind::kFaultOver, number, kFaultOwner);
  }
}

void undo(Run& run, uint32_t number) {
  const Fault& fault = fault_at(run, number);
  log_fault(run, "over", number);
  apply(run, fault, fault.undo);
}

std::optional<Ending> forced_ending(const Run& run, const SendEntry& entry) {
  if (!has_action(run, entry, FaultAction::kCompleteWith)) {
    return std::nullopt;
  }
  const Fault& fault = fault_at(run, entry.fault);
  return Ending{static_cast<uint32_t>(fault.status), fault.vendor_error};
}

bool drops_request(const Run& run, const SendEntry& entry) {
  return has_action(run, entry, FaultAction::kDropRequest) &&
         hits_this_transmission(fault_at(run, entry.fault), entry);
}

bool drops_acknowledgement(const Run& run, const SendEntry& entry) {
  return has_action(run, entry, FaultAction::kDropAcknowledgement) &&
         hits_this_transmission(fault_at(run, entry.fault), entry);
}

uint64_t extra_delay_ns(const Run& run, const SendEntry& entry) {
  return has_action(run, entry, FaultAction::kDelayRequest) && entry.transmissions == 1
             ? static_cast<uint64_t>(fault_at(run, entry.fault).value)
             : 0;
}

}  // namespace rocelane::softverbs::timed
