#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "softverbs/description/device_names.h"
#include "softverbs/description/fault_words.h"
#include "softverbs/description/link_names.h"
#include "softverbs/description/read_files.h"
#include "softverbs/description/read_gid.h"
#include "softverbs/description/toml_file.h"
#include "softverbs/description/words.h"

namespace rocelane::softverbs {
namespace {

// What names are looked up in, and how many they may still stand for.
struct Surroundings {
  const RunDescription& run;
  const Topology& topology;
  size_t targets_left = 1 << 22;
};

// Numbers of all that the names below `key` stand for, ascending.
template <class Lookup, class Advice>
std::vector<int> read_targets(TableReader& table, std::string_view key, std::string_view thing,
                              Surroundings& around, const Lookup& lookup, const Advice& advice) {
  std::vector<int> targets;
  for (const std::string& name : table.texts(key).value_or(std::vector<std::string>{})) {
    const std::vector<int> found = lookup(name);
    if (found.empty()) {
      table.refuse(key, fmt::format("{} names no {}", quoted(name), thing), advice(name));
      return {};
    }
    if (found.size() > around.targets_left) {
      table.refuse(key, "the file's names stand for millions of links or devices",
                   "fewer faults or narrower names");
      return {};
    }
    around.targets_left -= found.size();
    targets.insert(targets.end(), found.begin(), found.end());
  }
  std::sort(targets.begin(), targets.end());
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  return targets;
}

std::vector<int> read_links(TableReader& table, Surroundings& around) {
  const Topology& topology = around.topology;
  return read_targets(
      table, "link", "link", around,
      [&topology](const std::string& name) { return topology.links_named(name); },
      [&topology](const std::string& name) { return link_name_advice(name, topology); });
}

std::vector<int> read_devices(TableReader& table, Surroundings& around) {
  const auto& devices = around.run.devices;
  return read_targets(
      table, "device", "device", around,
      [&devices](const std::string& name) { return devices_named(name, devices); },
      [&devices](const std::string& name) { return device_name_advice(name, devices); });
}

// The device whose work requests are counted.
int read_counted_device(TableReader& on, const RunDescription& run) {
  constexpr int kAny = -1;
  const std::optional<std::string> name = on.text("device");
  if (!name) {
    return kAny;
  }
  const std::vector<int> found = devices_named(*name, run.devices);
  if (found.size() == 1) {
    return found.front();
  }
  if (found.empty()) {
    on.refuse("device", quoted(*name) + " names no device", device_name_advice(*name, run.devices));
  } else if (found.size() != run.devices.size()) {
    on.refuse("device", fmt::format("{} names {} devices", quoted(*name), found.size()),
              "the name of one, or leave it out to count the requests of all");
  }
  return kAny;
}

void read_work_trigger(TableReader& on, const RunDescription& run, FaultTrigger& trigger) {
  trigger.by_time = false;
  trigger.device = read_counted_device(on, run);
  trigger.work = on.one_of<WorkKind>("work", work_words()).value_or(WorkKind::kAny);
  trigger.number = on.integer<uint64_t>("number", 1, INT64_MAX).value_or(1);
  on.refuse_other_keys();
}

FaultTrigger read_trigger(TableReader& table, const RunDescription& run) {
  FaultTrigger trigger;
  trigger.at_ns = table.duration("at").value_or(0);
  if (std::optional<TableReader> on = table.table("on")) {
    read_work_trigger(*on, run, trigger);
  }
  return trigger;
}

void read_value(TableReader& table, FaultValue value, Fault& fault) {
  switch (value) {
    case FaultValue::kNone:
      break;
    case FaultValue::kRate:
      fault.value = table.rate("rate").value_or(0);
      break;
    case FaultValue::kLoss:
      fault.value = table.probability("loss").value_or(0);
      break;
    case FaultValue::kDelay:
      fault.value = static_cast<double>(table.duration("delay").value_or(0));
      break;
    case FaultValue::kTimes:
      fault.times = table.integer<uint32_t>("times", 1, UINT32_MAX).value_or(0);
      break;
    case FaultValue::kStatus:
      fault.status = table.one_of<int>("status", completion_status_words()).value_or(0);
      fault.vendor_error = table.integer<uint32_t>("vendor_error", 0, UINT32_MAX).value_or(0);
      break;
    case FaultValue::kGidIndex:
      fault.gid.index = table.integer<int>("index", 0, kMostGids - 1).value_or(0);
      break;
    case FaultValue::kGid:
      if (const std::optional<TableReader> gid = table.table("gid")) {
        fault.gid = read_gid(*gid).value_or(GidDescription{});
      }
      break;
  }
}

// What must be there, once every key that is there is known to be right.
void refuse_what_is_missing(TableReader& table, const FaultWord& what, const Fault& fault) {
  const auto need = [&table](std::string_view key, std::string_view instead) {
    if (!table.has(key)) {
      table.refuse(key, "missing", instead);
    }
  };
  if (what.target == FaultTarget::kRequest) {
    need("on",
         "which work request, for example on = { device = \"host1/soft_0\", work = "
         "\"write\", number = 37 }");
  } else if (!table.has("at")) {
    need("on",
         "when: at = \"200ms\" or on = { device = \"host1/soft_0\", work = \"write\", "
         "number = 37 }");
  }
  if (what.target == FaultTarget::kLinks) {
    need("link", "which link, for example link = \"leaf1-spine2\"");
  }
  if (what.target == FaultTarget::kDevices) {
    need("device", "which device, for example device = \"host1/soft_0\"");
  }
  if (const std::optional<FaultKey> key = required_key(what.value); key && !fault.undo) {
    need(key->name, key->example);
  }
}

void judge(TableReader& table, const FaultWord& what, const Fault& fault) {
  if (table.has("at") && what.target == FaultTarget::kRequest) {
    table.refuse("at", "this happens to a work request and not at a time",
                 "which one, for example on = { device = \"host1/soft_0\", work = \"write\", "
                 "number = 37 }");
  }
  if (table.has("at") && table.has("on")) {
    table.refuse("on", "at and on exclude each other", "one of them");
  }
  if (fault.undo && fault.duration_ns != 0) {
    table.refuse("for", "what is undone has no duration", "the fault without it");
  }
  if (fault.undo && !what.undo && required_key(what.value) &&
      table.has(required_key(what.value)->name)) {
    table.refuse(required_key(what.value)->name, "undo brings back what the fabric file says",
                 "the fault without it");
  }
  refuse_what_is_missing(table, what, fault);
}

Fault read_fault(TableReader& table, Surroundings& around) {
  Fault fault;
  fault.line = static_cast<int>(table.line());
  const std::optional<FaultWord> what = table.one_of<FaultWord>("do", fault_words());
  if (!what) {
    if (!table.has("do")) {
      table.refuse("do", "missing", "what happens, for example do = \"link-down\"");
    }
    return fault;
  }
  fault.action = what->action;
  fault.undo = what->undo;
  fault.trigger = read_trigger(table, around.run);
  if (what->target == FaultTarget::kLinks) {
    fault.links = read_links(table, around);
  }
  if (what->target == FaultTarget::kDevices) {
    fault.devices = read_devices(table, around);
  }
  if (what->may_end) {
    fault.duration_ns = table.duration("for").value_or(0);
  }
  if (what->takes_undo) {
    fault.undo = table.flag("undo").value_or(false);
  }
  read_value(table, what->value, fault);
  table.refuse_other_keys();
  judge(table, *what, fault);
  return fault;
}

}  // namespace

Result<FaultScript> read_faults(std::string_view text, const std::string& file,
                                const RunDescription& run) {
  Mistakes mistakes(file);
  FaultScript script;
  if (const std::optional<toml::table> root = parse_toml(text, mistakes)) {
    TableReader reader(*root, "", mistakes);
    std::vector<TableReader> tables = reader.tables("fault");
    reader.refuse_other_keys();
    const Topology topology(run);
    Surroundings around{run, topology};
    for (TableReader& table : tables) {
      if (!mistakes.any()) {
        script.faults.push_back(read_fault(table, around));
      }
    }
  }
  if (mistakes.any()) {
    return mistakes.error();
  }
  return script;
}

}  // namespace rocelane::softverbs
