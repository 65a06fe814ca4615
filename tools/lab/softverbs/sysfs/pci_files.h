#pragma once

#include <vector>

#include "softverbs/sysfs/node.h"
#include "softverbs/sysfs/source.h"

namespace rocelane::softverbs {

// Where the devices are on the PCI bus, as paths without the slash in front: a device is below a
// port of the root, on a bus of its own. The root is shared with what the machine has.
std::vector<Child> pci_files(const Source& source, const std::vector<VisibleDevice>& devices,
                             int cpus);

}  // namespace rocelane::softverbs
