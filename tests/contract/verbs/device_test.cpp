// What a device says of itself.

#include <cerrno>
#include <cstring>
#include <set>
#include <string>

#include <arpa/inet.h>

#include "verbs_test.h"

namespace rocelane::contract {
namespace {

using Device = VerbsTest;

TEST_F(Device, ListEndsWithNullAndNamesEveryDeviceOnce) {
  int count = 0;
  ibv_device** devices = ibv_get_device_list(&count);
  ASSERT_NE(devices, nullptr);
  EXPECT_GT(count, 0);
  std::set<std::string> names;
  for (int i = 0; i < count; ++i) {
    ASSERT_NE(devices[i], nullptr);
    EXPECT_TRUE(names.insert(ibv_get_device_name(devices[i])).second);
    EXPECT_EQ(devices[i]->node_type, IBV_NODE_CA);
    EXPECT_EQ(devices[i]->transport_type, IBV_TRANSPORT_IB);
  }
  EXPECT_EQ(devices[count], nullptr);
  ibv_free_device_list(devices);
}

TEST_F(Device, OpensAsOftenAsWanted) {
  Port port_again;
  const Context again = open_device(port_again);
  ASSERT_NE(again, nullptr);
  EXPECT_NE(again.get(), context());
  EXPECT_STREQ(ibv_get_device_name(again->device), ibv_get_device_name(context()->device));
  EXPECT_NE(again->async_fd, context()->async_fd);
}

TEST_F(Device, StaysOpenWhenTheListIsFreed) {
  // open_device has freed it long ago.
  EXPECT_NE(ibv_get_device_name(context()->device), nullptr);
  EXPECT_NE(ibv_get_device_guid(context()->device), 0U);
}

TEST_F(Device, LimitsAllowWorking) {
  const ibv_device_attr limits = device_limits();
  EXPECT_EQ(limits.phys_port_cnt, 1);
  EXPECT_GT(limits.max_qp, 0);
  EXPECT_GT(limits.max_cq, 0);
  EXPECT_GT(limits.max_mr, 0);
  EXPECT_GT(limits.max_pd, 0);
  EXPECT_GT(limits.max_srq, 0);
  EXPECT_GE(limits.max_qp_wr, 128);
  EXPECT_GE(limits.max_cqe, 128);
  EXPECT_GE(limits.max_srq_wr, 128);
  EXPECT_GE(limits.max_sge, 4);
  EXPECT_GE(limits.max_srq_sge, 1);
  EXPECT_GE(limits.max_qp_rd_atom, kReadsInFlight);
  EXPECT_GE(limits.max_qp_init_rd_atom, kReadsInFlight);
  EXPECT_GE(limits.max_mr_size, uint64_t{1} << 32);
  EXPECT_EQ(limits.node_guid, ibv_get_device_guid(context()->device));
}

TEST_F(Device, PortIsAnActiveEthernetPort) {
  ibv_port_attr attributes{};
  ASSERT_EQ(ibv_query_port(context(), port().number, &attributes), 0);
  EXPECT_EQ(attributes.state, IBV_PORT_ACTIVE);
  EXPECT_EQ(attributes.link_layer, IBV_LINK_LAYER_ETHERNET);
  EXPECT_EQ(attributes.phys_state, 5);  // link up
  EXPECT_GE(attributes.active_mtu, IBV_MTU_256);
  EXPECT_LE(attributes.active_mtu, attributes.max_mtu);
  EXPECT_LE(attributes.max_mtu, IBV_MTU_4096);
  EXPECT_GT(attributes.gid_tbl_len, 0);
  EXPECT_GT(attributes.pkey_tbl_len, 0);
  EXPECT_GE(attributes.max_msg_sz, uint32_t{1} << 20);
  EXPECT_GT(attributes.active_width, 0);
  EXPECT_GT(attributes.active_speed, 0);
}

TEST_F(Device, HasNoOtherPort) {
  ibv_port_attr attributes{};
  EXPECT_EQ(ibv_query_port(context(), 0, &attributes), EINVAL);
  EXPECT_EQ(ibv_query_port(context(), 2, &attributes), EINVAL);
}

TEST_F(Device, PartitionKeyIsTheDefaultOne) {
  __be16 key = 0;
  ASSERT_EQ(ibv_query_pkey(context(), port().number, 0, &key), 0);
  EXPECT_EQ(ntohs(key), 0xFFFF);
}

TEST_F(Device, PartitionKeysEndWithTheTable) {
  ibv_port_attr attributes{};
  ASSERT_EQ(ibv_query_port(context(), port().number, &attributes), 0);
  __be16 key = 0;
  EXPECT_NE(ibv_query_pkey(context(), port().number, attributes.pkey_tbl_len, &key), 0);
}

TEST_F(Device, AllWaysOfAskingForAGidAgree) {
  std::vector<ibv_gid_entry> entries(1024);
  const ssize_t count = ibv_query_gid_table(context(), entries.data(), entries.size(), 0);
  ASSERT_GT(count, 0);
  entries.resize(static_cast<size_t>(count));
  for (const ibv_gid_entry& entry : entries) {
    ibv_gid_entry single{};
    ASSERT_EQ(ibv_query_gid_ex(context(), entry.port_num, entry.gid_index, &single, 0), 0);
    EXPECT_EQ(std::memcmp(single.gid.raw, entry.gid.raw, sizeof(entry.gid.raw)), 0);
    EXPECT_EQ(single.gid_index, entry.gid_index);
    EXPECT_EQ(single.port_num, entry.port_num);
    EXPECT_EQ(single.gid_type, entry.gid_type);
    EXPECT_EQ(single.ndev_ifindex, entry.ndev_ifindex);
    ibv_gid gid{};
    ASSERT_EQ(ibv_query_gid(context(), static_cast<uint8_t>(entry.port_num),
                            static_cast<int>(entry.gid_index), &gid),
              0);
    EXPECT_EQ(std::memcmp(gid.raw, entry.gid.raw, sizeof(gid.raw)), 0);
  }
}

TEST_F(Device, GidTableFillsNoMoreThanThereIsRoom) {
  ibv_gid_entry entries[2] = {};
  entries[1].gid_index = 77;
  // Too small a place is an error, or holds the first entries; never more.
  const ssize_t count = ibv_query_gid_table(context(), entries, 1, 0);
  EXPECT_TRUE(count == 1 || count == -EINVAL) << count;
  EXPECT_EQ(entries[1].gid_index, 77U);
}

TEST_F(Device, AnEmptyGidIsZeroAndHasNoData) {
  ibv_port_attr attributes{};
  ASSERT_EQ(ibv_query_port(context(), port().number, &attributes), 0);
  const int last = attributes.gid_tbl_len - 1;
  ibv_gid gid;
  std::memset(gid.raw, 0xAA, sizeof(gid.raw));
  ASSERT_EQ(ibv_query_gid(context(), port().number, last, &gid), 0);
  EXPECT_EQ(gid.global.subnet_prefix, 0U);
  EXPECT_EQ(gid.global.interface_id, 0U);
  ibv_gid_entry entry{};
  EXPECT_EQ(ibv_query_gid_ex(context(), port().number, static_cast<uint32_t>(last), &entry, 0),
            ENODATA);
}

TEST_F(Device, GidsEndWithTheTable) {
  ibv_port_attr attributes{};
  ASSERT_EQ(ibv_query_port(context(), port().number, &attributes), 0);
  ibv_gid gid{};
  EXPECT_EQ(ibv_query_gid(context(), port().number, attributes.gid_tbl_len, &gid), -1);
  ibv_gid_entry entry{};
  EXPECT_EQ(ibv_query_gid_ex(context(), port().number,
                             static_cast<uint32_t>(attributes.gid_tbl_len), &entry, 0),
            EINVAL);
  EXPECT_EQ(ibv_query_gid_ex(context(), 2, 0, &entry, 0), EINVAL);
}

TEST_F(Device, HasNoEventWhenNothingHappened) {
  EXPECT_FALSE(next_event(std::chrono::milliseconds(0)).has_value());
}

}  // namespace
}  // namespace rocelane::contract
