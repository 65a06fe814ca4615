#pragma once

#include "base/settings.h"

namespace rocelane {

// A copy of this process's environment. Not safe against another thread that calls setenv
// meanwhile.
Environment process_environment();

}  // namespace rocelane
