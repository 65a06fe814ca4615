#pragma once

// The files below /sys that describe RDMA devices, as the kernel would show them for the devices of
// a run.

#include <string_view>

#include "softverbs/sysfs/node.h"
#include "softverbs/sysfs/source.h"

namespace rocelane::softverbs {

// Cheap: false for nearly every path a program opens. True does not promise that something is
// there.
bool may_be_device_file(std::string_view path);

// The file system from `/` on, as far as it is the run's: /sys/class/infiniband,
// /sys/class/infiniband_verbs, and the devices' places on the PCI bus. `source` must outlive the
// result. `cpus`: of this machine; all are near all devices.
Directory device_files(const Source& source, int cpus);

}  // namespace rocelane::softverbs
