#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"

namespace rocelane::lab {

inline constexpr int kMaxGpus = 32;

// What every emulated GPU claims to be; the runtime and the management library must agree.
inline constexpr int kComputeMajor = 9;
inline constexpr int kComputeMinor = 0;

struct Settings {
  int gpu_count = 1;
  int first_bus = 0x10;  // PCI bus of GPU 0; the others follow
  uint64_t gpu_memory_bytes = uint64_t{8} << 30;
};

// Returns the value of an environment variable, or nullptr.
using EnvironmentReader = std::function<const char*(const char* name)>;

Result<Settings> read_settings(const EnvironmentReader& environment);

// What this process was started with; read once. A bad value was reported once.
const Result<Settings>& settings();

// "0000:10:00.0" for GPU 0.
std::string pci_bus_id(const Settings& settings, int device);

}  // namespace rocelane::lab
