#pragma once

// toml++ as we use it: a syntax error is a value and not an exception, and nothing to link. Its
// assertions are off in every build, because they also strike at input that the code behind them
// refuses properly ("[." in 3.3). Programs that include toml++ in two places need these four lines
// to be the same in both.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_ASSERT(expression) static_cast<void>(0)
#include <toml++/toml.h>
