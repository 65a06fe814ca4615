#pragma once

// Descriptors that programs get for our files and directories. The kernel keeps their path for us,
// so nothing has to be remembered, and closing, duplicating or inheriting them needs no help.

#include <string>

#include "softverbs/sysfs/node.h"

namespace rocelane::softverbs {

// A descriptor to read the file from, or the directory's; -1 with errno. `flags`: of open().
int open_node(const Found& found, int flags);

// The path of a descriptor that open_node made; empty for any other. Keeps errno.
std::string path_of_handle(int descriptor);

}  // namespace rocelane::softverbs
