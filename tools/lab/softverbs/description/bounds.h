#pragma once

// How large a run may be.

namespace rocelane::softverbs {

constexpr int kMostHosts = 1024;
constexpr int kMostRails = 16;
constexpr int kMostDevices = 4096;
constexpr int kMostLagPorts = 8;
constexpr int kMostSpines = 256;
constexpr int kMostSges = 32;      // of a work request
constexpr int kMostLinks = 65535;  // paths hold their numbers in 16 bits

}  // namespace rocelane::softverbs
