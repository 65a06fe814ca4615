#include "net/abi/translate.h"

#include <limits>

#include <fmt/format.h>

namespace rocelane::net::abi {
namespace {

int16_t number_or_undefined(const std::optional<int>& number) {
  return static_cast<int16_t>(number.value_or(kNcclNetUndefined));
}

}  // namespace

NcclResult to_nccl(ErrorCode code) {
  switch (code) {
    case ErrorCode::kSystem:
      return kNcclSystemError;
    case ErrorCode::kInternal:
      return kNcclInternalError;
    case ErrorCode::kInvalidArgument:
      return kNcclInvalidArgument;
    case ErrorCode::kInvalidUsage:
      return kNcclInvalidUsage;
    case ErrorCode::kRemote:
      return kNcclRemoteError;
  }
  return kNcclInternalError;
}

Result<std::optional<uint8_t>> traffic_class_of(const NcclNetCommConfig* config) {
  if (config == nullptr || config->trafficClass == kNcclNetUndefined) {
    return std::optional<uint8_t>();
  }
  const int value = config->trafficClass;
  if (value < 0 || value > std::numeric_limits<uint8_t>::max()) {
    return Error{
        ErrorCode::kInvalidArgument,
        fmt::format("The communicator's trafficClass is {}, but an IP traffic class is 0 to "
                    "255: set ncclConfig_t.trafficClass to such a value or leave it out.",
                    value)};
  }
  return std::optional<uint8_t>(static_cast<uint8_t>(value));
}

Result<MemoryKind> memory_kind_of(const char* call, int pointer_type) {
  switch (pointer_type) {
    case kNcclPointerHost:
      return MemoryKind::kHost;
    case kNcclPointerCuda:
      return MemoryKind::kGpu;
    default:
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("{} was called for memory of type {}, but only host memory (1) and "
                               "GPU memory (2) can be registered.",
                               call, pointer_type)};
  }
}

Result<NcclNetPropertiesV12> to_nccl(const DeviceProperties& device, int index) {
  if (device.name == nullptr || device.max_message_bytes == 0) {
    return Error{ErrorCode::kInternal,
                 fmt::format("Device {} came up without {}: please report this.", index,
                             device.name == nullptr ? "a name" : "a maximum message size")};
  }
  NcclNetPropertiesV12 properties{};
  properties.name = const_cast<char*>(device.name);         // NCCL never writes to either
  properties.pciPath = const_cast<char*>(device.pci_path);  // NULL: NCCL puts it next to the CPU
  properties.guid = device.guid;
  properties.ptrSupport = kNcclPointerHost | (device.gpu_memory ? kNcclPointerCuda : 0) |
                          (device.dma_buf ? kNcclPointerDmaBuf : 0);
  // A Registration belongs to one connection. Promising more would make NCCL register user buffers
  // on a loopback connection and expect the others to know them.
  properties.regIsGlobal = 0;
  properties.forceFlush = 0;
  properties.speed = device.speed_mbps;
  properties.port = device.port;
  properties.latency = 0;  // NCCL's own assumption
  properties.maxComms = device.max_connections;
  properties.maxRecvs = kMaxGroupedReceives;
  properties.netDeviceType = kNcclNetDeviceHost;
  properties.netDeviceVersion = 0;
  const size_t members = std::min(device.members.size(), std::size(properties.vProps.devs));
  properties.vProps.ndevs = static_cast<int>(members);
  std::copy_n(device.members.begin(), members, properties.vProps.devs);
  properties.maxP2pBytes = std::min<size_t>(device.max_message_bytes, kNcclNetMaxBytes);
  properties.maxCollBytes = properties.maxP2pBytes;
  properties.maxMultiRequestSize = 1;
  properties.railId = number_or_undefined(device.rail);
  properties.planeId = number_or_undefined(device.plane);
  return properties;
}

}  // namespace rocelane::net::abi
