#pragma once

// Quantities with their units, as files write them. Nothing when the text is no such quantity or
// out of range. Pure; any thread.

#include <cstdint>
#include <optional>
#include <string_view>

namespace rocelane::softverbs {

// Bits per second: "100Gb/s", "12.5GB/s"; 0 for "unlimited". 1kb/s to 100Tb/s.
std::optional<double> parse_rate(std::string_view text);

// Nanoseconds: "200ms", "1.5us", "2h". Up to 365 days.
std::optional<uint64_t> parse_duration(std::string_view text);

// Bytes: "256KiB" (1024) or "256kB" (1000), "4096B". Up to 1 TiB.
std::optional<uint64_t> parse_bytes(std::string_view text);

// 0 to 1: "0.1%".
std::optional<double> parse_percentage(std::string_view text);

}  // namespace rocelane::softverbs
