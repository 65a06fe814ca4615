#include "tuner/policy/search.h"

#include <iterator>

namespace rocelane::tuner {
namespace {

class Descent {
 public:
  Descent(const SearchSpace& space, const Measure& measure, size_t budget)
      : space_(space), measure_(measure), budget_(budget) {}

  std::optional<Found> from(const Choice& start) {
    if (!improves(start)) {
      return std::nullopt;
    }
    bool improved = true;
    while (improved) {
      improved = try_algorithms();
      improved |= try_protocols();
      improved |= try_channels();
    }
    best_.measurements = tried_.size();
    return best_;
  }

 private:
  // Measures a choice that was not measured before, and keeps it if it is the fastest yet.
  bool improves(const Choice& choice) {
    if (tried_.size() >= budget_ || !tried_.insert(choice).second) {
      return false;
    }
    const std::optional<double> time = measure_(choice);
    const bool is_first = tried_.size() == 1;
    if (!time || (!is_first && *time >= best_.time_us)) {
      return false;
    }
    best_.choice = choice;
    best_.time_us = *time;
    return true;
  }

  bool try_algorithms() {
    bool improved = false;
    for (const std::string& algorithm : space_.algorithms) {
      improved |= improves({algorithm, best_.choice.protocol, best_.choice.channels});
    }
    return improved;
  }

  bool try_protocols() {
    bool improved = false;
    for (const std::string& protocol : space_.protocols) {
      improved |= improves({best_.choice.algorithm, protocol, best_.choice.channels});
    }
    return improved;
  }

  bool improves_with(int channels) {
    return improves({best_.choice.algorithm, best_.choice.protocol, channels});
  }

  bool try_channels() {
    if (space_.channels.empty()) {
      return false;
    }
    bool improved = improves_with(*space_.channels.rbegin());
    improved |= improves_with(*space_.channels.begin());
    while (try_next_channels()) {
      improved = true;
    }
    return improved;
  }

  bool try_next_channels() {
    const auto above = space_.channels.upper_bound(best_.choice.channels);
    if (above != space_.channels.end() && improves_with(*above)) {
      return true;
    }
    const auto here = space_.channels.lower_bound(best_.choice.channels);
    return here != space_.channels.begin() && improves_with(*std::prev(here));
  }

  const SearchSpace& space_;
  const Measure& measure_;
  const size_t budget_;
  std::set<Choice> tried_;
  Found best_;
};

}  // namespace

std::optional<Found> search_choice(const Choice& start, const SearchSpace& space,
                                   const Measure& measure, size_t budget) {
  return Descent(space, measure, budget).from(start);
}

}  // namespace rocelane::tuner
