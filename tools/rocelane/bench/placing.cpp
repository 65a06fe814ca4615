#include "bench/placing.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rocelane::bench {
namespace {

Result<int> device_named(const std::vector<std::string>& devices, const std::string& asked,
                         std::string_view net) {
  for (size_t device = 0; device < devices.size(); ++device) {
    if (asked == devices[device] || asked == std::to_string(device)) {
      return static_cast<int>(device);
    }
  }
  return Error{ErrorCode::kInvalidArgument, fmt::format("--devices names '{}', but {} has {}.",
                                                        asked, net, fmt::join(devices, ", "))};
}

Result<Place> place_named(const std::vector<std::string>& devices, const std::string& asked,
                          std::string_view net) {
  Place place;
  for (size_t begin = 0; begin <= asked.size();) {
    const size_t end = std::min(asked.find('+', begin), asked.size());
    const Result<int> device = device_named(devices, asked.substr(begin, end - begin), net);
    if (!device) {
      return device.error();
    }
    place.push_back(*device);
    begin = end + 1;
  }
  return place;
}

struct HostAndRail {
  int host = 0;
  std::string rail;
};

std::optional<HostAndRail> host_and_rail(const std::string& name) {
  constexpr std::string_view kHost = "host";
  const size_t slash = name.find('/');
  if (!name.starts_with(kHost) || slash == std::string::npos) {
    return std::nullopt;
  }
  HostAndRail result;
  const auto [end, error] =
      std::from_chars(name.data() + kHost.size(), name.data() + slash, result.host);
  if (error != std::errc{} || end != name.data() + slash) {
    return std::nullopt;
  }
  result.rail = name.substr(slash + 1);
  return result;
}

// Where the receiver's devices begin.
int first_of_receiver(const std::vector<std::string>& devices, int rails) {
  const std::optional<HostAndRail> first = host_and_rail(devices.front());
  for (size_t device = 0; first && device < devices.size(); ++device) {
    const std::optional<HostAndRail> where = host_and_rail(devices[device]);
    if (where && where->host != first->host) {
      return static_cast<int>(device);
    }
  }
  return rails;
}

}  // namespace

Result<std::vector<Place>> choose_two_places(const std::vector<std::string>& devices,
                                             const std::vector<std::string>& asked, int rails,
                                             std::string_view net) {
  std::vector<Place> places;
  for (const std::string& names : asked) {
    Result<Place> place = place_named(devices, names, net);
    if (!place) {
      return place.error();
    }
    places.push_back(std::move(*place));
  }
  if (!asked.empty()) {
    return places;
  }
  const auto count = static_cast<int>(devices.size());
  if (rails > count) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--rails {} is more than the devices {} has: {}.", rails, net,
                             fmt::join(devices, ", "))};
  }
  const int next = first_of_receiver(devices, rails);
  const int receiver = next + rails <= count ? next : 0;
  places.resize(2);
  for (int rail = 0; rail < rails; ++rail) {
    places[0].push_back(rail);
    places[1].push_back(receiver + rail);
  }
  return places;
}

Result<std::vector<nccl_host::Route>> routes_between_hosts(const std::vector<std::string>& devices,
                                                           nccl_host::Traffic traffic) {
  std::map<std::string, std::map<int, int>> rails;  // the device of each host
  for (size_t device = 0; device < devices.size(); ++device) {
    const std::optional<HostAndRail> where = host_and_rail(devices[device]);
    if (!where) {
      return Error{ErrorCode::kInvalidUsage,
                   fmt::format("--spread needs the devices of all hosts of a softverbs fabric, "
                               "named as in host1/soft_0, and found '{}'.",
                               devices[device])};
    }
    rails[where->rail][where->host] = static_cast<int>(device);
  }
  std::vector<nccl_host::Route> routes;
  for (const auto& [rail, hosts] : rails) {
    if (hosts.size() < 2) {
      return Error{
          ErrorCode::kInvalidArgument,
          fmt::format("--spread needs at least two hosts; the fabric has one on {}.", rail)};
    }
    std::vector<int> device_of;  // by host
    for (const auto& [host, device] : hosts) {
      device_of.push_back(device);
    }
    for (const nccl_host::Route& route :
         nccl_host::routes_of(traffic, static_cast<int>(device_of.size()))) {
      routes.push_back(
          {device_of[static_cast<size_t>(route.from)], device_of[static_cast<size_t>(route.to)]});
    }
  }
  return routes;
}

}  // namespace rocelane::bench
