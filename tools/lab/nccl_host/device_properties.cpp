#include "nccl_host/device_properties.h"

#include <string>

#include <fmt/format.h>

namespace rocelane::nccl_host {

Status check_properties(int device, const NcclNetPropertiesV12& properties) {
  const auto wrong = [&](const std::string& what) {
    return Error{
        ErrorCode::kInternal,
        fmt::format("getProperties({}) gives {}: NCCL would refuse or misread it.", device, what)};
  };
  if (properties.name == nullptr || properties.name[0] == '\0') {
    return wrong("no name");
  }
  if (properties.speed <= 0) {
    return wrong(fmt::format("a speed of {} Mbit/s", properties.speed));
  }
  if (properties.maxRecvs < 1) {
    return wrong(fmt::format("maxRecvs {}", properties.maxRecvs));
  }
  if ((properties.ptrSupport & kNcclPointerHost) == 0) {
    return wrong(fmt::format("ptrSupport {} without host memory", properties.ptrSupport));
  }
  if (properties.netDeviceType != kNcclNetDeviceHost) {
    return wrong(fmt::format("netDeviceType {}", static_cast<int>(properties.netDeviceType)));
  }
  for (const size_t most : {properties.maxP2pBytes, properties.maxCollBytes}) {
    if (most == 0 || most > kNcclNetMaxBytes) {
      return wrong(fmt::format("maxP2pBytes {} and maxCollBytes {}", properties.maxP2pBytes,
                               properties.maxCollBytes));
    }
  }
  return {};
}

}  // namespace rocelane::nccl_host
