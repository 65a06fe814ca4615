#include "tuner_eval/evaluation.h"

#include <algorithm>
#include <iterator>

#include "tuner/policy/confirm.h"
#include "tuner/policy/search.h"
#include "tuner/policy/table_policy.h"
#include "tuner_eval/measuring.h"

namespace rocelane::tuner_eval {
namespace {

using tuner::Choice;
using tuner::Grid;
using tuner::SizeTimes;

constexpr double kTableMargin = 0.01;
constexpr size_t kSearchBudget = 10;
constexpr int kConfirmingRounds = 15;

bool can_be_judged(const SizeTimes& size) { return size.by_default && !size.time_us.empty(); }

double best_time(const SizeTimes& size) {
  double best = size.by_default->time_us;
  for (const auto& [choice, time] : size.time_us) {
    best = std::min(best, time);
  }
  return best;
}

// Where a search begins: at NCCL's own choice, or, where the grid does not say what that was, at
// the one with the most channels.
Choice start_of_search(const SizeTimes& size) {
  if (size.time_us.contains(size.by_default->choice)) {
    return size.by_default->choice;
  }
  return std::max_element(size.time_us.begin(), size.time_us.end(),
                          [](const auto& one, const auto& other) {
                            return one.first.channels < other.first.channels;
                          })
      ->first;
}

// Replays one draw on one group.
class Replay {
 public:
  Replay(const Grid& grid, const Options& options, uint64_t seed)
      : grid_(grid), options_(options), measuring_(options, seed) {
    if (options.policy == Policy::kTable) {
      measure_table();
    }
  }

  std::optional<Choice> choose(uint64_t bytes, const SizeTimes& size) {
    switch (options_.policy) {
      case Policy::kDefault:
        return std::nullopt;
      case Policy::kTable:
        return choose_from_table(bytes, size);
      case Policy::kSearch:
        return search(size);
    }
    return std::nullopt;
  }

  size_t choices_measured() const { return choices_measured_; }
  size_t runs() const { return measuring_.runs(); }

 private:
  void measure_table() {
    int turn = 0;
    for (const auto& [bytes, size] : grid_) {
      if (turn++ % options_.train_every != 0) {
        continue;
      }
      std::map<Choice, double>& times = table_[bytes].time_us;
      for (const auto& [choice, time] : size.time_us) {
        times[choice] = *measuring_.measure(size, choice);
      }
      if (size.by_default) {
        times[size.by_default->choice] = *measuring_.measure(size, size.by_default->choice);
      }
      choices_measured_ += times.size();
    }
  }

  // The switch must hold where it was measured: at this size, or at the neighbours on both sides.
  std::optional<Choice> choose_from_table(uint64_t bytes, const SizeTimes& size) {
    const Choice& incumbent = size.by_default->choice;
    const auto chosen = tuner::choose_from_table(table_, bytes, incumbent, kTableMargin);
    if (!chosen) {
      return std::nullopt;
    }
    const auto above = table_.lower_bound(bytes);
    const auto below = above->first == bytes ? above : std::prev(above);
    const bool holds = confirm(below->first, *chosen, incumbent) &&
                       (above == below || confirm(above->first, *chosen, incumbent));
    return holds ? chosen : std::nullopt;
  }

  bool confirm(uint64_t bytes, const Choice& challenger, const Choice& incumbent) {
    const SizeTimes& size = grid_.at(bytes);
    return tuner::confirm_switch(
        challenger, incumbent,
        [&](const Choice& choice) { return measuring_.run_once(size, choice); }, kConfirmingRounds);
  }

  std::optional<Choice> search(const SizeTimes& size) {
    tuner::SearchSpace space;
    for (const auto& [choice, time] : size.time_us) {
      space.algorithms.insert(choice.algorithm);
      space.protocols.insert(choice.protocol);
      space.channels.insert(choice.channels);
    }
    const Choice& incumbent = size.by_default->choice;
    const auto found = tuner::search_choice(
        start_of_search(size), space,
        [&](const Choice& choice) { return measuring_.measure(size, choice); }, kSearchBudget);
    if (!found) {
      return std::nullopt;
    }
    choices_measured_ += found->measurements;
    if (found->choice == incumbent) {
      return std::nullopt;
    }
    const bool holds = tuner::confirm_switch(
        found->choice, incumbent,
        [&](const Choice& choice) { return measuring_.run_once(size, choice); }, kConfirmingRounds);
    return holds ? std::optional(found->choice) : std::nullopt;
  }

  const Grid& grid_;
  const Options& options_;
  Measuring measuring_;
  Grid table_;
  size_t choices_measured_ = 0;
};

SizeResult judge(uint64_t bytes, const SizeTimes& size, const std::optional<Choice>& chosen) {
  SizeResult result{bytes, size.by_default->choice, chosen, {}};
  const double default_us = size.by_default->time_us;
  result.outcome = {chosen ? *recorded_time(size, *chosen) : default_us, default_us,
                    best_time(size)};
  return result;
}

void replay(Replay run, const Grid& grid, GroupResult& group) {
  for (const auto& [bytes, size] : grid) {
    if (!can_be_judged(size)) {
      continue;
    }
    std::optional<Choice> chosen = run.choose(bytes, size);
    // What was never measured at this size cannot be judged, nor would it run there.
    if (chosen && !recorded_time(size, *chosen)) {
      chosen.reset();
    }
    group.sizes.push_back(judge(bytes, size, chosen));
  }
  group.choices_measured += run.choices_measured();
  group.runs += run.runs();
}

}  // namespace

Report evaluate(const tuner::Grids& grids, const Options& options) {
  Report report;
  uint64_t seed = options.seed;
  for (const auto& [key, grid] : grids) {
    GroupResult group;
    group.key = key;
    for (const auto& [bytes, size] : grid) {
      group.left_out += can_be_judged(size) ? 0U : 1U;
    }
    report.left_out += group.left_out;
    if (group.left_out == grid.size()) {
      continue;
    }
    for (int draw = 0; draw < options.draws; ++draw) {
      replay(Replay(grid, options, seed++), grid, group);
    }
    report.groups.push_back(std::move(group));
  }
  return report;
}

Result<tuner::Regret> regret_of(const std::vector<GroupResult>& groups) {
  std::vector<tuner::Outcome> outcomes;
  for (const GroupResult& group : groups) {
    for (const SizeResult& size : group.sizes) {
      outcomes.push_back(size.outcome);
    }
  }
  return tuner::summarize(outcomes);
}

}  // namespace rocelane::tuner_eval
