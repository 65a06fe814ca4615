#include "verbs/errors.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace rocelane::verbs {

std::string errno_text(int error_number) {
  const char* name = strerrorname_np(error_number);
  const char* text = strerrordesc_np(error_number);
  return fmt::format("{} ({}, {})", name != nullptr ? name : "unknown error", error_number,
                     text != nullptr ? text : "no description");
}

Error call_failed(std::string_view call, std::string_view device, int error_number,
                  std::string_view hint) {
  std::string sentence = fmt::format("{} on {} failed: {}", call, device, errno_text(error_number));
  if (error_number == ENOMEM && hint.empty()) {
    hint = "raise the memory lock limit (ulimit -l unlimited) or lower ROCELANE_LANES";
  }
  if (!hint.empty()) {
    sentence += fmt::format("; {}", hint);
  }
  return Error{ErrorCode::kSystem, std::move(sentence)};
}

std::string_view ready_to_receive_hint(int error_number) {
  switch (error_number) {
    case ENETUNREACH:
      return "there is no route to the peer's address: check that both NICs are in networks that "
             "reach each other, and the routes of this host";
    case EHOSTUNREACH:
    case ETIMEDOUT:
      return "the peer's address did not answer ARP or neighbour discovery: check cable, VLAN and "
             "that both NICs are in the same network or routed";
    case ENODEV:
      return "the network interface of the chosen GID is gone or belongs to another network "
             "namespace";
    case ENODATA:
      return "the chosen GID's slot is empty: the address was removed; unset ROCELANE_GID_INDEX "
             "and NCCL_IB_GID_INDEX so that it is chosen afresh";
    case EINVAL:
      return "a value does not fit the port: check that both ends use the same kind of GID (RoCE "
             "version, address family) and that ROCELANE_MTU is not above the port's";
    case EACCES:
    case EPERM:
      return "the process lacks the right to use the device";
    default:
      return {};
  }
}

bool is_transient_ready_to_receive_error(int error_number) {
  return error_number == ETIMEDOUT || error_number == EHOSTUNREACH || error_number == EAGAIN;
}

}  // namespace rocelane::verbs
