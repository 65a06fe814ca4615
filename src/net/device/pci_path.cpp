#include "net/device/pci_path.h"

namespace rocelane::net {
namespace {

bool is_hexadecimal(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// Domain (four digits, more behind some bridges), bus, device, function: 0000:1b:00.1
bool is_pci_address(std::string_view text) {
  constexpr std::string_view kTail = "xx:xx.x";
  constexpr size_t kShortestDomain = 4;
  constexpr size_t kLongestDomain = 8;
  if (text.size() < kShortestDomain + 1 + kTail.size() ||
      text.size() > kLongestDomain + 1 + kTail.size()) {
    return false;
  }
  const size_t domain_size = text.size() - kTail.size() - 1;
  for (size_t i = 0; i < domain_size; ++i) {
    if (!is_hexadecimal(text[i])) {
      return false;
    }
  }
  const std::string_view tail = text.substr(domain_size + 1);
  for (size_t i = 0; i < kTail.size(); ++i) {
    if (kTail[i] == 'x' ? !is_hexadecimal(tail[i]) : tail[i] != kTail[i]) {
      return false;
    }
  }
  return text[domain_size] == ':';
}

}  // namespace

std::string card_pci_path(std::string_view resolved_device_path) {
  const size_t slash = resolved_device_path.rfind('/');
  const std::string_view last = slash == std::string_view::npos
                                    ? resolved_device_path
                                    : resolved_device_path.substr(slash + 1);
  if (!is_pci_address(last)) {
    return {};
  }
  std::string path(resolved_device_path);
  path.back() = '0';
  return path;
}

}  // namespace rocelane::net
