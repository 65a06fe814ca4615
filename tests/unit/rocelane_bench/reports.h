#pragma once

// A report of two nets, as both outputs show it.

#include "bench/report.h"

namespace rocelane::bench {

inline Options options_of_sizes() {
  Options options;
  options.sizes = {8, 131072};
  options.rival = "ib";
  return options;
}

inline NetResult net_with_sizes(const std::string& name, double factor) {
  NetResult net;
  net.net.net = name;
  net.net.path = "/lib/" + name + ".so";
  net.net.abi = 12;
  net.net.places = {"soft_0", "soft_1"};
  for (const size_t bytes : {size_t{8}, size_t{131072}}) {
    SizeResult size;
    size.bytes = bytes;
    size.latency_us = {1.9 * factor, 2 * factor, 2.1 * factor};
    size.slowest_us = {9, 9, 9};
    size.messages_per_s = {900 / factor, 1000 / factor, 1100 / factor};
    size.megabytes_per_s = {9 / factor, 10 / factor, 11 / factor};
    net.sizes.push_back(size);
  }
  return net;
}

inline Report report_of_sizes() {
  Report report;
  report.nets = {net_with_sizes("Ours", 1), net_with_sizes("IB", 2)};
  return report;
}

}  // namespace rocelane::bench
