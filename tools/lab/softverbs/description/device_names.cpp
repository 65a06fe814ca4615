#include "softverbs/description/device_names.h"

#include <fmt/format.h>

#include "base/nearest_name.h"
#include "softverbs/description/name_pattern.h"

namespace rocelane::softverbs {

std::vector<int> devices_named(std::string_view pattern,
                               const std::vector<DeviceDescription>& devices) {
  std::vector<int> found;
  for (size_t i = 0; i < devices.size(); ++i) {
    if (matches(pattern, devices[i].full_name())) {
      found.push_back(static_cast<int>(i));
    }
  }
  return found;
}

std::string device_name_advice(std::string_view wrong,
                               const std::vector<DeviceDescription>& devices) {
  constexpr size_t kMostEdits = 2;
  std::vector<std::string> names;
  for (const DeviceDescription& device : devices) {
    names.push_back(device.full_name());
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  // With one wrong digit almost every name is near; then the range says more.
  const auto near = nearest_name(wrong, views, kMostEdits);
  if (near && near->size() != wrong.size()) {
    return fmt::format("\"{}\"", *near);
  }
  return fmt::format("a name from \"{}\" to \"{}\", where * stands for any characters",
                     names.front(), names.back());
}

}  // namespace rocelane::softverbs
