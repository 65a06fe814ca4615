#include "net/device/gid.h"

#include <gtest/gtest.h>

#include "fixtures.h"

namespace rocelane::net {
namespace {

TEST(Gid, IsReadFromEveryWayToolsWriteIt) {
  EXPECT_EQ(gid_of("10.20.9.101"), gid_of("::ffff:10.20.9.101"));
  EXPECT_EQ(gid_of("0000:0000:0000:0000:0000:ffff:c000:020c"), gid_of("192.0.2.12"));
  EXPECT_EQ(parse_gid("fe80::1::2"), std::nullopt);
}

TEST(Gid, IsWrittenAsAnAddress) {
  EXPECT_EQ(gid_text(gid_of("10.0.0.1")), "::ffff:10.0.0.1");
  EXPECT_EQ(gid_text(gid_of("fe80:0:0:0:200:5eff:fe00:a01")), "fe80::200:5eff:fe00:a01");
}

TEST(Gid, IsRoutableInPrivateRangesToo) {
  for (const char* text : {"10.8.0.1", "172.16.0.1", "192.168.0.1", "192.0.2.1", "100.64.0.1",
                           "fd00::1", "2001:db8::1", "fec0::1"}) {
    EXPECT_EQ(scope_of(gid_of(text)), GidScope::kRoutable) << text;
  }
}

TEST(Gid, IsLinkLocalInBothFamilies) {
  for (const char* text : {"fe80::1", "febf::1", "169.254.1.1"}) {
    EXPECT_EQ(scope_of(gid_of(text)), GidScope::kLinkLocal) << text;
  }
}

TEST(Gid, IsUnusableWithoutAnAddressInIt) {
  for (const char* text : {"::", "0.0.0.0", "fe80::", "ff02::1", "224.0.0.1", "255.255.255.255"}) {
    EXPECT_EQ(scope_of(gid_of(text)), GidScope::kUnusable) << text;
  }
}

TEST(Gid, OfTheHostItselfIsLoopback) {
  EXPECT_EQ(scope_of(gid_of("127.0.0.1")), GidScope::kLoopback);
  EXPECT_EQ(scope_of(gid_of("::1")), GidScope::kLoopback);
}

TEST(CommonPrefix, IsCountedInBits) {
  EXPECT_EQ(common_prefix_bits(gid_of("10.0.0.1"), gid_of("10.0.0.1")), 128);
  EXPECT_EQ(common_prefix_bits(gid_of("10.0.0.0"), gid_of("10.0.0.1")), 127);
  EXPECT_EQ(common_prefix_bits(gid_of("10.0.0.0"), gid_of("10.128.0.0")), 104);
  EXPECT_EQ(common_prefix_bits(gid_of("8000::"), gid_of("::")), 0);
}

TEST(GidEntry, IsDescribedForAPerson) {
  EXPECT_EQ(describe(entry(3, "10.8.0.1", 2)), "RoCE v2 10.8.0.1 (index 3, eth1)");
  EXPECT_EQ(describe(entry(0, "fe80::1", 1, "")),
            "RoCE v1 fe80::1 (index 0, no interface in this network namespace)");
  GidEntry unknown;
  unknown.type = static_cast<GidType>(9);
  EXPECT_EQ(std::string(gid_type_text(unknown.type)), "an unknown kind of GID");
}

}  // namespace
}  // namespace rocelane::net
