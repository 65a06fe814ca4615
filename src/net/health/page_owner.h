#pragma once

// Whose page is this, and is that process still there? Reading /proc apart from judging.

#include <cstdint>
#include <functional>
#include <optional>

#include "rocelane/telemetry_page.h"

namespace rocelane::telemetry {

// This process, as far as /proc tells; what it does not tell stays 0.
OwnerFacts read_own_facts();

// When process `pid` of our PID namespace started, in ticks since boot. nullopt: there is no such
// process. 0: it cannot be said, e.g. of a zombie, which may be the first thread of a living one.
using StartTicksOf = std::function<std::optional<uint64_t>(uint32_t pid)>;
std::optional<uint64_t> read_start_ticks(uint32_t pid);

enum class OwnerFate : uint8_t {
  kRunning,
  kEnded,    // its number is free, or belongs to a younger process by now
  kUnknown,  // not ours to see, e.g. another container: only the lock on the page can tell
  kForeign,  // of another user or another host: leave it alone
};

// `me` looks at a page that `owner` left or is using. Our own number and start time do not prove
// that the page is in use: exec keeps both and drops the page.
OwnerFate fate_of(const OwnerFacts& owner, const OwnerFacts& me,
                  const StartTicksOf& start_ticks_of);

}  // namespace rocelane::telemetry
