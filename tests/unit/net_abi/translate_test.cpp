#include "net/abi/translate.h"

#include <cstring>

#include <gtest/gtest.h>

#include "nccl_plugin/net_v10.h"
#include "nccl_plugin/net_v11.h"
#include "nccl_plugin/net_v8.h"
#include "nccl_plugin/net_v9.h"

namespace rocelane::net::abi {
namespace {

DeviceProperties rail_three() {
  DeviceProperties device;
  device.name = "mlx5_3";
  device.members = {3};
  device.pci_path = "/sys/devices/pci0000:00/0000:3b:00.0";
  device.guid = 0x1122334455667788;
  device.speed_mbps = 400000;
  device.port = 1;
  device.max_connections = 65536;
  device.max_message_bytes = size_t{1} << 30;
  return device;
}

TEST(ErrorTranslation, GivesEveryCodeItsNcclResult) {
  EXPECT_EQ(to_nccl(ErrorCode::kSystem), kNcclSystemError);
  EXPECT_EQ(to_nccl(ErrorCode::kInternal), kNcclInternalError);
  EXPECT_EQ(to_nccl(ErrorCode::kInvalidArgument), kNcclInvalidArgument);
  EXPECT_EQ(to_nccl(ErrorCode::kInvalidUsage), kNcclInvalidUsage);
  EXPECT_EQ(to_nccl(ErrorCode::kRemote), kNcclRemoteError);
}

TEST(ErrorTranslation, NeverCallsAnUnknownCodeASuccess) {
  EXPECT_EQ(to_nccl(static_cast<ErrorCode>(200)), kNcclInternalError);
}

TEST(TrafficClassTranslation, TakesNullAndMinusOneForNoChoice) {
  EXPECT_FALSE(traffic_class_of(nullptr)->has_value());
  const NcclNetCommConfig undefined{kNcclNetUndefined};
  EXPECT_FALSE(traffic_class_of(&undefined)->has_value());
}

TEST(TrafficClassTranslation, TakesTheWholeByte) {
  for (const int value : {0, 106, 255}) {
    const NcclNetCommConfig config{value};
    EXPECT_EQ(traffic_class_of(&config)->value(), value);
  }
}

TEST(TrafficClassTranslation, RefusesWhatIsNoByteAndNamesIt) {
  for (const int value : {-2, 256, 1 << 30}) {
    const NcclNetCommConfig config{value};
    const auto translated = traffic_class_of(&config);
    ASSERT_FALSE(translated.ok()) << value;
    EXPECT_EQ(translated.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(translated.error().what.find(std::to_string(value)), std::string::npos);
  }
}

TEST(MemoryKindTranslation, KnowsHostAndGpuOnly) {
  EXPECT_EQ(*memory_kind_of("regMr", kNcclPointerHost), MemoryKind::kHost);
  EXPECT_EQ(*memory_kind_of("regMr", kNcclPointerCuda), MemoryKind::kGpu);
  for (const int type : {0, 3, 4, -1}) {
    EXPECT_FALSE(memory_kind_of("regMr", type).ok()) << type;
  }
}

TEST(PropertiesTranslation, FillsTheNewestVersion) {
  const auto properties = to_nccl(rail_three(), 3);
  ASSERT_TRUE(properties.ok());
  EXPECT_STREQ(properties->name, "mlx5_3");
  EXPECT_STREQ(properties->pciPath, "/sys/devices/pci0000:00/0000:3b:00.0");
  EXPECT_EQ(properties->guid, 0x1122334455667788U);
  EXPECT_EQ(properties->ptrSupport, kNcclPointerHost);
  EXPECT_EQ(properties->regIsGlobal, 0);
  EXPECT_EQ(properties->forceFlush, 0);
  EXPECT_EQ(properties->speed, 400000);
  EXPECT_EQ(properties->port, 1);
  EXPECT_FLOAT_EQ(properties->latency, 0.0F);
  EXPECT_EQ(properties->maxComms, 65536);
  EXPECT_EQ(properties->maxRecvs, 8);
  EXPECT_EQ(properties->netDeviceType, kNcclNetDeviceHost);
  EXPECT_EQ(properties->netDeviceVersion, 0);
  EXPECT_EQ(properties->vProps.ndevs, 1);
  EXPECT_EQ(properties->vProps.devs[0], 3);
  EXPECT_EQ(properties->maxP2pBytes, size_t{1} << 30);
  EXPECT_EQ(properties->maxCollBytes, size_t{1} << 30);
  EXPECT_EQ(properties->maxMultiRequestSize, 1);
  EXPECT_EQ(properties->railId, -1);
  EXPECT_EQ(properties->planeId, -1);
}

TEST(PropertiesTranslation, OffersGpuMemoryOnlyWhereTheDeviceDoes) {
  DeviceProperties device = rail_three();
  device.gpu_memory = true;
  EXPECT_EQ(to_nccl(device, 0)->ptrSupport, kNcclPointerHost | kNcclPointerCuda);
  device.dma_buf = true;
  device.rail = 3;
  device.plane = 1;
  EXPECT_EQ(to_nccl(device, 0)->ptrSupport,
            kNcclPointerHost | kNcclPointerCuda | kNcclPointerDmaBuf);
  EXPECT_EQ(to_nccl(device, 0)->railId, 3);
  EXPECT_EQ(to_nccl(device, 0)->planeId, 1);
}

TEST(PropertiesTranslation, StaysBelowTheLargestSizeNcclAccepts) {
  DeviceProperties device = rail_three();
  device.max_message_bytes = SIZE_MAX;
  EXPECT_EQ(to_nccl(device, 0)->maxP2pBytes, size_t{1} << 40);
  EXPECT_EQ(to_nccl(device, 0)->maxCollBytes, size_t{1} << 40);
}

TEST(PropertiesTranslation, LeavesTheMissingPciPathOfASoftwareDeviceNull) {
  DeviceProperties device = rail_three();
  device.pci_path = nullptr;
  EXPECT_EQ(to_nccl(device, 0)->pciPath, nullptr);
}

TEST(PropertiesTranslation, RefusesADeviceWithoutANameOrASize) {
  DeviceProperties nameless = rail_three();
  nameless.name = nullptr;
  EXPECT_FALSE(to_nccl(nameless, 0).ok());
  DeviceProperties sizeless = rail_three();
  sizeless.max_message_bytes = 0;
  EXPECT_FALSE(to_nccl(sizeless, 0).ok());
}

// What every version has must arrive unchanged, whatever was in the caller's memory before.
template <class Properties>
class OlderProperties : public testing::Test {};
using Versions = testing::Types<NcclNetPropertiesV8, NcclNetPropertiesV9, NcclNetPropertiesV10,
                                NcclNetPropertiesV11, NcclNetPropertiesV12>;
TYPED_TEST_SUITE(OlderProperties, Versions);

TYPED_TEST(OlderProperties, CarryWhatTheVersionHasRoomFor) {
  const NcclNetPropertiesV12 newest = *to_nccl(rail_three(), 3);
  TypeParam older;
  std::memset(&older, 0xAB, sizeof(older));
  copy_properties(newest, older);
  EXPECT_EQ(older.name, newest.name);
  EXPECT_EQ(older.pciPath, newest.pciPath);
  EXPECT_EQ(older.guid, newest.guid);
  EXPECT_EQ(older.ptrSupport, newest.ptrSupport);
  EXPECT_EQ(older.regIsGlobal, newest.regIsGlobal);
  EXPECT_EQ(older.speed, newest.speed);
  EXPECT_EQ(older.port, newest.port);
  EXPECT_FLOAT_EQ(older.latency, newest.latency);
  EXPECT_EQ(older.maxComms, newest.maxComms);
  EXPECT_EQ(older.maxRecvs, newest.maxRecvs);
  EXPECT_EQ(older.netDeviceType, newest.netDeviceType);
  EXPECT_EQ(older.netDeviceVersion, newest.netDeviceVersion);
  if constexpr (requires { older.vProps; }) {
    EXPECT_EQ(older.forceFlush, newest.forceFlush);
    EXPECT_EQ(older.vProps.ndevs, 1);
    EXPECT_EQ(older.vProps.devs[0], 3);
    EXPECT_EQ(older.maxP2pBytes, newest.maxP2pBytes);
    EXPECT_EQ(older.maxCollBytes, newest.maxCollBytes);
  }
  if constexpr (requires { older.maxMultiRequestSize; }) {
    EXPECT_EQ(older.maxMultiRequestSize, 1);
  }
  if constexpr (requires { older.railId; }) {
    EXPECT_EQ(older.railId, -1);
    EXPECT_EQ(older.planeId, -1);
  }
}

TEST(VirtualDevices, LoseTheMembersAnOlderVersionCannotHold) {
  NcclNetPropertiesV12 newest{};
  newest.vProps.ndevs = 6;
  for (int i = 0; i < 6; ++i) {
    newest.vProps.devs[i] = 10 + i;
  }
  NcclNetPropertiesV11 older;
  copy_properties(newest, older);
  EXPECT_EQ(older.vProps.ndevs, 4);
  EXPECT_EQ(older.vProps.devs[3], 13);
}

}  // namespace
}  // namespace rocelane::net::abi
