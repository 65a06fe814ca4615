#include "settings.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "report.h"

namespace rocelane::lab {
namespace {

std::optional<uint64_t> parse(const char* text, int base) {
  const char* end = text + std::strlen(text);
  if (base == 16 && (std::strncmp(text, "0x", 2) == 0 || std::strncmp(text, "0X", 2) == 0)) {
    text += 2;
  }
  uint64_t value = 0;
  const auto [stopped_at, error] = std::from_chars(text, end, value, base);
  if (error != std::errc{} || stopped_at != end) {
    return std::nullopt;
  }
  return value;
}

struct Bounds {
  uint64_t least;
  uint64_t most;
};

Result<uint64_t> read_number(const EnvironmentReader& environment, const char* name, int base,
                             Bounds bounds, uint64_t default_value) {
  const char* text = environment(name);
  if (text == nullptr || *text == '\0') {
    return default_value;
  }
  const std::optional<uint64_t> value = parse(text, base);
  if (!value || *value < bounds.least || *value > bounds.most) {
    const auto shown = [base](uint64_t bound) {
      return base == 16 ? fmt::format("{:#x}", bound) : fmt::format("{}", bound);
    };
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{}={} is not a {} number from {} to {}", name, text,
                             base == 16 ? "hexadecimal" : "decimal", shown(bounds.least),
                             shown(bounds.most))};
  }
  return *value;
}

}  // namespace

Result<Settings> read_settings(const EnvironmentReader& environment) {
  const Settings defaults;
  const Result<uint64_t> count = read_number(environment, "ROCELANE_LAB_GPUS", 10, {1, kMaxGpus},
                                             static_cast<uint64_t>(defaults.gpu_count));
  if (!count) {
    return count.error();
  }
  const Result<uint64_t> bus =
      read_number(environment, "ROCELANE_LAB_GPU_BUS_BASE", 16, {1, 0x100 - *count},
                  static_cast<uint64_t>(defaults.first_bus));
  if (!bus) {
    return bus.error();
  }
  const Result<uint64_t> memory_mib = read_number(environment, "ROCELANE_LAB_GPU_MEMORY_MIB", 10,
                                                  {64, 1 << 20}, defaults.gpu_memory_bytes >> 20);
  if (!memory_mib) {
    return memory_mib.error();
  }
  return Settings{static_cast<int>(*count), static_cast<int>(*bus), *memory_mib << 20};
}

const Result<Settings>& settings() {
  static const Result<Settings> read = [] {
    Result<Settings> result = read_settings([](const char* name) { return std::getenv(name); });
    if (!result) {
      report(result.error().what);
    }
    return result;
  }();
  return read;
}

std::string pci_bus_id(const Settings& settings, int device) {
  return fmt::format("0000:{:02x}:00.0", settings.first_bus + device);
}

}  // namespace rocelane::lab
