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
#include "base/settings_file.h"

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
  kSmallMessageTrafficClass,
  kSmallMessageBytes,
  kServiceLevel,
  kPkeyIndex,
  kMtu,
  kLanes,
  kStripeBytes,
  kAckTimeout,
  kRetryCount,
  kRelaxedOrdering,
  kGpuDirect,
  kConnectTimeout,
  kSocketInterface,
  kSocketFamily,
  kTelemetry,
  kTelemetryDirectory,
};
inline constexpr size_t kSettingCount = 23;

enum class RelaxedOrdering : uint8_t { kOff, kOn, kIfSupported };
enum class GpuDirect : uint8_t { kAuto, kOn, kOff };

// Whose word a value is; the earlier one wins.
enum class SettingOrigin : uint8_t {
  kVariable,  // ROCELANE_…
  kFile,      // the file that ROCELANE_CONFIG_FILE names
  kAlias,     // what NCCL's own transport calls it
  kDefault,
};

struct SettingSource {
  SettingOrigin origin = SettingOrigin::kDefault;
  std::string name;   // of the variable, or the key in the file; empty for a default
  std::string text;   // the value as it was written
  std::string place;  // "/etc/rocelane.toml:12"; empty unless it comes from the file
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
  std::optional<int> small_message_traffic_class;  // auto: as data
  int small_message_bytes = 0;                     // the largest message that is small
  int service_level = 0;
  int pkey_index = 0;
  std::optional<int> mtu_bytes;  // an upper bound: 256, 512, 1024, 2048 or 4096
  int lanes = 0;
  int stripe_bytes = 0;  // the least a lane gets of a striped message; a multiple of 128
  int ack_timeout = 0;   // exponent: 4.096 us x 2^n
  int retry_count = 0;
  RelaxedOrdering relaxed_ordering = RelaxedOrdering::kIfSupported;
  GpuDirect gpu_direct = GpuDirect::kAuto;
  int connect_timeout_ms = 0;
  std::string socket_interface;  // grammar: net/device/socket_interface.h; empty: automatic
  AddressFamily socket_family = AddressFamily::kAny;
  bool telemetry = true;
  std::string telemetry_directory;  // an absolute path

  std::array<SettingSource, kSettingCount> sources;
  // Sentences; whoever loads the settings shows each once.
  std::vector<std::string> warnings;  // a name that is probably misspelt
  std::vector<std::string> notes;     // worth knowing when somebody asks (NCCL_DEBUG=INFO)
};

struct JudgedSettings {
  // Where a value breaks its rule the default stands in, while the source keeps what was written.
  Settings settings;
  std::vector<std::string> mistakes;  // sentences without an end; a start with one is refused
};

// Reads and checks everything: nothing is clipped or guessed. `read_file` is called at most once,
// for the file that ROCELANE_CONFIG_FILE names.
JudgedSettings judge_settings(const Environment& environment,
                              const ReadTextFile& read_file = read_text_file);

// The same for a start. All mistakes come back in one sentence, with what is probably misspelt.
Result<Settings> load_settings(const Environment& environment,
                               const ReadTextFile& read_file = read_text_file);

// As load_settings({}): what holds when nobody sets anything.
Settings default_settings();

const SettingSource& source_of(const Settings& settings, Setting setting);
inline bool is_set(const Settings& settings, Setting setting) {
  return source_of(settings, setting).origin != SettingOrigin::kDefault;
}

// For sentences: "NCCL_IB_TC=106", "traffic_class=106 in /etc/rocelane.toml:12", or
// "ROCELANE_TRAFFIC_CLASS=auto (the default)".
std::string where_from(const Settings& settings, Setting setting);

// The start report, in lines that fit into one of NCCL's log: first what a user set and where, then
// the defaults by their keys.
std::vector<std::string> start_report(const Settings& settings);

// The start report in one line.
std::string describe(const Settings& settings);

}  // namespace rocelane
