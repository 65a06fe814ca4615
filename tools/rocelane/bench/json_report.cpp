#include <nlohmann/json.hpp>

#include "bench/report.h"

namespace rocelane::bench {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson as_json(const Quartiles& values) {
  return {{"median", values.median},
          {"first_quartile", values.first},
          {"third_quartile", values.third}};
}

OrderedJson as_json(const SizeResult& size, bool streams) {
  OrderedJson json{{"bytes", size.bytes},
                   {"latency_us", as_json(size.latency_us)},
                   {"slowest_hundredth_us", as_json(size.slowest_us)}};
  if (streams) {
    json["megabytes_per_s"] = as_json(size.megabytes_per_s);
    json["messages_per_s"] = as_json(size.messages_per_s);
  }
  return json;
}

// Totals; `counted` is what to divide them by.
OrderedJson as_json(const CountResult& result) {
  OrderedJson json{{"bytes", result.bytes},
                   {"counted", result.counted},
                   {"counts", nullptr},
                   {"instructions", nullptr}};
  if (result.counts) {
    const Counts& c = *result.counts;
    json["counts"] = {{"send_requests", c.send_requests}, {"send_posts", c.send_posts},
                      {"receives", c.receives},           {"receive_posts", c.receive_posts},
                      {"completions", c.completions},     {"polls", c.polls},
                      {"empty_polls", c.empty_polls}};
  }
  if (result.instructions) {
    const Instructions& i = *result.instructions;
    json["instructions"] = {{"transport", i.transport}, {"verbs", i.verbs}, {"others", i.others}};
  }
  return json;
}

OrderedJson as_json(const IdleResult& idle) {
  OrderedJson json{{"receives_ns", as_json(idle.receives_ns)},
                   {"sends_ns", as_json(idle.sends_ns)}};
  if (idle.receives && idle.sends) {
    json["receives"] = as_json(*idle.receives);
    json["sends"] = as_json(*idle.sends);
  }
  return json;
}

OrderedJson as_json(const SetUpResult& set_up) {
  return {{"seconds", as_json(set_up.seconds)},
          {"own_bytes_of_a_connection", as_json(set_up.own_bytes)},
          {"shared_bytes_of_a_connection", as_json(set_up.shared_bytes)}};
}

OrderedJson as_json(const NetResult& net, bool streams) {
  OrderedJson json{{"name", net.net.net},
                   {"path", net.net.path},
                   {"abi", net.net.abi},
                   {"places", net.net.places}};
  for (const SizeResult& size : net.sizes) {
    json["sizes"].push_back(as_json(size, streams));
  }
  for (const CountResult& count : net.counts) {
    json["counts"].push_back(as_json(count));
  }
  if (net.idle) {
    json["idle"] = as_json(*net.idle);
  }
  if (net.set_up) {
    json["set_up"] = as_json(*net.set_up);
  }
  if (!net.fullest_to_mean.empty()) {
    json["fullest_path_to_mean"] = net.fullest_to_mean;
  }
  return json;
}

}  // namespace

std::string json_report(const Options& options, const Report& report) {
  OrderedJson json{
      {"connections", options.connections},
      {"window", options.window},
      {"lanes", options.lanes ? OrderedJson(*options.lanes) : OrderedJson(nullptr)},
      {"repeats", options.repeats},
      {"fabric", options.fabric_file},
      {"seed", options.seed},
      {"load_bytes", options.load_bytes ? OrderedJson(*options.load_bytes) : OrderedJson(nullptr)},
      {"why_no_instructions", report.why_no_instructions},
      {"nets", OrderedJson::array()}};
  for (const NetResult& net : report.nets) {
    json["nets"].push_back(as_json(net, !options.load_bytes));
  }
  return json.dump(2) + "\n";
}

}  // namespace rocelane::bench
