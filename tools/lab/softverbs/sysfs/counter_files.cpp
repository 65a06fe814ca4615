#include "softverbs/sysfs/counter_files.h"

#include <numeric>

namespace rocelane::softverbs {
namespace {

// Of a port, in the unit of the InfiniBand specification.
constexpr uint64_t kBytesPerDataWord = 4;

Child count(std::string name, uint64_t value) {
  return line(std::move(name), std::to_string(value));
}

}  // namespace

Directory counter_files(const softverbs_device_counters& counters) {
  const uint64_t sent_bytes =
      std::accumulate(std::begin(counters.sent_bytes_by_traffic_class),
                      std::end(counters.sent_bytes_by_traffic_class), uint64_t{0});
  return {{
      count("port_xmit_data", sent_bytes / kBytesPerDataWord),
      count("link_downed", counters.port_down_events),
      count("link_error_recovery", 0),
      count("symbol_error", 0),
      count("port_rcv_errors", 0),
      count("port_xmit_discards", 0),
      count("excessive_buffer_overrun_errors", 0),
      count("local_link_integrity_errors", 0),
      count("VL15_dropped", 0),
  }};
}

Directory hardware_counter_files(const softverbs_device_counters& counters) {
  return {{
      count("out_of_sequence", counters.out_of_sequence),
      count("duplicate_request", counters.duplicate_requests),
      count("local_ack_timeout_err", counters.queue_pairs.retransmissions),
      count("rnr_nak_retry_err", counters.rnr_nak_received),
      count("req_transport_retries_exceeded", counters.retry_exceeded),
      count("req_remote_access_errors", counters.access_errors),
      count("np_ecn_marked_roce_packets", counters.ecn_marked_packets),
      count("rp_cnp_handled", counters.congestion_notifications),
      count("rp_cnp_ignored", 0),
      count("packet_seq_err", 0),
      count("implied_nak_seq_err", 0),
      count("out_of_buffer", 0),
      count("req_cqe_error", 0),
      count("req_cqe_flush_error", 0),
      count("resp_cqe_error", 0),
      count("resp_cqe_flush_error", 0),
      count("resp_local_length_error", 0),
      count("resp_remote_access_errors", 0),
      count("req_remote_invalid_request", 0),
      count("roce_adp_retrans", 0),
      count("roce_adp_retrans_to", 0),
      count("roce_slow_restart", 0),
      count("roce_slow_restart_cnps", 0),
      count("roce_slow_restart_trans", 0),
      count("rx_icrc_encapsulated", 0),
      count("lifespan", 10),
  }};
}

}  // namespace rocelane::softverbs
