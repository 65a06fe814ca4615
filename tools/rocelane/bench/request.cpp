#include "bench/request.h"

#include <nlohmann/json.hpp>

namespace rocelane::bench {
namespace {

Json as_json(const Counts& counts) {
  return {{"send_requests", counts.send_requests}, {"send_posts", counts.send_posts},
          {"receives", counts.receives},           {"receive_posts", counts.receive_posts},
          {"completions", counts.completions},     {"polls", counts.polls},
          {"empty_polls", counts.empty_polls}};
}

Counts counts_in(const Json& json) {
  Counts counts;
  json.at("send_requests").get_to(counts.send_requests);
  json.at("send_posts").get_to(counts.send_posts);
  json.at("receives").get_to(counts.receives);
  json.at("receive_posts").get_to(counts.receive_posts);
  json.at("completions").get_to(counts.completions);
  json.at("polls").get_to(counts.polls);
  json.at("empty_polls").get_to(counts.empty_polls);
  return counts;
}

}  // namespace

void to_json(Json& json, const SessionSettings& settings) {
  json = {{"plugin", settings.net.plugin},
          {"abi", settings.net.abi},
          {"nccl_library", settings.net.nccl_library},
          {"devices", settings.devices},
          {"rails", settings.rails},
          {"whole_fabric", nullptr},
          {"whole_fabric_bytes", settings.whole_fabric_bytes},
          {"connections", Json::array()},
          {"window", settings.window},
          {"traffic_class", settings.traffic_class},
          {"patience_s", settings.patience_s},
          {"fabric", settings.fabric ? Json(*settings.fabric) : Json(nullptr)},
          {"seed", settings.seed},
          {"profile_folder", settings.profile_folder},
          {"keep_profiles", settings.keep_profiles}};
  if (settings.whole_fabric) {
    json["whole_fabric"] = nccl_host::name_of(*settings.whole_fabric);
  }
  for (const ConnectionSettings& connection : settings.connections) {
    json["connections"].push_back(
        {connection.route.from, connection.route.to, connection.largest_bytes});
  }
}

void from_json(const Json& json, SessionSettings& settings) {
  json.at("plugin").get_to(settings.net.plugin);
  json.at("abi").get_to(settings.net.abi);
  json.at("nccl_library").get_to(settings.net.nccl_library);
  json.at("devices").get_to(settings.devices);
  json.at("rails").get_to(settings.rails);
  if (!json.at("whole_fabric").is_null()) {
    settings.whole_fabric = nccl_host::traffic_named(json.at("whole_fabric").get<std::string>());
  }
  json.at("whole_fabric_bytes").get_to(settings.whole_fabric_bytes);
  for (const Json& connection : json.at("connections")) {
    settings.connections.push_back({{connection.at(0).get<int>(), connection.at(1).get<int>()},
                                    connection.at(2).get<size_t>()});
  }
  json.at("window").get_to(settings.window);
  json.at("traffic_class").get_to(settings.traffic_class);
  json.at("patience_s").get_to(settings.patience_s);
  if (!json.at("fabric").is_null()) {
    settings.fabric = json.at("fabric").get<std::string>();
  }
  json.at("seed").get_to(settings.seed);
  json.at("profile_folder").get_to(settings.profile_folder);
  json.at("keep_profiles").get_to(settings.keep_profiles);
}

void to_json(Json& json, const Request& request) {
  json = {{"what", static_cast<int>(request.what)},
          {"bytes", request.bytes},
          {"messages", request.messages},
          {"connections", request.connections},
          {"ping", request.ping},
          {"pong", request.pong},
          {"load_bytes", request.load_bytes},
          {"one_thread", request.one_thread},
          {"count_instructions", request.count_instructions}};
}

void from_json(const Json& json, Request& request) {
  request.what = static_cast<Measurement>(json.at("what").get<int>());
  json.at("bytes").get_to(request.bytes);
  json.at("messages").get_to(request.messages);
  json.at("connections").get_to(request.connections);
  json.at("ping").get_to(request.ping);
  json.at("pong").get_to(request.pong);
  json.at("load_bytes").get_to(request.load_bytes);
  json.at("one_thread").get_to(request.one_thread);
  json.at("count_instructions").get_to(request.count_instructions);
}

void to_json(Json& json, const Answer& answer) {
  json = {{"seconds", answer.seconds},
          {"round_trips_us", answer.round_trips_us},
          {"counts", answer.counts ? as_json(*answer.counts) : Json(nullptr)},
          {"instructions", nullptr}};
  if (answer.instructions) {
    json["instructions"] = {answer.instructions->transport, answer.instructions->verbs,
                            answer.instructions->others};
  }
}

void from_json(const Json& json, Answer& answer) {
  json.at("seconds").get_to(answer.seconds);
  json.at("round_trips_us").get_to(answer.round_trips_us);
  if (!json.at("counts").is_null()) {
    answer.counts = counts_in(json.at("counts"));
  }
  if (const Json& parts = json.at("instructions"); !parts.is_null()) {
    answer.instructions = Instructions{parts.at(0).get<uint64_t>(), parts.at(1).get<uint64_t>(),
                                       parts.at(2).get<uint64_t>()};
  }
}

void to_json(Json& json, const SetUpAnswer& answer) {
  json = {{"net", answer.net},
          {"path", answer.path},
          {"abi", answer.abi},
          {"places", answer.places},
          {"seconds", answer.seconds},
          {"own_bytes", answer.own_bytes},
          {"shared_bytes", answer.shared_bytes},
          {"connections", answer.connections}};
}

void from_json(const Json& json, SetUpAnswer& answer) {
  json.at("net").get_to(answer.net);
  json.at("path").get_to(answer.path);
  json.at("abi").get_to(answer.abi);
  json.at("places").get_to(answer.places);
  json.at("seconds").get_to(answer.seconds);
  json.at("own_bytes").get_to(answer.own_bytes);
  json.at("shared_bytes").get_to(answer.shared_bytes);
  json.at("connections").get_to(answer.connections);
}

void to_json(Json& json, const PathAnswer& answer) { json = {{"bytes", answer.bytes}}; }

void from_json(const Json& json, PathAnswer& answer) { json.at("bytes").get_to(answer.bytes); }

}  // namespace rocelane::bench
