#pragma once

// The words of fault files: what can happen, to what, and which further key it takes. Pure.

#include <optional>
#include <span>
#include <string_view>

#include "softverbs/description/fault_script.h"
#include "softverbs/description/table_reader.h"

namespace rocelane::softverbs {

enum class FaultTarget : uint8_t { kLinks, kDevices, kRequest };

enum class FaultValue : uint8_t { kNone, kRate, kLoss, kDelay, kTimes, kStatus, kGidIndex, kGid };

struct FaultWord {
  FaultAction action;
  FaultTarget target;
  FaultValue value = FaultValue::kNone;
  bool undo = false;        // the word itself undoes: "link-up"
  bool may_end = false;     // takes "for"
  bool takes_undo = false;  // takes undo = true, having no word of its own for it
};

std::span<const Word<FaultWord>> fault_words();
std::span<const Word<WorkKind>> work_words();

struct FaultKey {
  std::string_view name;
  std::string_view example;  // what to write when it is missing
};

// The key without which a fault says nothing.
std::optional<FaultKey> required_key(FaultValue value);

}  // namespace rocelane::softverbs
