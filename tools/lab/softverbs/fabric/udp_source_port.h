#pragma once

#include <cstdint>

namespace rocelane::softverbs {

// The UDP source port of a queue pair's RoCEv2 packets, by the rule Linux drivers share: from the
// 20-bit flow label, or from both queue pair numbers when that is 0. It has 14 bits of choice,
// 0xC000 to 0xFFFF, and without a label both directions of a connection get the same port.
uint16_t udp_source_port(uint32_t flow_label, uint32_t local_queue_pair,
                         uint32_t remote_queue_pair);

}  // namespace rocelane::softverbs
