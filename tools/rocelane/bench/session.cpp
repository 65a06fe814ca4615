#include "bench/session.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "nccl_host/log_lines.h"

namespace rocelane::bench {

using nccl_host::ConnectionPlan;
using nccl_host::RankPlace;
using nccl_host::Stage;

ConnectionPlan plan_of_equal_messages(int number, nccl_host::Route route, size_t bytes,
                                      size_t messages) {
  ConnectionPlan plan;
  plan.number = number;
  plan.route = route;
  plan.groups.resize(messages);
  for (size_t i = 0; i < messages; ++i) {
    nccl_host::Message message;
    message.number = i;
    message.index = static_cast<int>(i);
    message.tag = route.from;
    message.send_bytes = bytes;
    message.receive_bytes = bytes;
    plan.groups[i].messages.push_back(message);
  }
  return plan;
}

namespace {

std::vector<std::string> names_of(const nccl_host::Devices& devices) {
  std::vector<std::string> names;
  std::ranges::transform(devices, std::back_inserter(names),
                         [](const NcclNetPropertiesV12& device) { return device.name; });
  return names;
}

// What a service thread does until all connections of its rank are there.
class SetUpWork final : public Work {
 public:
  SetUpWork(nccl_host::Rank& rank, const nccl_host::RunState& state, nccl_host::Handles& handles)
      : rank_(rank), state_(state), handles_(handles) {}
  Result<bool> step(uint64_t now_ns) override {
    return rank_.service_step(state_, handles_, now_ns);
  }
  bool is_finished() const override { return rank_.is_ready(state_.connection_limit.load()); }

 private:
  nccl_host::Rank& rank_;
  const nccl_host::RunState& state_;
  nccl_host::Handles& handles_;
};

}  // namespace

Session::Session(nccl_host::Net& net, SessionSettings settings,
                 const nccl_host::Softverbs& softverbs, InstructionCounting counting)
    : net_(net),
      settings_(std::move(settings)),
      softverbs_(softverbs),
      counting_(std::move(counting)),
      reader_(softverbs),
      main_("the main thread") {
  end_settings_.window = settings_.window;
  end_settings_.patience_ns = static_cast<uint64_t>(settings_.patience_s * 1e9);
  end_settings_.memory = nccl_host::MemoryChoice::kHost;
  end_settings_.vary_arguments = false;
  end_settings_.check_bytes = false;
  end_settings_.findings = &findings_;
  if (settings_.fabric) {
    auto clock = std::make_unique<nccl_host::VirtualRoundClock>(softverbs_);
    virtual_clock_ = clock.get();
    clock_ = std::move(clock);
  } else {
    clock_ = std::make_unique<nccl_host::RealRoundClock>();
  }
}

Session::~Session() = default;

Result<SetUpAnswer> Session::set_up(const nccl_host::HangWatch::OnHang& on_hang) {
  const std::chrono::milliseconds limit(static_cast<int64_t>(settings_.patience_s * 1e3));
  watch_ = std::make_unique<nccl_host::HangWatch>(std::vector<const nccl_host::Caller*>{&main_},
                                                  limit, on_hang);
  if (const Status chosen = choose_ranks(); !chosen) {
    return chosen.error();
  }
  std::vector<const nccl_host::Caller*> callers{&main_};
  for (const auto& rank : ranks_) {
    callers.push_back(&rank->service_caller());
    callers.push_back(&std::as_const(*rank).progress_caller());
    rank->progress_caller().set_metering(false);
  }
  watch_ = std::make_unique<nccl_host::HangWatch>(std::move(callers), limit, on_hang);
  if (virtual_clock_ == nullptr) {
    threads_ = players_with_threads(ranks_.size(), stop_);
  }
  rounds_ = players_in_rounds(*clock_, Stage::kMessages, stop_);

  SetUpAnswer answer;
  const MemoryUse before = memory_use_now();
  const Result<PlayedTime> connected = connect_all();
  if (!connected) {
    return connected.error();
  }
  const MemoryUse after = memory_use_now();
  answer.net = net_.name();
  answer.abi = net_.abi();
  answer.seconds = connected->seconds();
  answer.own_bytes = after.own - std::min(after.own, before.own);
  answer.shared_bytes = after.shared - std::min(after.shared, before.shared);
  answer.connections = static_cast<int>(plans_.size());
  for (const auto& rank : ranks_) {
    answer.places.emplace_back(rank->place().properties.name);
  }
  return answer;
}

Status Session::init_context() {
  void* context = nullptr;
  const NcclResult result = main_.call("init", [&] {
    return net_.init(&context, 0x1000 + contexts_.size(), settings_.traffic_class,
                     nccl_host::log_function());
  });
  if (result != kNcclSuccess) {
    return nccl_host::call_refused("init", result);
  }
  contexts_.push_back(context);
  return {};
}

// The traffic of a whole fabric also decides who is connected with whom.
Result<std::vector<Place>> Session::places() {
  const std::vector<std::string> names = names_of(devices_);
  if (!settings_.whole_fabric) {
    return choose_two_places(names, settings_.devices, settings_.rails, net_.name());
  }
  const Result<std::vector<nccl_host::Route>> routes =
      routes_between_hosts(names, *settings_.whole_fabric);
  if (!routes) {
    return routes.error();
  }
  for (const nccl_host::Route& route : *routes) {
    settings_.connections.push_back({route, settings_.whole_fabric_bytes});
  }
  std::vector<Place> places;
  for (size_t device = 0; device < names.size(); ++device) {
    places.push_back({static_cast<int>(device)});
  }
  return places;
}

Status Session::choose_ranks() {
  if (const Status ready = init_context(); !ready) {
    return ready;
  }
  Result<nccl_host::Devices> devices = nccl_host::learn_devices(net_, main_);
  if (!devices) {
    return devices.error();
  }
  devices_ = std::move(*devices);
  const Result<std::vector<Place>> chosen = places();
  if (!chosen) {
    return chosen.error();
  }
  for (size_t i = 0; i < settings_.connections.size(); ++i) {
    const ConnectionSettings& connection = settings_.connections[i];
    plans_.push_back(
        plan_of_equal_messages(static_cast<int>(i), connection.route, connection.largest_bytes, 1));
  }
  handles_ = std::make_unique<nccl_host::Handles>(plans_.size());
  state_.connection_limit = static_cast<int>(plans_.size());
  for (size_t number = 0; number < chosen->size(); ++number) {
    Result<RankPlace> place = place_rank(static_cast<int>(number), (*chosen)[number]);
    if (!place) {
      return place.error();
    }
    ranks_.push_back(std::make_unique<nccl_host::Rank>(net_, std::move(*place), plans_,
                                                       end_settings_, settings_.seed));
  }
  return {};
}

Result<RankPlace> Session::place_rank(int number, const Place& place) {
  if (net_.has_contexts() && number > 0) {
    if (const Status ready = init_context(); !ready) {
      return ready.error();
    }
  }
  const Result<int> device = device_of(place);
  if (!device) {
    return device.error();
  }
  const Result<NcclNetPropertiesV12> properties = nccl_host::learn_device(net_, main_, *device);
  if (!properties) {
    return properties.error();
  }
  RankPlace result;
  result.rank = number;
  result.device = *device;
  result.context = contexts_.back();
  result.traffic_class = settings_.traffic_class;
  result.properties = *properties;
  return result;
}

// Several devices become one, as NCCL fuses the ports of a NIC.
Result<int> Session::device_of(const Place& place) {
  if (place.size() == 1) {
    return place.front();
  }
  int device = 0;
  const NcclResult result =
      main_.call("makeVDevice", [&] { return net_.make_virtual_device(&device, place); });
  if (result != kNcclSuccess) {
    std::vector<std::string_view> names;
    for (const int member : place) {
      names.emplace_back(devices_[static_cast<size_t>(member)].name);
    }
    return Error{
        ErrorCode::kInvalidUsage,
        fmt::format("{} does not make one device of {}: makeVDevice returned {}; use one "
                    "rail for each end.",
                    net_.name(), fmt::join(names, " and "), nccl_host::result_text(result))};
  }
  return device;
}

Result<PlayedTime> Session::connect_all() {
  Works works;
  for (const auto& rank : ranks_) {
    works.push_back(std::make_unique<SetUpWork>(*rank, state_, *handles_));
  }
  if (threads_ != nullptr) {
    return threads_->play(works);
  }
  const Result<PlayedTime> time = players_in_rounds(*clock_, Stage::kSetUp, stop_)->play(works);
  if (time) {
    virtual_clock_->to_full_second();
  }
  return time;
}

Status Session::close() {
  state_.stage = Stage::kClosing;
  const auto is_open = [](const auto& rank) { return !rank->is_closed(); };
  while (std::ranges::any_of(ranks_, is_open)) {
    for (const auto& rank : ranks_) {
      for (const Result<bool>& step : {rank->progress_step(state_, clock_->now_ns()),
                                       rank->service_step(state_, *handles_, clock_->now_ns())}) {
        if (!step) {
          return step.error();
        }
      }
    }
  }
  for (void* context : contexts_) {
    const NcclResult result = main_.call("finalize", [&] { return net_.finalize(context); });
    if (result != kNcclSuccess) {
      return nccl_host::call_refused("finalize", result);
    }
  }
  return {};
}

}  // namespace rocelane::bench
