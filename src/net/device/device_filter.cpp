#include "net/device/device_filter.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "net/device/name_list.h"

namespace rocelane::net {
namespace {

constexpr size_t kPortRailPlane = 3;

DeviceFilterEntry filter_entry_of(NameListEntry entry) {
  entry.numbers.resize(kPortRailPlane);
  return {std::move(entry.name), entry.numbers[0], entry.numbers[1], entry.numbers[2]};
}

}  // namespace

Result<DeviceFilter> parse_device_filter(std::string_view text, std::string_view source) {
  Result<NameList> list = parse_name_list(text, source, kPortRailPlane);
  if (!list) {
    return std::move(list).error();
  }
  DeviceFilter filter{list->exclude, list->exact, {}, std::string(source)};
  std::transform(list->entries.begin(), list->entries.end(), std::back_inserter(filter.entries),
                 filter_entry_of);
  return filter;
}

bool matches(const DeviceFilter& filter, const DeviceFilterEntry& entry,
             std::string_view device_name, int port) {
  const bool same_name =
      filter.exact ? device_name == entry.name : device_name.starts_with(entry.name);
  return same_name && (!entry.port || *entry.port == port);
}

const DeviceFilterEntry* matching_entry(const DeviceFilter& filter, std::string_view device_name,
                                        int port) {
  const auto found = std::find_if(
      filter.entries.begin(), filter.entries.end(),
      [&](const DeviceFilterEntry& entry) { return matches(filter, entry, device_name, port); });
  return found == filter.entries.end() ? nullptr : &*found;
}

bool selects(const DeviceFilter& filter, std::string_view device_name, int port) {
  if (filter.entries.empty()) {
    return true;
  }
  return (matching_entry(filter, device_name, port) != nullptr) != filter.exclude;
}

std::string selects_nothing(const DeviceFilter& filter, std::span<const PortFacts> ports) {
  std::vector<std::string> names;
  for (const PortFacts& port : ports) {
    names.push_back(fmt::format("{}:{}", port.device_name, port.port));
  }
  return fmt::format("{} selects none of the RDMA ports here ({}); correct or unset it",
                     filter.source,
                     names.empty() ? "there are none" : fmt::format("{}", fmt::join(names, ", ")));
}

}  // namespace rocelane::net
