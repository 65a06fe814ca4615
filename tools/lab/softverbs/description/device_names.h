#pragma once

// Looking up devices by the names of a file. Pure; any thread.

#include <string>
#include <string_view>
#include <vector>

#include "softverbs/description/run_description.h"

namespace rocelane::softverbs {

// Numbers of the devices whose full name `pattern` matches.
std::vector<int> devices_named(std::string_view pattern,
                               const std::vector<DeviceDescription>& devices);

// What to write instead of a name that matches none: the nearest name, or which names there are.
std::string device_name_advice(std::string_view wrong,
                               const std::vector<DeviceDescription>& devices);

}  // namespace rocelane::softverbs
