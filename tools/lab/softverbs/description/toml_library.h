#pragma once

#include "base/settings_toml_library.h"
