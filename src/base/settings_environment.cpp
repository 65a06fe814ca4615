#include "base/settings_environment.h"

#include <unistd.h>

namespace rocelane {

Environment process_environment() {
  Environment copy;
  if (environ == nullptr) {
    return copy;
  }
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=');
    // The first of two equal names counts: it is the one getenv finds.
    if (equals != std::string_view::npos) {
      copy.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return copy;
}

}  // namespace rocelane
