#include "nccl_log.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <regex>

#include <fmt/format.h>
#include <unistd.h>

namespace rocelane::end_to_end {
namespace {

template <class Use>
void for_each_match(std::string_view text, const std::regex& pattern, Use use) {
  const std::regex_iterator<std::string_view::iterator> end;
  for (std::regex_iterator at(text.begin(), text.end(), pattern); at != end; ++at) {
    use(*at);
  }
}

}  // namespace

std::map<TuningChoice, size_t> count_choices(std::string_view log_text) {
  static const std::regex pattern(R"((\w+): \d+ Bytes -> Algo (\w+) proto (\w+))");
  std::map<TuningChoice, size_t> choices;
  for_each_match(log_text, pattern, [&](const auto& match) {
    ++choices[{match[1], match[2], match[3]}];
  });
  return choices;
}

std::map<std::string, size_t> count_networks(std::string_view log_text) {
  static const std::regex pattern(R"(Using network (\S+))");
  std::map<std::string, size_t> networks;
  for_each_match(log_text, pattern, [&](const auto& match) { ++networks[match[1]]; });
  return networks;
}

NcclLog::NcclLog() {
  const char* const chosen = std::getenv("NCCL_DEBUG_FILE");
  // %h and %p are placeholders only NCCL can fill in.
  const bool usable = chosen != nullptr && std::strchr(chosen, '%') == nullptr;
  path_ = usable ? chosen : fmt::format("{}/nccl.{}.log", P_tmpdir, getpid());
  setenv("NCCL_DEBUG_FILE", path_.c_str(), 1);
  setenv("NCCL_DEBUG", "INFO", 1);
  setenv("NCCL_DEBUG_SUBSYS", "INIT,TUNING", 1);
}

Result<std::map<TuningChoice, size_t>> NcclLog::new_choices() {
  const Result<std::string> text = text_from(read_bytes_);
  if (!text) {
    return text.error();
  }
  read_bytes_ += text->size();
  return count_choices(*text);
}

Status NcclLog::expect_network(std::string_view network) const {
  const Result<std::string> text = text_from(0);
  if (!text) {
    return text.error();
  }
  const std::map<std::string, size_t> networks = count_networks(*text);
  std::string used;
  for (const auto& [name, communicators] : networks) {
    used += fmt::format(" {} ({} times)", name, communicators);
  }
  if (networks.size() != 1 || networks.begin()->first != network) {
    return Error{ErrorCode::kRemote,
                 fmt::format("Every communicator had to use the network {}, but by NCCL's log {} "
                             "they used:{}.",
                             network, path_, used.empty() ? " none" : used)};
  }
  return {};
}

Result<std::string> NcclLog::text_from(size_t offset) const {
  std::ifstream file(path_, std::ios::binary);
  if (!file) {
    return Error{ErrorCode::kSystem,
                 fmt::format("NCCL's log {} cannot be read: {}.", path_, std::strerror(errno))};
  }
  file.seekg(static_cast<std::streamoff>(offset));
  return std::string{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace rocelane::end_to_end
