#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_net.h"
#include "nccl_host/net_library.h"
#include "nccl_plugin/net_v11.h"
#include "nccl_plugin/net_v8.h"

namespace rocelane::nccl_host {
namespace {

using testing::HasSubstr;

TEST(Table, WithoutANeededMemberIsRefusedByName) {
  NcclNetV11 table = *static_cast<const NcclNetV11*>(FakeNet::table(11));
  table.irecv = nullptr;
  const auto opened = open_table(11, &table, "libx.so");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().what,
            "The v11 table of libx.so has no irecv, which NCCL calls without asking.");
}

TEST(Table, MayLeaveOutWhatNcclAsksFor) {
  FakeNet fake;
  NcclNetV11 table = *static_cast<const NcclNetV11*>(FakeNet::table(11));
  table.irecvConsumed = nullptr;
  table.setNetAttr = nullptr;
  table.regMrDmaBuf = nullptr;
  const auto opened = open_table(11, &table, "libx.so");
  ASSERT_TRUE(opened);
  EXPECT_EQ((*opened)->irecv_consumed(nullptr, 1, nullptr), kNcclSuccess);
  EXPECT_EQ((*opened)->set_attributes(nullptr, nullptr), kNcclSuccess);
  EXPECT_EQ(fake.calls().consumed, 0);
}

TEST(Table, OfAnUnknownVersionIsRefused) {
  EXPECT_THAT(open_table(13, nullptr, "libx.so").error().what, HasSubstr("use 8 to 12"));
}

std::vector<int> g_joined;

NcclResult join(int* device, NcclNetVDevicePropsV11* members) {
  g_joined.assign(members->devs, members->devs + members->ndevs);
  *device = 9;
  return kNcclSuccess;
}

TEST(Table, JoinsDevicesAsItsVersionDescribesThem) {
  NcclNetV11 table = *static_cast<const NcclNetV11*>(FakeNet::table(11));
  table.makeVDevice = join;
  const auto opened = open_table(11, &table, "libx.so");
  ASSERT_TRUE(opened);
  int device = 0;
  EXPECT_EQ((*opened)->make_virtual_device(&device, {2, 5}), kNcclSuccess);
  EXPECT_EQ(device, 9);
  EXPECT_EQ(g_joined, (std::vector{2, 5}));
}

TEST(Table, RefusesToJoinWhatItsVersionCannotDescribe) {
  NcclNetV11 table = *static_cast<const NcclNetV11*>(FakeNet::table(11));
  table.makeVDevice = join;
  int device = 0;
  EXPECT_EQ((*open_table(11, &table, "libx.so"))->make_virtual_device(&device, {0, 1, 2, 3, 4}),
            kNcclInvalidUsage);
  table.makeVDevice = nullptr;
  EXPECT_EQ((*open_table(11, &table, "libx.so"))->make_virtual_device(&device, {0, 1}),
            kNcclInvalidUsage);
  EXPECT_EQ((*open_table(8, FakeNet::table(8), "libx.so"))->make_virtual_device(&device, {0, 1}),
            kNcclInvalidUsage);
}

TEST(Properties, OfOldVersionsGetWhatNcclAssumes) {
  FakeNet fake;
  NcclNetPropertiesV12 properties{};
  ASSERT_EQ(fake.net(8)->properties(1, &properties), kNcclSuccess);
  EXPECT_EQ(properties.speed, 100000);
  EXPECT_EQ(properties.vProps.ndevs, 1);
  EXPECT_EQ(properties.vProps.devs[0], 1);
  EXPECT_EQ(properties.maxP2pBytes, size_t{1} << 30);
  EXPECT_EQ(properties.maxCollBytes, size_t{1} << 29);
  EXPECT_EQ(properties.railId, kNcclNetUndefined);
  ASSERT_EQ(fake.net(12)->properties(1, &properties), kNcclSuccess);
  EXPECT_EQ(properties.railId, 7);
}

TEST(OldestTable, GetsNoHintAndNoSizeBeyondInt) {
  FakeNet fake;
  const auto net = fake.net(8);
  void* request = nullptr;
  EXPECT_EQ(net->isend(nullptr, nullptr, size_t{1} << 31, 0, nullptr, nullptr, &request),
            kNcclInvalidArgument);
}

TEST(NcclVersion, TellsTheTableOfItsOwnNets) {
  EXPECT_EQ(abi_of_nccl(22005), 8);
  EXPECT_EQ(abi_of_nccl(22304), 8);
  EXPECT_EQ(abi_of_nccl(22402), 9);
  EXPECT_EQ(abi_of_nccl(22602), 10);
  EXPECT_EQ(abi_of_nccl(22809), 11);
  EXPECT_EQ(abi_of_nccl(23007), 12);
}

TEST(Library, ThatIsNotThereIsNamed) {
  const auto opened = NetLibrary::open({"nowhere", 0, ""});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().what, HasSubstr("'nowhere' cannot be loaded"));
  EXPECT_THAT(opened.error().what, HasSubstr("libnccl-net-nowhere.so"));
}

TEST(Library, WithoutATableIsNamed) {
  const auto opened = NetLibrary::open({"libm.so.6", 0, ""});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().what, HasSubstr("has no ncclNetPlugin_v8 to ncclNetPlugin_v12"));
}

TEST(Library, IsGoneAfterItWasClosed) {
  auto opened = NetLibrary::open({ROCELANE_TEST_NET_LIBRARY, 0, ""});
  ASSERT_TRUE(opened) << opened.error().what;
  EXPECT_EQ(opened->net().abi(), 12);
  EXPECT_STREQ(opened->net().name(), "Rocelane");
  EXPECT_TRUE(opened->close());
}

TEST(Library, GivesTheVersionAskedFor) {
  for (int abi = kOldestAbi; abi <= kNewestAbi; ++abi) {
    auto opened = NetLibrary::open({ROCELANE_TEST_NET_LIBRARY, abi, ""});
    ASSERT_TRUE(opened) << opened.error().what;
    EXPECT_EQ(opened->net().abi(), abi);
    opened->close();
  }
}

#ifdef ROCELANE_TEST_NCCL_LIBRARY
TEST(Nccl, GivesItsOwnIbTransport) {
  auto opened = NetLibrary::open({"ib", 0, ROCELANE_TEST_NCCL_LIBRARY});
  ASSERT_TRUE(opened) << opened.error().what;
  EXPECT_STREQ(opened->net().name(), "IB");
  EXPECT_TRUE(opened->is_built_in());
  EXPECT_FALSE(opened->close()) << "NCCL is never unloaded";
  EXPECT_THAT(NetLibrary::open({"ib", 8, ROCELANE_TEST_NCCL_LIBRARY}).error().what,
              HasSubstr("--abi 8 is not possible"));
}
#endif

}  // namespace
}  // namespace rocelane::nccl_host
