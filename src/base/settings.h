#pragma once

// What a user can set. Read once, checked as a whole, then constant. The rows are in
// settings_table.cpp.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/settings_address.h"

namespace rocelane {

// Names and values of a process environment. The real one: settings_environment.h.
using Environment = std::map<std::string, std::string, std::less<>>;

enum class Setting : uint8_t {
  kDevices,
  kGidIndex,
  kAddressFamily,
  kAddressRange,
  kRoceVersion,
  kTrafficClass,
  kControlTrafficClass,
  kServiceLevel,
  kPkeyIndex,
  kMtu,
  kLanes,
  kAckTimeout,
  kRetryCount,
  kRelaxedOrdering,
  kGpuDirect,
  kConnectTimeout,
  kSocketInterface,
  kSocketFamily,
};
inline constexpr size_t kSettingCount = 18;

enum class RelaxedOrdering : uint8_t { kOff, kOn, kIfSupported };
enum class GpuDirect : uint8_t { kAuto, kOn, kOff };

struct SettingSource {
  std::string variable;  // empty: nobody set it, the default holds
  std::string text;      // the value as it was written
};

// std::nullopt stands for "auto" wherever a member is optional.
struct Settings {
  std::string devices;  // grammar: net/device/device_filter.h; empty selects all
  std::optional<int> gid_index;
  AddressFamily address_family = AddressFamily::kAny;
  std::optional<AddressRange> address_range;
  std::optional<int> roce_version;   // 1 or 2
  std::optional<int> traffic_class;  // 0..255, like everything here within the bounds of its row
  std::optional<int> control_traffic_class;
  int service_level = 0;
  int pkey_index = 0;
  std::optional<int> mtu_bytes;  // an upper bound: 256, 512, 1024, 2048 or 4096
  int lanes = 0;
  int ack_timeout = 0;  // exponent: 4.096 us x 2^n
  int retry_count = 0;
  RelaxedOrdering relaxed_ordering = RelaxedOrdering::kIfSupported;
  GpuDirect gpu_direct = GpuDirect::kAuto;
  int connect_timeout_ms = 0;
  std::string socket_interface;  // grammar: net/device/socket_interface.h; empty: automatic
  AddressFamily socket_family = AddressFamily::kAny;

  std::array<SettingSource, kSettingCount> sources;
  // Sentences; whoever loads the settings shows each once.
  std::vector<std::string> warnings;  // a name that is probably misspelt
  std::vector<std::string> notes;     // worth knowing when somebody asks (NCCL_DEBUG=INFO)
};

// Reads and checks everything. All mistakes come back in one sentence; nothing is clipped or
// guessed. Variables that look like ours or like a misspelt alias are named in Settings::warnings.
Result<Settings> load_settings(const Environment& environment);

// As load_settings({}): what holds when nobody sets anything.
Settings default_settings();

const SettingSource& source_of(const Settings& settings, Setting setting);
inline bool is_set(const Settings& settings, Setting setting) {
  return !source_of(settings, setting).variable.empty();
}

// For sentences: "NCCL_IB_TC=106" when a user set it, else "ROCELANE_TRAFFIC_CLASS=auto (the
// default)".
std::string where_from(const Settings& settings, Setting setting);

// For the start report, one line: first what a user set and with which variable, then the defaults.
std::string describe(const Settings& settings);

}  // namespace rocelane
