#include "base/settings_address.h"

#include <gtest/gtest.h>

namespace rocelane {
namespace {

IpAddress address(std::string_view text) {
  const std::optional<IpAddress> parsed = parse_address(text);
  EXPECT_TRUE(parsed) << text;
  return parsed.value_or(IpAddress{});
}

bool lies_in(std::string_view address_string, std::string_view range_string) {
  const std::optional<AddressRange> range = parse_address_range(range_string);
  EXPECT_TRUE(range) << range_string;
  return range && contains(*range, address(address_string));
}

TEST(Address, IsReadAndWrittenInBothFamilies) {
  EXPECT_EQ(address_text(address("10.20.9.101")), "10.20.9.101");
  EXPECT_EQ(address_text(address("::ffff:10.0.0.1")), "10.0.0.1");
  EXPECT_EQ(address_text(address("fd00::1")), "fd00::1");
  EXPECT_TRUE(is_ipv4(address("192.0.2.1")));
  EXPECT_FALSE(is_ipv4(address("fe80::1")));
}

TEST(Address, IsRefusedWhenItIsNone) {
  for (const std::string_view text : {"", "10.0.0", "10.0.0.256", "fd00:::1", "localhost"}) {
    EXPECT_EQ(parse_address(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_address(std::string(1000, '1')), std::nullopt);
  EXPECT_EQ(parse_address(std::string_view("10.0.0.1\0x", 10)), std::nullopt);
}

TEST(AddressRange, HoldsTheAddressesUnderItsPrefix) {
  EXPECT_TRUE(lies_in("10.255.0.1", "10.0.0.0/8"));
  EXPECT_FALSE(lies_in("11.0.0.1", "10.0.0.0/8"));
  EXPECT_TRUE(lies_in("192.0.2.130", "192.0.2.128/25"));
  EXPECT_FALSE(lies_in("192.0.2.127", "192.0.2.128/25"));
  EXPECT_TRUE(lies_in("10.0.0.1", "10.0.0.1/32"));
  EXPECT_FALSE(lies_in("10.0.0.2", "10.0.0.1/32"));
  EXPECT_TRUE(lies_in("fd12::1", "fd00::/8"));
  EXPECT_FALSE(lies_in("fe80::1", "fd00::/8"));
}

TEST(AddressRange, OfAllAddressesHoldsOnlyItsOwnFamily) {
  EXPECT_TRUE(lies_in("10.0.0.1", "0.0.0.0/0"));
  EXPECT_FALSE(lies_in("fd00::1", "0.0.0.0/0"));
  EXPECT_TRUE(lies_in("fd00::1", "::/0"));
  EXPECT_FALSE(lies_in("10.0.0.1", "::/0"));
}

TEST(AddressRange, IgnoresBitsRightOfThePrefix) {
  EXPECT_EQ(range_text(*parse_address_range("10.1.2.3/8")), "10.0.0.0/8");
  EXPECT_EQ(range_text(*parse_address_range("fd00::1/64")), "fd00::/64");
}

TEST(AddressRange, IsRefusedWithoutASlashOrWithABadLength) {
  for (const std::string_view text :
       {"10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8x", "/8", "fd00::/129",
        "10.0.0.0/8/8", "10.0.0.0/ 8", "fd00::/99999999999999999999"}) {
    EXPECT_EQ(parse_address_range(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace rocelane
