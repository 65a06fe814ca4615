#include "net/health/dcb_reply.h"

#include <cerrno>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/dcbnl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

namespace rocelane::telemetry {
namespace {

using ::testing::HasSubstr;
using Buffer = std::vector<std::byte>;

template <class T>
Buffer bytes_of(const T& value) {
  Buffer bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

Buffer joined(std::initializer_list<Buffer> parts) {
  Buffer all;
  for (const Buffer& part : parts) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

Buffer attribute(int type, const Buffer& payload) {
  const nlattr header{static_cast<uint16_t>(sizeof(nlattr) + payload.size()),
                      static_cast<uint16_t>(type)};
  Buffer bytes = joined({bytes_of(header), payload});
  bytes.resize((bytes.size() + 3) / 4 * 4);  // attributes begin at multiples of four
  return bytes;
}

Buffer datagram(uint16_t type, const Buffer& message) {
  nlmsghdr header{};
  header.nlmsg_len = static_cast<uint32_t>(sizeof(header) + message.size());
  header.nlmsg_type = type;
  return joined({bytes_of(header), message});
}

Buffer pfc(uint8_t enabled) {
  ieee_pfc settings{};
  settings.pfc_cap = 8;
  settings.pfc_en = enabled;
  return attribute(DCB_ATTR_IEEE_PFC, bytes_of(settings));
}

Buffer application(uint8_t selector, uint8_t priority, uint16_t protocol) {
  return attribute(DCB_ATTR_IEEE_APP, bytes_of(dcb_app{selector, priority, protocol}));
}

Buffer reply(const Buffer& ieee) {
  const dcbmsg message{AF_UNSPEC, DCB_CMD_IEEE_GET, 0};
  const Buffer name{std::byte{'e'}, std::byte{'0'}, std::byte{0}};
  return datagram(RTM_GETDCB, joined({bytes_of(message), attribute(DCB_ATTR_IFNAME, name),
                                      attribute(DCB_ATTR_IEEE, ieee)}));
}

// ETS first, PFC on 3, DSCP 26 to 3; RoCE v2's UDP port in another selector says nothing of DSCP.
Buffer usual_reply() {
  return reply(joined({attribute(DCB_ATTR_IEEE_ETS, bytes_of(ieee_ets{})), pfc(1U << 3),
                       attribute(DCB_ATTR_IEEE_APP_TABLE,
                                 joined({application(IEEE_8021QAZ_APP_SEL_DGRAM, 5, 4791),
                                         application(IEEE_8021QAZ_APP_SEL_DSCP, 3, 26),
                                         application(IEEE_8021QAZ_APP_SEL_DSCP, 6, 48)}))}));
}

TEST(DcbReply, TellsPfcAndTheDscpMap) {
  const auto rules = decode_dcb_reply(usual_reply());
  ASSERT_TRUE(rules.ok()) << rules.error().what;
  EXPECT_EQ(rules->lossless, 1U << 3);
  EXPECT_EQ(rules->priority_of_dscp[26], 3);
  EXPECT_EQ(rules->priority_of_dscp[48], 6);
  EXPECT_EQ(rules->priority_of_dscp[0], std::nullopt);
}

TEST(DcbReply, WithoutATableTellsPfcAlone) {
  const auto rules = decode_dcb_reply(reply(pfc(0)));
  ASSERT_TRUE(rules.ok()) << rules.error().what;
  EXPECT_EQ(rules->lossless, 0);
  EXPECT_EQ(rules->priority_of_dscp[26], std::nullopt);
}

TEST(DcbReply, OfADscpMappedTwiceGivesTheHigherPriority) {
  const auto rules = decode_dcb_reply(
      reply(joined({pfc(8), attribute(DCB_ATTR_IEEE_APP_TABLE,
                                      joined({application(IEEE_8021QAZ_APP_SEL_DSCP, 4, 26),
                                              application(IEEE_8021QAZ_APP_SEL_DSCP, 3, 26)}))})));
  ASSERT_TRUE(rules.ok()) << rules.error().what;
  EXPECT_EQ(rules->priority_of_dscp[26], 4);
}

TEST(DcbReply, LeavesOutEntriesThatCannotBe) {
  const auto rules = decode_dcb_reply(
      reply(joined({pfc(8), attribute(DCB_ATTR_IEEE_APP_TABLE,
                                      joined({application(IEEE_8021QAZ_APP_SEL_DSCP, 3, 64),
                                              application(IEEE_8021QAZ_APP_SEL_DSCP, 3, 65535),
                                              application(IEEE_8021QAZ_APP_SEL_DSCP, 8, 26),
                                              attribute(DCB_ATTR_IEEE_APP, {std::byte{5}})}))})));
  ASSERT_TRUE(rules.ok()) << rules.error().what;
  for (const auto& priority : rules->priority_of_dscp) {
    EXPECT_EQ(priority, std::nullopt);
  }
}

std::string refusal(int error) {
  nlmsgerr message{};
  message.error = error;
  const auto rules = decode_dcb_reply(datagram(NLMSG_ERROR, bytes_of(message)));
  return rules.ok() ? "" : rules.error().what;
}

TEST(DcbReply, GivesTheKernelsRefusalInWords) {
  EXPECT_THAT(refusal(-EOPNOTSUPP), HasSubstr("not supported"));
  EXPECT_THAT(refusal(-ENODEV), HasSubstr("No such device"));
  EXPECT_NE(refusal(std::numeric_limits<int>::min()), "");
}

TEST(DcbReply, WithoutPfcOrIeeeSettingsIsAnError) {
  EXPECT_FALSE(decode_dcb_reply({}).ok());
  EXPECT_FALSE(decode_dcb_reply(reply({})).ok());
  EXPECT_FALSE(decode_dcb_reply(reply(attribute(DCB_ATTR_IEEE_PFC, {std::byte{8}}))).ok());
  EXPECT_FALSE(decode_dcb_reply(datagram(RTM_GETDCB, {})).ok());
  EXPECT_FALSE(decode_dcb_reply(datagram(RTM_NEWLINK, usual_reply())).ok());
}

TEST(DcbReply, CutAnywhereIsAnError) {
  const Buffer whole = usual_reply();
  for (size_t length = 0; length < whole.size(); ++length) {
    const Buffer cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_FALSE(decode_dcb_reply(cut).ok()) << length;
  }
}

// Under AddressSanitizer a read outside the buffer, which is as large as the datagram, ends the
// test.
TEST(DcbReply, WithAnyBytesIsReadWithinItsBounds) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const Buffer whole = usual_reply();
  size_t readable = 0;
  constexpr int kRounds = 20000;
  for (int round = 0; round < kRounds; ++round) {
    Buffer damaged = whole;
    for (unsigned i = random() % 8; i > 0; --i) {
      damaged[random() % damaged.size()] = static_cast<std::byte>(random());
    }
    const auto rules = decode_dcb_reply(damaged);
    if (!rules.ok()) {
      continue;
    }
    ++readable;
    for (const auto& priority : rules->priority_of_dscp) {
      ASSERT_LT(priority.value_or(0), kPriorities);
    }
  }
  EXPECT_GT(readable, 0U);
}

}  // namespace
}  // namespace rocelane::telemetry
