#include "collperf/rank_places.h"

#include <array>

#include <cuda_runtime_api.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "collperf/nccl_calls.h"

namespace rocelane::collperf {
namespace {

using Json = nlohmann::json;

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

Result<Json> place_here(const LocalRank& local) {
  std::array<char, 32> bus{};
  cudaDeviceProp properties{};
  Status known =
      check_cuda(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), local.device),
                 "cudaDeviceGetPCIBusId");
  if (known) {
    known =
        check_cuda(cudaGetDeviceProperties(&properties, local.device), "cudaGetDeviceProperties");
  }
  if (!known) {
    return known.error();
  }
  return Json{{"rank", local.rank},     {"pid", getpid()},   {"host", host_name()},
              {"device", local.device}, {"bus", bus.data()}, {"name", properties.name}};
}

RankPlace read_place(const Json& json) {
  RankPlace place;
  place.rank = json.value("rank", -1);
  place.process_id = json.value("pid", 0);
  place.host = json.value("host", "");
  place.device = json.value("device", -1);
  place.pci_bus_id = json.value("bus", "");
  place.device_name = json.value("name", "");
  return place;
}

}  // namespace

Result<std::vector<RankPlace>> gather_rank_places(const Communicators& comms,
                                                  Rendezvous& rendezvous) {
  Json mine = Json::array();
  for (const LocalRank& local : comms.local_ranks()) {
    Result<Json> place = place_here(local);
    if (!place) {
      return place.error();
    }
    mine.push_back(std::move(*place));
  }
  const Result<std::vector<std::string>> all = rendezvous.exchange(
      "hosts and devices", mine.dump(-1, ' ', true, Json::error_handler_t::replace));
  if (!all) {
    return all.error();
  }
  std::vector<RankPlace> places;
  for (const std::string& text : *all) {
    const Json theirs = Json::parse(text, nullptr, false);
    for (const Json& place : theirs) {
      places.push_back(read_place(place));
    }
  }
  return places;
}

}  // namespace rocelane::collperf
