#pragma once

// Pure translation between NCCL's structures and ours.

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>

#include "base/result.h"
#include "nccl_plugin/common.h"
#include "nccl_plugin/net_v12.h"
#include "net/plugin/net_api.h"

namespace rocelane::net::abi {

NcclResult to_nccl(ErrorCode code);

// NULL and -1 mean that the application did not choose.
Result<std::optional<uint8_t>> traffic_class_of(const NcclNetCommConfig* config);

Result<MemoryKind> memory_kind_of(const char* call, int pointer_type);

// The newest version's properties; the older ones are made from them by copy_properties.
Result<NcclNetPropertiesV12> to_nccl(const DeviceProperties& device, int index);

// Copies what an older version has room for.
template <class Older>
void copy_properties(const NcclNetPropertiesV12& newest, Older& older) {
  older = Older{};
  older.name = newest.name;
  older.pciPath = newest.pciPath;
  older.guid = newest.guid;
  older.ptrSupport = newest.ptrSupport;
  older.regIsGlobal = newest.regIsGlobal;
  older.speed = newest.speed;
  older.port = newest.port;
  older.latency = newest.latency;
  older.maxComms = newest.maxComms;
  older.maxRecvs = newest.maxRecvs;
  older.netDeviceType = newest.netDeviceType;
  older.netDeviceVersion = newest.netDeviceVersion;
  if constexpr (requires { older.vProps; }) {
    older.forceFlush = newest.forceFlush;
    older.vProps.ndevs =
        std::min(newest.vProps.ndevs, static_cast<int>(std::size(older.vProps.devs)));
    std::copy_n(newest.vProps.devs, older.vProps.ndevs, older.vProps.devs);
    older.maxP2pBytes = newest.maxP2pBytes;
    older.maxCollBytes = newest.maxCollBytes;
  }
  if constexpr (requires { older.maxMultiRequestSize; }) {
    older.maxMultiRequestSize = newest.maxMultiRequestSize;
  }
  if constexpr (requires { older.railId; }) {
    older.railId = newest.railId;
    older.planeId = newest.planeId;
  }
}

}  // namespace rocelane::net::abi
