#include "softverbs/description/units.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>

namespace rocelane::softverbs {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array<Unit, 10> kRates{{{"b/s", 1},
                                       {"kb/s", 1e3},
                                       {"Mb/s", 1e6},
                                       {"Gb/s", 1e9},
                                       {"Tb/s", 1e12},
                                       {"B/s", 8},
                                       {"kB/s", 8e3},
                                       {"MB/s", 8e6},
                                       {"GB/s", 8e9},
                                       {"TB/s", 8e12}}};
constexpr std::array<Unit, 7> kDurations{{{"ns", 1},
                                          {"us", 1e3},
                                          {"ms", 1e6},
                                          {"s", 1e9},
                                          {"min", 60e9},
                                          {"h", 3600e9},
                                          {"d", 86400e9}}};
constexpr std::array<Unit, 7> kSizes{{{"B", 1},
                                      {"kB", 1e3},
                                      {"MB", 1e6},
                                      {"GB", 1e9},
                                      {"KiB", 0x1p10},
                                      {"MiB", 0x1p20},
                                      {"GiB", 0x1p30}}};
constexpr std::array<Unit, 1> kPercentages{{{"%", 0.01}}};

std::optional<double> parse_quantity(std::string_view text, std::span<const Unit> units,
                                     double most) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  // from_chars also reads "-1", "inf" and "nan".
  if (error != std::errc{} || !std::isfinite(number) || std::signbit(number)) {
    return std::nullopt;
  }
  std::string_view name(rest, static_cast<size_t>(end - rest));
  name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
  for (const Unit& unit : units) {
    if (unit.name == name && number * unit.factor <= most) {
      return number * unit.factor;
    }
  }
  return std::nullopt;
}

std::optional<uint64_t> whole(std::optional<double> number) {
  return number ? std::optional(static_cast<uint64_t>(std::llround(*number))) : std::nullopt;
}

}  // namespace

std::optional<double> parse_rate(std::string_view text) {
  constexpr double kLowest = 1e3;
  constexpr double kHighest = 100e12;
  if (text == "unlimited") {
    return 0.0;
  }
  const std::optional<double> rate = parse_quantity(text, kRates, kHighest);
  return rate && *rate >= kLowest ? rate : std::nullopt;
}

std::optional<uint64_t> parse_duration(std::string_view text) {
  constexpr double kLongest = 365 * 86400e9;
  return whole(parse_quantity(text, kDurations, kLongest));
}

std::optional<uint64_t> parse_bytes(std::string_view text) {
  constexpr double kMost = 0x1p40;
  return whole(parse_quantity(text, kSizes, kMost));
}

std::optional<double> parse_percentage(std::string_view text) {
  return parse_quantity(text, kPercentages, 1.0);
}

}  // namespace rocelane::softverbs
