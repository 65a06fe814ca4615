#include "net/device/port_speed.h"

#include <array>

namespace rocelane::net {
namespace {

struct Code {
  int code;
  int value;
};

constexpr std::array<Code, 5> kWires{{{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}}};

constexpr std::array<Code, 9> kMbpsPerWire{{{1, 2'500},        // SDR
                                            {2, 5'000},        // DDR
                                            {4, 10'000},       // QDR
                                            {8, 10'000},       // FDR10
                                            {16, 14'000},      // FDR
                                            {32, 25'000},      // EDR
                                            {64, 50'000},      // HDR
                                            {128, 100'000},    // NDR
                                            {256, 200'000}}};  // XDR

template <size_t Size>
std::optional<int> look_up(const std::array<Code, Size>& table, int code) {
  for (const Code& entry : table) {
    if (entry.code == code) {
      return entry.value;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<int> port_speed_mbps(int width_code, int speed_code) {
  const std::optional<int> wires = look_up(kWires, width_code);
  const std::optional<int> mbps = look_up(kMbpsPerWire, speed_code);
  if (!wires || !mbps) {
    return std::nullopt;
  }
  return *wires * *mbps;
}

}  // namespace rocelane::net
