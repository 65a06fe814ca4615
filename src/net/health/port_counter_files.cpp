#include "net/health/port_counter_files.h"

#include <array>
#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>

namespace rocelane::telemetry {
namespace {

struct CounterFile {
  PortCounter counter;
  std::string_view file;
  uint64_t unit = 1;
};

constexpr uint64_t kWord = 4;  // the specification's port counters count bytes in fours

// The first file that is there counts. mlx5's names, then those of others.
constexpr std::array kFiles{
    CounterFile{PortCounter::kSentBytes, "counters/port_xmit_data", kWord},
    CounterFile{PortCounter::kSentBytes, "hw_counters/tx_bytes"},
    CounterFile{PortCounter::kReceivedBytes, "counters/port_rcv_data", kWord},
    CounterFile{PortCounter::kReceivedBytes, "hw_counters/rx_bytes"},
    CounterFile{PortCounter::kSequenceErrors, "hw_counters/packet_seq_err"},
    CounterFile{PortCounter::kSequenceErrors, "hw_counters/rcvd_seq_err"},
    CounterFile{PortCounter::kSequenceErrors, "hw_counters/seq_err_naks_rcvd"},
    CounterFile{PortCounter::kImpliedSequenceErrors, "hw_counters/implied_nak_seq_err"},
    CounterFile{PortCounter::kAcknowledgeTimeouts, "hw_counters/local_ack_timeout_err"},
    CounterFile{PortCounter::kAcknowledgeTimeouts, "hw_counters/to_retransmits"},
    CounterFile{PortCounter::kAcknowledgeTimeouts, "hw_counters/retry_exceeded_err"},
    CounterFile{PortCounter::kAdaptiveRetransmits, "hw_counters/roce_adp_retrans"},
    CounterFile{PortCounter::kOutOfSequence, "hw_counters/out_of_sequence"},
    CounterFile{PortCounter::kOutOfSequence, "hw_counters/out_of_seq_request"},
    CounterFile{PortCounter::kOutOfSequence, "hw_counters/oos_drop_count"},
    CounterFile{PortCounter::kDuplicateRequests, "hw_counters/duplicate_request"},
    CounterFile{PortCounter::kDuplicateRequests, "hw_counters/dup_reqs"},
    CounterFile{PortCounter::kReceiverNotReady, "hw_counters/rnr_nak_retry_err"},
    CounterFile{PortCounter::kReceiverNotReady, "hw_counters/rcvd_rnr_err"},
    CounterFile{PortCounter::kReceiverNotReady, "hw_counters/rnr_naks_rcvd"},
    CounterFile{PortCounter::kOutOfBuffer, "hw_counters/out_of_buffer"},
    CounterFile{PortCounter::kEcnMarkedReceived, "hw_counters/np_ecn_marked_roce_packets"},
    CounterFile{PortCounter::kEcnMarkedReceived, "hw_counters/rx_ecn_marked_pkts"},
    CounterFile{PortCounter::kCongestionNotesSent, "hw_counters/np_cnp_sent"},
    CounterFile{PortCounter::kCongestionNotesSent, "hw_counters/tx_cnp_pkts"},
    CounterFile{PortCounter::kCongestionNotesHandled, "hw_counters/rp_cnp_handled"},
    CounterFile{PortCounter::kCongestionNotesHandled, "hw_counters/rx_cnp_pkts"},
    CounterFile{PortCounter::kDiscards, "counters/port_xmit_discards"},
    CounterFile{PortCounter::kLinkDowns, "counters/link_downed"},
    CounterFile{PortCounter::kLinkDowns, "hw_counters/link_downed"},
};

std::optional<uint64_t> read_number(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  uint64_t value = 0;
  if (!(file >> text) ||
      std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc{}) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

PortCounters read_port_counters(const std::string& port_folder) {
  PortCounters counters;
  for (const CounterFile& known : kFiles) {
    const bool has_it = (counters.known() >> static_cast<size_t>(known.counter) & 1U) != 0;
    if (has_it) {
      continue;
    }
    if (const auto value = read_number(port_folder + "/" + std::string(known.file))) {
      counters.set(known.counter, *value * known.unit);
    }
  }
  return counters;
}

}  // namespace rocelane::telemetry
