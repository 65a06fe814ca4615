#pragma once

// What the kernel shows of one RDMA device: <PCI device>/infiniband/<name> and <PCI
// device>/infiniband_verbs/uverbsN.

#include <string>

#include "softverbs/sysfs/node.h"
#include "softverbs/sysfs/source.h"

namespace rocelane::softverbs {

std::string infiniband_path(const VisibleDevice& device);
std::string uverbs_name(size_t number);
std::string uverbs_path(const VisibleDevice& device, size_t number);

// `number`: the place in source.devices().
Directory infiniband_files(const Source& source, const VisibleDevice& device, size_t number);
Directory uverbs_files(const VisibleDevice& device, size_t number);

}  // namespace rocelane::softverbs
