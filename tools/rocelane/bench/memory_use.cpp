#include "bench/memory_use.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <string>

namespace rocelane::bench {
namespace {

uint64_t field_bytes(std::string_view status, std::string_view name) {
  const size_t found = status.find(name);
  if (found == std::string_view::npos) {
    return 0;
  }
  std::string_view rest = status.substr(found + name.size());
  rest.remove_prefix(std::min(rest.find_first_of("0123456789"), rest.size()));
  uint64_t kilobytes = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), kilobytes);
  return kilobytes << 10;
}

}  // namespace

MemoryUse parse_memory_use(std::string_view status) {
  return {field_bytes(status, "RssAnon:"), field_bytes(status, "RssShmem:")};
}

MemoryUse memory_use_now() {
  std::ifstream file("/proc/self/status");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return parse_memory_use(text);
}

}  // namespace rocelane::bench
