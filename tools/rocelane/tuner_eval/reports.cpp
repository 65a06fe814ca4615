#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tuner_eval/evaluation.h"

namespace rocelane::tuner_eval {
namespace {

using OrderedJson = nlohmann::ordered_json;

const char* name_of(Policy policy) {
  switch (policy) {
    case Policy::kDefault:
      return "default";
    case Policy::kTable:
      return "table";
    case Policy::kSearch:
      return "search";
  }
  return "";
}

std::string describe(const tuner::Choice& choice) {
  return fmt::format("{}/{}/{}", choice.algorithm, choice.protocol, choice.channels);
}

std::string row(const std::string& name, const tuner::Regret& regret, double choices) {
  return fmt::format("{:<48} {:>6} {:>8.2f} {:>8.2f} {:>8.2f} {:>8.1f} {:>8.2f} {:>9.1f}\n", name,
                     regret.sizes, 100 * regret.geometric, 100 * regret.percentile_95,
                     100 * regret.worst, 100 * regret.worse_share, 100 * regret.worst_switch,
                     choices);
}

double choices_of_a_size(const GroupResult& group) {
  return static_cast<double>(group.choices_measured) / static_cast<double>(group.sizes.size());
}

double choices_of_a_size(const Report& report) {
  double choices = 0;
  double sizes = 0;
  for (const GroupResult& group : report.groups) {
    choices += static_cast<double>(group.choices_measured);
    sizes += static_cast<double>(group.sizes.size());
  }
  return choices / sizes;
}

OrderedJson as_json(const tuner::Regret& regret) {
  return {{"sizes", regret.sizes},
          {"geometric", regret.geometric},
          {"percentile_95", regret.percentile_95},
          {"worst", regret.worst},
          {"share_worse_than_default", regret.worse_share},
          {"worst_switch", regret.worst_switch}};
}

OrderedJson as_json(const SizeResult& size) {
  OrderedJson json{{"bytes", size.bytes},
                   {"default", describe(size.by_default)},
                   {"chosen", nullptr},
                   {"default_us", size.outcome.default_us},
                   {"chosen_us", size.outcome.chosen_us},
                   {"best_us", size.outcome.best_us}};
  if (size.chosen) {
    json["chosen"] = describe(*size.chosen);
  }
  return json;
}

OrderedJson as_json(const GroupResult& group) {
  OrderedJson json{{"cluster", group.key.cluster},
                   {"collective", group.key.collective},
                   {"nodes", group.key.nodes},
                   {"ranks", group.key.ranks},
                   {"sizes_left_out", group.left_out},
                   {"choices_measured", group.choices_measured},
                   {"runs", group.runs}};
  json["regret"] = as_json(*regret_of({group}));
  for (const SizeResult& size : group.sizes) {
    json["results"].push_back(as_json(size));
  }
  return json;
}

}  // namespace

std::string text_report(const Options& options, const Report& report, const tuner::Regret& all) {
  std::string text = fmt::format("# {}: policy {}", options.grid_file, name_of(options.policy));
  if (options.train_every > 1) {
    text += fmt::format(", measured at every {}. size", options.train_every);
  }
  if (options.noise_percent > 0) {
    text += fmt::format(", {} % noise, {} % stalls, {} draws from seed {}", options.noise_percent,
                        options.stalls_percent, options.draws, options.seed);
  }
  text +=
      "\n# regret against the best measured choice, in percent; worse: sizes more than 2 % "
      "slower than NCCL's own\n# choice; switch: the worst loss against it; choices: measured "
      "for a size\n";
  if (report.left_out > 0) {
    text += fmt::format(
        "# left out: {} sizes without a time of NCCL's own choice, or without any other\n",
        report.left_out);
  }
  text += fmt::format("{:<48} {:>6} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9}\n", "", "sizes", "mean",
                      "p95", "worst", "worse", "switch", "choices");
  for (const GroupResult& group : report.groups) {
    const std::string name = fmt::format("{} {} {}x{}", group.key.cluster, group.key.collective,
                                         group.key.nodes, group.key.ranks);
    text += row(name, *regret_of({group}), choices_of_a_size(group));
  }
  return text + row("all", all, choices_of_a_size(report));
}

std::string json_report(const Options& options, const Report& report, const tuner::Regret& all) {
  OrderedJson json{{"grid", options.grid_file},
                   {"policy", name_of(options.policy)},
                   {"train_every", options.train_every},
                   {"noise_percent", options.noise_percent},
                   {"stalls_percent", options.stalls_percent},
                   {"draws", options.draws},
                   {"seed", options.seed},
                   {"sizes_left_out", report.left_out},
                   {"choices_measured_of_a_size", choices_of_a_size(report)},
                   {"regret", as_json(all)}};
  for (const GroupResult& group : report.groups) {
    json["groups"].push_back(as_json(group));
  }
  return json.dump(2) + "\n";
}

}  // namespace rocelane::tuner_eval
