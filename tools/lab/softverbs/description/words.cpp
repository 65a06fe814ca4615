#include "softverbs/description/words.h"

#include <array>
#include <cstring>

#include <fmt/format.h>
#include <infiniband/verbs.h>

namespace rocelane::softverbs {
namespace {

constexpr int kLargestErrno = 133;

constexpr std::array<Word<int>, 22> kStatusWords{{
    {"success", IBV_WC_SUCCESS},
    {"local-length-error", IBV_WC_LOC_LEN_ERR},
    {"local-queue-pair-error", IBV_WC_LOC_QP_OP_ERR},
    {"local-ee-context-error", IBV_WC_LOC_EEC_OP_ERR},
    {"local-protection-error", IBV_WC_LOC_PROT_ERR},
    {"flushed", IBV_WC_WR_FLUSH_ERR},
    {"memory-window-bind-error", IBV_WC_MW_BIND_ERR},
    {"bad-response", IBV_WC_BAD_RESP_ERR},
    {"local-access-error", IBV_WC_LOC_ACCESS_ERR},
    {"remote-invalid-request", IBV_WC_REM_INV_REQ_ERR},
    {"remote-access-error", IBV_WC_REM_ACCESS_ERR},
    {"remote-operation-error", IBV_WC_REM_OP_ERR},
    {"retry-exceeded", IBV_WC_RETRY_EXC_ERR},
    {"rnr-retry-exceeded", IBV_WC_RNR_RETRY_EXC_ERR},
    {"local-rdd-violation", IBV_WC_LOC_RDD_VIOL_ERR},
    {"remote-invalid-rd-request", IBV_WC_REM_INV_RD_REQ_ERR},
    {"remote-aborted", IBV_WC_REM_ABORT_ERR},
    {"invalid-ee-context-number", IBV_WC_INV_EECN_ERR},
    {"invalid-ee-context-state", IBV_WC_INV_EEC_STATE_ERR},
    {"fatal", IBV_WC_FATAL_ERR},
    {"response-timeout", IBV_WC_RESP_TIMEOUT_ERR},
    {"general-error", IBV_WC_GENERAL_ERR},
}};

}  // namespace

std::optional<int> parse_error_name(std::string_view name) {
  for (int error = 1; error <= kLargestErrno; ++error) {
    const char* const known = strerrorname_np(error);
    if (known != nullptr && name == known) {
      return error;
    }
  }
  return std::nullopt;
}

std::string error_name(int error) {
  const char* const known = strerrorname_np(error);
  return known != nullptr ? std::string(known) : fmt::format("{}", error);
}

std::span<const Word<int>> completion_status_words() { return kStatusWords; }

}  // namespace rocelane::softverbs
