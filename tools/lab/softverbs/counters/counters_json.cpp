#include "softverbs/counters/counters_json.h"

#include <algorithm>
#include <iterator>

#include <nlohmann/json.hpp>

namespace rocelane::softverbs {
namespace {

using Json = nlohmann::ordered_json;

// Every member of the counters that is a plain number, under its own name.
#define FIELD(name) \
  { #name, counters.name }

Json of_queue_pair(const softverbs_qp_counters& counters) {
  return {FIELD(sends),      FIELD(writes),      FIELD(writes_with_immediate), FIELD(reads),
          FIELD(send_posts), FIELD(receives),    FIELD(receive_posts),         FIELD(inline_bytes),
          FIELD(sent_bytes), FIELD(completions), FIELD(retransmissions)};
}

Json of_device(const softverbs_device_counters& counters) {
  return {FIELD(polls),
          FIELD(empty_polls),
          FIELD(registrations),
          FIELD(deregistrations),
          FIELD(live_queue_pairs),
          FIELD(live_completion_queues),
          FIELD(live_memory_regions),
          FIELD(live_protection_domains),
          FIELD(live_shared_receive_queues),
          FIELD(ecn_marked_packets),
          FIELD(congestion_notifications),
          FIELD(out_of_sequence),
          FIELD(retry_exceeded),
          FIELD(rnr_nak_received),
          FIELD(duplicate_requests),
          FIELD(access_errors),
          FIELD(port_down_events)};
}

Json of_link(const softverbs_link_counters& counters) {
  return {FIELD(packets),        FIELD(bytes),  FIELD(lost_packets),
          FIELD(marked_packets), FIELD(pauses), FIELD(longest_queue_bytes)};
}

#undef FIELD

// The places that are not zero, by their number.
template <size_t kSize>
Json where_counted(const uint64_t (&values)[kSize]) {
  Json result = Json::object();
  for (size_t i = 0; i < kSize; ++i) {
    if (values[i] != 0) {
      result[std::to_string(i)] = values[i];
    }
  }
  return result;
}

Json as_json(const QueuePairReport& queue_pair) {
  return {{"number", queue_pair.number},
          {"peer_device", queue_pair.peer_device},
          {"peer_number", queue_pair.peer_number},
          {"udp_source_port", queue_pair.udp_source_port},
          {"traffic_class", queue_pair.traffic_class},
          {"path", queue_pair.path},
          {"counters", of_queue_pair(queue_pair.counters)}};
}

Json as_json(const DeviceReport& device) {
  Json queue_pairs = Json::array();
  std::ranges::transform(device.queue_pairs, std::back_inserter(queue_pairs),
                         [](const QueuePairReport& each) { return as_json(each); });
  return {
      {"name", device.name},
      {"counters", of_device(device.counters)},
      {"work", of_queue_pair(device.counters.queue_pairs)},
      {"sent_bytes_by_traffic_class", where_counted(device.counters.sent_bytes_by_traffic_class)},
      {"queue_pairs", std::move(queue_pairs)},
      {"queue_pairs_left_out", device.queue_pairs_left_out}};
}

Json as_json(const LinkReport& link) {
  return {{"name", link.name},
          {"counters", of_link(link.counters)},
          {"bytes_by_priority", where_counted(link.counters.bytes_by_priority)}};
}

}  // namespace

nlohmann::ordered_json counters_json(const RunReport& report) {
  Json devices = Json::array();
  std::ranges::transform(report.devices, std::back_inserter(devices),
                         [](const DeviceReport& each) { return as_json(each); });
  Json links = Json::array();
  std::ranges::transform(report.links, std::back_inserter(links),
                         [](const LinkReport& each) { return as_json(each); });
  return {{"run", report.run},
          {"seed", report.seed},
          {"time_ns", report.time_ns},
          {"devices", std::move(devices)},
          {"links", std::move(links)}};
}

}  // namespace rocelane::softverbs
