// The datagram with which the kernel's DCB netlink answers.

#include <array>

#include <linux/dcbnl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "fuzzer.h"
#include "net/health/dcb_reply.h"

namespace rocelane::fuzz {
namespace {

Input attribute(int type, const Input& payload) {
  Input bytes = bytes_of(
      nlattr{static_cast<uint16_t>(sizeof(nlattr) + payload.size()), static_cast<uint16_t>(type)});
  append(bytes, payload);
  bytes.resize((bytes.size() + 3) / 4 * 4);  // attributes begin at multiples of four
  return bytes;
}

Input datagram(uint16_t type, const Input& message) {
  nlmsghdr header{};
  header.nlmsg_len = static_cast<uint32_t>(sizeof(header) + message.size());
  header.nlmsg_type = type;
  Input bytes = bytes_of(header);
  append(bytes, message);
  return bytes;
}

Input reply(bool with_table) {
  ieee_pfc pfc{};
  pfc.pfc_en = 1U << 3;
  Input ieee = attribute(DCB_ATTR_IEEE_PFC, bytes_of(pfc));
  if (with_table) {
    Input table;
    for (const uint16_t dscp : std::array<uint16_t, 3>{26, 48, 63}) {
      const dcb_app entry{IEEE_8021QAZ_APP_SEL_DSCP, 3, dscp};
      append(table, attribute(DCB_ATTR_IEEE_APP, bytes_of(entry)));
    }
    append(ieee, attribute(DCB_ATTR_IEEE_APP_TABLE, table));
  }
  Input message = bytes_of(dcbmsg{AF_UNSPEC, DCB_CMD_IEEE_GET, 0});
  append(message, attribute(DCB_ATTR_IFNAME, bytes_of_text("eth0")));
  append(message, attribute(DCB_ATTR_IEEE, ieee));
  return datagram(RTM_GETDCB, message);
}

}  // namespace

std::vector<Input> good_inputs() { return {reply(false), reply(true)}; }

void mend(Input& input) {
  if (input.size() < sizeof(nlmsghdr)) {
    return;
  }
  nlmsghdr header{};
  std::memcpy(&header, input.data(), sizeof(header));
  header.nlmsg_len = static_cast<uint32_t>(input.size());
  header.nlmsg_type = header.nlmsg_type % 4 == 0 ? NLMSG_ERROR : RTM_GETDCB;
  std::memcpy(input.data(), &header, sizeof(header));
}

}  // namespace rocelane::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rocelane::fuzz;
  const auto rules = rocelane::telemetry::decode_dcb_reply(std::as_bytes(std::span(data, size)));
  if (!rules) {
    const std::string& sentence = rules.error().what;
    require(sentence.starts_with("DCB settings: ") && is_one_printable_line(sentence),
            "one line that says what it is about");
    return 0;
  }
  note_accepted();
  require(size > sizeof(nlmsghdr), "an answer has something behind its header");
  for (const auto& priority : rules->priority_of_dscp) {
    require(!priority || *priority < rocelane::telemetry::kPriorities, "priorities that exist");
  }
  return 0;
}
