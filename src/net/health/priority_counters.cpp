#include "net/health/priority_counters.h"

#include <string_view>

namespace rocelane::telemetry {
namespace {

// What stands around the priority's digit.
struct Spelling {
  std::string_view before;
  std::string_view after;
};

constexpr std::array kSent{Spelling{"tx_prio", "_bytes"}, Spelling{"tx_prio_", "_bytes"},
                           Spelling{"tx_bytes_pri", ""}};
constexpr std::array kReceived{Spelling{"rx_prio", "_bytes"}, Spelling{"rx_prio_", "_bytes"},
                               Spelling{"rx_bytes_pri", ""}};

std::optional<size_t> priority_in(std::string_view name, const Spelling& spelling) {
  if (name.size() != spelling.before.size() + 1 + spelling.after.size() ||
      !name.starts_with(spelling.before) || !name.ends_with(spelling.after)) {
    return std::nullopt;
  }
  const char digit = name[spelling.before.size()];
  if (digit < '0' || digit > '7') {
    return std::nullopt;
  }
  return static_cast<size_t>(digit - '0');
}

// True when every priority was found.
bool collect(std::span<const Statistic> statistics, std::span<const Spelling> spellings,
             std::array<uint64_t, kPriorities>& bytes) {
  unsigned found = 0;
  for (const Statistic& statistic : statistics) {
    for (const Spelling& spelling : spellings) {
      if (const auto priority = priority_in(statistic.name, spelling)) {
        bytes[*priority] = statistic.value;
        found |= 1U << *priority;
      }
    }
  }
  return found == (1U << kPriorities) - 1;
}

}  // namespace

std::optional<PriorityBytes> priority_bytes(std::span<const Statistic> statistics) {
  PriorityBytes bytes;
  if (!collect(statistics, kSent, bytes.sent) || !collect(statistics, kReceived, bytes.received)) {
    return std::nullopt;
  }
  return bytes;
}

}  // namespace rocelane::telemetry
