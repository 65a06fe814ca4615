#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "nccl_host/report.h"

namespace rocelane::nccl_host {
namespace {

using Json = nlohmann::ordered_json;

Json as_json(const Meter& meter) {
  return {{"messages", meter.messages},       {"bytes", meter.bytes},     {"starts", meter.starts},
          {"refusals", meter.refusals},       {"flushes", meter.flushes}, {"tests", meter.tests},
          {"empty_tests", meter.empty_tests}, {"call_ns", meter.call_ns}};
}

Json as_json(const Meter& meter, bool has_instructions) {
  Json json = as_json(meter);
  json["instructions"] = has_instructions ? Json(meter.instructions) : Json(nullptr);
  return json;
}

Json as_json(const softverbs_device_counters& counters) {
  const softverbs_qp_counters& q = counters.queue_pairs;
  return {{"sends", q.sends},
          {"writes", q.writes},
          {"writes_with_immediate", q.writes_with_immediate},
          {"reads", q.reads},
          {"send_posts", q.send_posts},
          {"receives", q.receives},
          {"receive_posts", q.receive_posts},
          {"inline_bytes", q.inline_bytes},
          {"sent_bytes", q.sent_bytes},
          {"completions", q.completions},
          {"retransmissions", q.retransmissions},
          {"polls", counters.polls},
          {"empty_polls", counters.empty_polls},
          {"registrations", counters.registrations},
          {"deregistrations", counters.deregistrations}};
}

Json as_json(const LiveObjects& objects) {
  return {{"queue_pairs", objects.queue_pairs},
          {"completion_queues", objects.completion_queues},
          {"memory_regions", objects.memory_regions},
          {"protection_domains", objects.protection_domains},
          {"shared_receive_queues", objects.shared_receive_queues}};
}

Json as_json(const LifeResult& life) {
  Json json{{"aborted", life.aborted},
            {"wrong_bytes", life.wrong_bytes},
            {"wrong", life.wrong},
            {"set_up_s", life.set_up_s},
            {"messages_s", life.messages_s},
            {"real_s", life.real_s},
            {"processor_s", life.processor_s},
            {"senders", as_json(life.senders, life.has_instructions)},
            {"receivers", as_json(life.receivers, life.has_instructions)},
            {"trace_digest",
             life.trace_digest ? Json(fmt::format("{:016x}", *life.trace_digest)) : Json(nullptr)},
            {"devices", nullptr}};
  if (life.has_counters) {
    json["devices"] = Json::object();
    for (const auto& [name, counters] : life.devices) {
      json["devices"][name] = as_json(counters);
    }
    json["total"] = as_json(sum_of(life.devices));
  }
  return json;
}

Json as_json(const NetReport& net) {
  Json json{{"name", net.last().net_name}, {"path", net.path},         {"abi", net.last().abi},
            {"built_in", net.built_in},    {"unloaded", net.unloaded}, {"ranks", Json::array()},
            {"lives", Json::array()}};
  json["left_behind"] = net.last().has_counters ? as_json(net.left_behind) : Json(nullptr);
  for (const RankUse& rank : net.last().ranks) {
    json["ranks"].push_back(
        {{"rank", rank.rank}, {"device", rank.device}, {"device_name", rank.device_name}});
  }
  for (const LifeResult& life : net.lives) {
    json["lives"].push_back(as_json(life));
  }
  return json;
}

}  // namespace

std::string json_report(const Options& options, const std::vector<NetReport>& nets) {
  Json report{{"traffic", name_of(options.traffic)},
              {"mix", options.plan.sizes.empty() ? Json(name_of(options.plan.mix)) : Json(nullptr)},
              {"sizes", options.plan.sizes},
              {"group", options.plan.group},
              {"window", options.life.window},
              {"seed", options.life.seed},
              {"nets", Json::array()}};
  for (const NetReport& net : nets) {
    report["nets"].push_back(as_json(net));
  }
  return report.dump(2) + "\n";
}

}  // namespace rocelane::nccl_host
