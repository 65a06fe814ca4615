#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "bench/report.h"

namespace rocelane::bench {
namespace {

// One number of a net in a row. None: it was not measured.
using Cell = std::function<std::optional<double>(const NetResult&)>;

struct Row {
  std::string name;
  Cell cell;
  int digits = 3;
};

std::string percent(const Quartiles& values) {
  return fmt::format("{:.0f}", 100 * values.spread());
}

// Of the first net to the second.
std::string ratio(double first, double second) {
  return second == 0 ? "n/a" : fmt::format("{:.2f}", first / second);
}

std::string describe_nets(const Options& options, const Report& report) {
  std::string text;
  for (const NetResult& net : report.nets) {
    text += fmt::format("# {}: table v{} of {}\n", net.net.net, net.net.abi, net.net.path);
  }
  if (report.nets.size() > 1) {
    const bool both_alive = options.subject == Subject::kSizes || options.subject == Subject::kIdle;
    text += fmt::format("# each in a process of its own, {}, measured in turn\n",
                        both_alive ? "both alive" : "new for every repeat");
  }
  return text;
}

std::string describe_places(const Options& options, const Report& report) {
  const std::vector<std::string>& places = report.nets.front().net.places;
  std::string text = places.size() == 2 ? fmt::format("# {} to {}", places[0], places[1])
                                        : fmt::format("# {} devices", places.size());
  const int connections = options.subject == Subject::kSpread ? report.nets.front().net.connections
                                                              : options.connections;
  text += fmt::format(", {} connection{}, window {}", connections, connections == 1 ? "" : "s",
                      options.window);
  if (options.lanes) {
    text += fmt::format(", {} lane{} each", *options.lanes, *options.lanes == 1 ? "" : "s");
  }
  if (!options.fabric_file.empty()) {
    text += fmt::format("; times are those of {} on the virtual clock", options.fabric_file);
  }
  return text + "\n";
}

std::string header_of_sizes(const Options& options, const Report& report) {
  const bool streams = !options.load_bytes;
  std::string names = fmt::format("#{:>10}", "");
  std::string columns = fmt::format("#{:>10}", "size");
  std::string units = fmt::format("#{:>10}", "B");
  for (const NetResult& net : report.nets) {
    names += fmt::format("  {:^{}}", net.net.net, streams ? 50 : 26);
    columns += fmt::format("  {:>10}{:>5}{:>11}", "time", "+-", "slowest");
    units += fmt::format("  {:>10}{:>5}{:>11}", "us", "%", "1 %, us");
    if (streams) {
      columns += fmt::format("{:>9}{:>5}{:>10}", "rate", "+-", "rate");
      units += fmt::format("{:>9}{:>5}{:>10}", "MB/s", "%", "msg/s");
    }
  }
  if (report.nets.size() > 1) {
    const std::string between =
        fmt::format("{} / {}", report.nets[0].net.net, report.nets[1].net.net);
    names += fmt::format("  {:>16}", between);
    columns +=
        streams ? fmt::format("  {:>8}{:>8}", "time", "rate") : fmt::format("  {:>8}", "time");
  }
  return names + "\n" + columns + "\n" + units + "\n";
}

std::string row_of_size(const Options& options, const Report& report, size_t index) {
  const bool streams = !options.load_bytes;
  std::string row = fmt::format("{:>11}", options.sizes[index]);
  for (const NetResult& net : report.nets) {
    const SizeResult& size = net.sizes[index];
    row += fmt::format("  {:>10.2f}{:>5}{:>11.2f}", size.latency_us.median,
                       percent(size.latency_us), size.slowest_us.median);
    if (streams) {
      row += fmt::format("{:>9.1f}{:>5}{:>10.0f}", size.megabytes_per_s.median,
                         percent(size.megabytes_per_s), size.messages_per_s.median);
    }
  }
  if (report.nets.size() > 1) {
    const SizeResult& first = report.nets[0].sizes[index];
    const SizeResult& second = report.nets[1].sizes[index];
    row += fmt::format("  {:>8}", ratio(first.latency_us.median, second.latency_us.median));
    if (streams) {
      row += fmt::format("{:>8}", ratio(first.messages_per_s.median, second.messages_per_s.median));
    }
  }
  return row + "\n";
}

std::string table_of_sizes(const Options& options, const Report& report) {
  std::string text = fmt::format(
      "# {} repeats: medians, and the distance of the quartiles in % of them\n"
      "# time: one way, half a round trip{}\n",
      options.repeats,
      options.load_bytes
          ? fmt::format(", while messages of {} bytes fill the wire", *options.load_bytes)
          : "; rate: one direction, all connections");
  text += header_of_sizes(options, report);
  for (size_t index = 0; index < options.sizes.size(); ++index) {
    text += row_of_size(options, report, index);
  }
  return text;
}

std::string line_of(const Row& row, const Report& report) {
  std::string line = fmt::format("  {:<30}", row.name);
  std::vector<std::optional<double>> values;
  for (const NetResult& net : report.nets) {
    values.push_back(row.cell(net));
    line += values.back() ? fmt::format("{:>14.{}f}", *values.back(), row.digits)
                          : fmt::format("{:>14}", "n/a");
  }
  if (values.size() > 1) {
    line += fmt::format("{:>10}", values[0] && values[1] ? ratio(*values[0], *values[1]) : "n/a");
  }
  return line + "\n";
}

std::string header_of_rows(const Report& report, const std::string& title) {
  std::string line = fmt::format("{:<32}", title);
  for (const NetResult& net : report.nets) {
    line += fmt::format("{:>14}", net.net.net);
  }
  return line + (report.nets.size() > 1 ? fmt::format("{:>10}\n", "ratio") : "\n");
}

using FindCount = std::function<const CountResult&(const NetResult&)>;

Row count_row(const std::string& name, const FindCount& find, uint64_t (*of)(const Counts&)) {
  return {name, [find, of](const NetResult& net) -> std::optional<double> {
            const CountResult& result = find(net);
            if (!result.counts) {
              return std::nullopt;
            }
            return static_cast<double>(of(*result.counts)) / static_cast<double>(result.counted);
          }};
}

Row instruction_row(const std::string& name, const FindCount& find, uint64_t Instructions::*part) {
  return {name,
          [find, part](const NetResult& net) -> std::optional<double> {
            const CountResult& result = find(net);
            if (!result.instructions) {
              return std::nullopt;
            }
            return static_cast<double>(*result.instructions.*part) /
                   static_cast<double>(result.counted);
          },
          1};
}

std::vector<Row> rows_of_counts(const FindCount& find) {
  return {
      count_row("send work requests", find, [](const Counts& c) { return c.send_requests; }),
      count_row("calls that post them", find, [](const Counts& c) { return c.send_posts; }),
      count_row("receives posted", find, [](const Counts& c) { return c.receives; }),
      count_row("calls that post them", find, [](const Counts& c) { return c.receive_posts; }),
      count_row("  requests + calls + receives", find,
                [](const Counts& c) { return c.send_requests + c.send_posts + c.receives; }),
      count_row("completions", find, [](const Counts& c) { return c.completions; }),
      count_row("polls", find, [](const Counts& c) { return c.polls; }),
      count_row("  of these, empty", find, [](const Counts& c) { return c.empty_polls; }),
      instruction_row("instructions in the transport", find, &Instructions::transport),
      instruction_row("  in libibverbs", find, &Instructions::verbs),
      instruction_row("  in other libraries", find, &Instructions::others),
  };
}

std::string what_is_missing(const Report& report, const CountResult& sample) {
  std::string text;
  if (!sample.counts) {
    text += "Work requests and polls are not counted: libibverbs is not softverbs.\n";
  }
  if (!sample.instructions) {
    text += fmt::format("Instructions are not counted: {}.\n", report.why_no_instructions);
  }
  return text;
}

std::string tables_of_counts(const Options& options, const Report& report) {
  std::string text =
      "\n# Counted for each message, sender and receiver together; one thread plays both\n";
  for (size_t index = 0; index < options.sizes.size(); ++index) {
    const FindCount find = [index](const NetResult& net) -> const CountResult& {
      return net.counts[index];
    };
    const uint64_t counted = report.nets.front().counts[index].counted;
    text +=
        header_of_rows(report, fmt::format("{} bytes, {} messages", options.sizes[index], counted));
    for (const Row& row : rows_of_counts(find)) {
      text += line_of(row, report);
    }
  }
  return text + what_is_missing(report, report.nets.front().counts.front());
}

std::string table_of_idle(const Options& options, const Report& report) {
  std::string text =
      fmt::format("# {} repeats, medians; a round is one call for each connection, by one thread\n",
                  options.repeats);
  text += header_of_rows(report, "a round with nothing to do, ns");
  text += line_of({"receives nobody sends to",
                   [](const NetResult& net) { return net.idle->receives_ns.median; }, 0},
                  report);
  text += line_of({"sends nobody has asked for",
                   [](const NetResult& net) { return net.idle->sends_ns.median; }, 0},
                  report);
  if (!report.nets.front().idle->receives) {
    return text;
  }
  for (const auto& [title, member] :
       {std::pair{"counted, a round of receives", &IdleResult::receives},
        std::pair{"counted, a round of sends", &IdleResult::sends}}) {
    const FindCount find = [member = member](const NetResult& net) -> const CountResult& {
      return *((*net.idle).*member);
    };
    text += header_of_rows(report, title);
    for (const Row& row :
         {count_row("polls", find, [](const Counts& c) { return c.polls; }),
          instruction_row("instructions in the transport", find, &Instructions::transport),
          instruction_row("  in libibverbs", find, &Instructions::verbs),
          instruction_row("  in other libraries", find, &Instructions::others)}) {
      text += line_of(row, report);
    }
  }
  return text + what_is_missing(report, *report.nets.front().idle->receives);
}

std::string table_of_set_up(const Report& report) {
  std::string text =
      "# medians; memory: of a connection, both its ends, the device's part included\n";
  text += header_of_rows(report, "");
  text += line_of({"set-up of all, ms",
                   [](const NetResult& net) { return net.set_up->seconds.median * 1e3; }, 1},
                  report);
  text += line_of({"memory of the process, KiB",
                   [](const NetResult& net) { return net.set_up->own_bytes.median / 1024; }, 1},
                  report);
  text += line_of({"shared memory, KiB",
                   [](const NetResult& net) { return net.set_up->shared_bytes.median / 1024; }, 1},
                  report);
  text += line_of({"both, KiB",
                   [](const NetResult& net) {
                     const SetUpResult& set_up = *net.set_up;
                     return (set_up.own_bytes.median + set_up.shared_bytes.median) / 1024;
                   },
                   1},
                  report);
  return text;
}

std::string table_of_spread(const Options& options, const Report& report) {
  std::string text = fmt::format(
      "# {} messages of {} bytes in all, every host to {} on every rail, {} seeds from {}\n",
      options.messages, options.sizes.front(),
      options.traffic == nccl_host::Traffic::kRing ? "the next one" : "all others", options.seeds,
      options.seed);
  text += header_of_rows(report, "fullest path / mean of all");
  for (const auto& [name, part] :
       {std::pair{"median of the seeds", 0.5}, std::pair{"95 of 100 seeds are below", 0.95},
        std::pair{"the worst", 1.0}}) {
    text += line_of(
        {name, [part = part](const NetResult& net) { return quantile(net.fullest_to_mean, part); }},
        report);
  }
  return text;
}

}  // namespace

std::string text_report(const Options& options, const Report& report) {
  std::string text = describe_nets(options, report) + describe_places(options, report);
  switch (options.subject) {
    case Subject::kSizes:
      text += table_of_sizes(options, report);
      return options.counts ? text + tables_of_counts(options, report) : text;
    case Subject::kIdle:
      return text + table_of_idle(options, report);
    case Subject::kSetUp:
      return text + table_of_set_up(report);
    case Subject::kSpread:
      return text + table_of_spread(options, report);
  }
  return text;
}

}  // namespace rocelane::bench
