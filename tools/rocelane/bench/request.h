#pragma once

// What a worker process is asked, and what it answers: plain data, and its JSON for the pipe
// between the two.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "bench/instruction_profile.h"
#include "nccl_host/net_library.h"
#include "nccl_host/traffic.h"

namespace rocelane::bench {

struct ConnectionSettings {
  nccl_host::Route route;
  size_t largest_bytes = 0;  // of its messages
};

// The first thing a worker is told.
struct SessionSettings {
  nccl_host::NetChoice net;
  std::vector<std::string> devices;  // as Options
  int rails = 1;
  // A rank on every device of every host; this traffic between those of a rail.
  std::optional<nccl_host::Traffic> whole_fabric;
  size_t whole_fabric_bytes = 0;
  std::vector<ConnectionSettings> connections;  // without whole_fabric; between ranks 0 and 1
  int window = 8;
  int traffic_class = -1;
  double patience_s = 30;
  std::optional<std::string> fabric;  // text; softverbs' virtual clock with it
  uint64_t seed = 1;
  std::string profile_folder;  // not empty: the worker runs in callgrind
  std::string keep_profiles;   // not empty: folder to keep profiles in, as <net>-<n>.callgrind
};

enum class Measurement : uint8_t {
  kStream,        // `bytes` x `messages` on each of the first `connections`
  kPingPong,      // `messages` round trips on connections `ping` and `pong`
  kIdleReceives,  // `messages` rounds over all receiving ends
  kIdleSends,     // the same over all sending ends
};

struct Request {
  Measurement what = Measurement::kStream;
  size_t bytes = 8;
  size_t messages = 1;
  int connections = 1;
  int ping = 0;
  int pong = 0;
  size_t load_bytes = 0;    // not 0, with kPingPong: streams on the first `connections` meanwhile
  bool one_thread = false;  // plays all ranks: the same steps in every run
  bool count_instructions = false;
};

// Of both ends together.
struct Counts {
  uint64_t send_requests = 0;
  uint64_t send_posts = 0;
  uint64_t receives = 0;
  uint64_t receive_posts = 0;
  uint64_t completions = 0;
  uint64_t polls = 0;
  uint64_t empty_polls = 0;
};

struct Answer {
  double seconds = 0;
  std::vector<double> round_trips_us;  // kPingPong
  std::optional<Counts> counts;        // none: libibverbs is not softverbs
  std::optional<Instructions> instructions;
};

struct SetUpAnswer {
  std::string net;   // its name
  std::string path;  // of its library
  int abi = 0;
  std::vector<std::string> places;  // names of the ranks' devices
  double seconds = 0;               // to set all connections up
  uint64_t own_bytes = 0;           // more in memory after it than before it
  uint64_t shared_bytes = 0;
  int connections = 0;
};

// Bytes sent over each way from a leaf to a spine, by link name.
struct PathAnswer {
  std::vector<uint64_t> bytes;
};

using Json = nlohmann::json;
void to_json(Json& json, const SessionSettings& settings);
void from_json(const Json& json, SessionSettings& settings);
void to_json(Json& json, const Request& request);
void from_json(const Json& json, Request& request);
void to_json(Json& json, const Answer& answer);
void from_json(const Json& json, Answer& answer);
void to_json(Json& json, const SetUpAnswer& answer);
void from_json(const Json& json, SetUpAnswer& answer);
void to_json(Json& json, const PathAnswer& answer);
void from_json(const Json& json, PathAnswer& answer);

}  // namespace rocelane::bench
