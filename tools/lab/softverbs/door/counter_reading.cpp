#include "softverbs/door/counter_reading.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "softverbs/counters/counters_json.h"
#include "softverbs/door/lab_run.h"
#include "softverbs/timed/timed.h"

namespace rocelane::softverbs::door {
namespace {

void add(softverbs_qp_counters& sum, const softverbs_qp_counters& part) {
  sum.sends += part.sends;
  sum.writes += part.writes;
  sum.writes_with_immediate += part.writes_with_immediate;
  sum.reads += part.reads;
  sum.send_posts += part.send_posts;
  sum.receives += part.receives;
  sum.receive_posts += part.receive_posts;
  sum.inline_bytes += part.inline_bytes;
  sum.sent_bytes += part.sent_bytes;
  sum.completions += part.completions;
  sum.retransmissions += part.retransmissions;
}

template <class Visit>
void for_each_live_pair(Run& run, Visit visit) {
  const uint32_t high = std::min(run.header().queue_pair_table.high.load(), kMostQueuePairs);
  for (uint32_t slot = 0; slot < high; ++slot) {
    const QueuePair& pair = run.queue_pair(slot);
    if (pair.use.load() == Use::kLive) {
      visit(pair);
    }
  }
}

QueuePairReport report_of(Run& run, const QueuePairRecord& record) {
  QueuePairReport report;
  report.number = record.number;
  report.peer_device = record.peer_device < run.header().device_count
                           ? run.description().devices[record.peer_device].full_name()
                           : "";
  report.peer_number = record.peer_number;
  report.udp_source_port = record.udp_source_port;
  report.traffic_class = record.traffic_class;
  for (uint8_t hop = 0; hop < record.path.length; ++hop) {
    report.path.push_back(run.topology().links()[record.path.links[hop]].name);
  }
  report.counters = read_counters(record.counters);
  return report;
}

QueuePairReport report_of(Run& run, const QueuePair& pair) {
  QueuePairRecord record{};
  record.number = pair.number;
  record.peer_device = pair.peer_device;
  record.peer_number = pair.attributes.dest_qp_num;
  record.udp_source_port = pair.udp_source_port;
  record.traffic_class = pair.attributes.ah_attr.grh.traffic_class;
  record.path = pair.requester.has_path ? pair.requester.path : Path{};
  QueuePairReport report = report_of(run, record);
  report.counters = read_counters(pair.counters);
  return report;
}

RunReport report_of(Run& run) {
  RunReport report;
  report.run = run.settings().name;
  report.seed = run.description().seed;
  report.time_ns = run.now_ns();
  for (uint32_t number = 0; number < run.header().device_count; ++number) {
    report.devices.push_back(
        {run.description().devices[number].full_name(), read_device_counters(run, number), {}, 0});
  }
  const Journal& journal = run.header().journal;
  const uint64_t written = journal.written.load();
  for (uint64_t i = 0; i < std::min<uint64_t>(written, kMostRecords); ++i) {
    const QueuePairRecord& record = run.at(journal.records)[i];
    report.devices[record.device].queue_pairs.push_back(report_of(run, record));
  }
  if (written > kMostRecords) {
    report.devices[0].queue_pairs_left_out = written - kMostRecords;
  }
  for_each_live_pair(run, [&](const QueuePair& pair) {
    if (pair.attributes.dest_qp_num != 0) {
      report.devices[pair.device].queue_pairs.push_back(report_of(run, pair));
    }
  });
  if (run.timed()) {
    for (uint32_t number = 0; number < run.fabric().link_count; ++number) {
      report.links.push_back(
          {run.topology().links()[number].name, read_link_counters(run, number)});
    }
  }
  return report;
}

}  // namespace

softverbs_qp_counters read_counters(const QueuePairCounters& counters) {
  softverbs_qp_counters result{};
  result.sends = counters.sends.get();
  result.writes = counters.writes.get();
  result.writes_with_immediate = counters.writes_with_immediate.get();
  result.reads = counters.reads.get();
  result.send_posts = counters.send_posts.get();
  result.receives = counters.receives.get();
  result.receive_posts = counters.receive_posts.get();
  result.inline_bytes = counters.inline_bytes.get();
  result.sent_bytes = counters.sent_bytes.get();
  result.completions = counters.completions.get();
  result.retransmissions = counters.retransmissions.get();
  return result;
}

softverbs_device_counters read_device_counters(Run& run, uint32_t device) {
  const DeviceCounters& counters = run.device(device).counters;
  softverbs_device_counters result{};
  result.queue_pairs = read_counters(counters.destroyed_queue_pairs);
  for_each_live_pair(run, [&](const QueuePair& pair) {
    if (pair.device == device) {
      add(result.queue_pairs, read_counters(pair.counters));
    }
  });
  result.polls = counters.polls.get();
  result.empty_polls = counters.empty_polls.get();
  result.registrations = counters.registrations.get();
  result.deregistrations = counters.deregistrations.get();
  result.live_queue_pairs = counters.live_queue_pairs.load();
  result.live_completion_queues = counters.live_completion_queues.load();
  result.live_memory_regions = counters.live_regions.load();
  result.live_protection_domains = counters.live_domains.load();
  result.live_shared_receive_queues = counters.live_shared_receive_queues.load();
  result.ecn_marked_packets = counters.ecn_marked_packets.get();
  result.congestion_notifications = counters.congestion_notifications.get();
  result.out_of_sequence = counters.out_of_sequence.get();
  result.retry_exceeded = counters.retry_exceeded.get();
  result.rnr_nak_received = counters.rnr_nak_received.get();
  result.duplicate_requests = counters.duplicate_requests.get();
  result.access_errors = counters.access_errors.get();
  result.port_down_events = counters.port_down_events.get();
  for (size_t i = 0; i < counters.sent_bytes_by_traffic_class.size(); ++i) {
    result.sent_bytes_by_traffic_class[i] = counters.sent_bytes_by_traffic_class[i].get();
  }
  return result;
}

softverbs_link_counters read_link_counters(Run& run, uint32_t link) {
  const auto fabric = timed::lock(run);
  const LinkCounters& counters = run.link(link).counters;
  softverbs_link_counters result{};
  result.packets = counters.packets;
  result.bytes = counters.bytes;
  result.lost_packets = counters.lost_packets;
  result.marked_packets = counters.marked_packets;
  result.pauses = counters.pauses;
  result.longest_queue_bytes = counters.longest_queue_bytes;
  std::copy(counters.bytes_by_priority.begin(), counters.bytes_by_priority.end(),
            result.bytes_by_priority);
  return result;
}

std::string counters_text(Run& run) { return counters_json(report_of(run)).dump(1); }

}  // namespace rocelane::softverbs::door
