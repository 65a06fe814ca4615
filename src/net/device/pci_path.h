#pragma once

#include <string>
#include <string_view>

namespace rocelane::net {

// The path NCCL gets for a device, from the resolved sysfs path of <ibdev>/device: functions of one
// card become one path (…/0000:1b:00.1 -> …/0000:1b:00.0). Empty when the last component is no PCI
// address, as for soft-RoCE.
std::string card_pci_path(std::string_view resolved_device_path);

}  // namespace rocelane::net
