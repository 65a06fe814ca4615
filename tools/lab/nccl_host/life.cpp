#include "nccl_host/life.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "nccl_host/devices.h"
#include "nccl_host/log_lines.h"

namespace rocelane::nccl_host {
namespace {

double seconds(uint64_t later_ns, uint64_t earlier_ns) {
  return static_cast<double>(later_ns - earlier_ns) * 1e-9;
}

class Life {
 public:
  Life(Net& net, const LifeSettings& settings, const Softverbs& softverbs)
      : net_(net),
        settings_(settings),
        softverbs_(softverbs),
        reader_(softverbs),
        main_("the main thread"),
        handles_(settings.plans.size()) {
    end_settings_.window = settings.window;
    end_settings_.patience_ns = static_cast<uint64_t>(settings.patience_s * 1e9);
    end_settings_.memory = settings.memory;
    end_settings_.optional_completions = settings.optional_completions;
    end_settings_.vary_arguments = settings.vary_arguments;
    end_settings_.findings = &findings_;
    end_settings_.trace = settings.threading == Threading::kThreads ? nullptr : &trace_;
  }

  Result<LifeResult> run(const HangWatch::OnHang& on_hang) {
    if (const Status ready = init_all(on_hang); !ready) {
      return ready.error();
    }
    if (const Status ran = run_ranks(on_hang); !ran) {
      return ran.error();
    }
    if (!result_.aborted) {
      for (const auto& rank : ranks_) {
        rank->inspect_what_is_left();
      }
    }
    if (const Status ended = finalize_all(on_hang); !ended) {
      return ended.error();
    }
    result_.wrong_bytes = findings_.wrong_bytes();
    result_.wrong = findings_.sentences();
    return std::move(result_);
  }

 private:
  Status init_all(const HangWatch::OnHang& on_hang);
  Status choose_devices();
  Result<int> device_of(int rank);
  Status make_rank(int number);
  Status run_ranks(const HangWatch::OnHang& on_hang);
  Status run_to_the_end(Conductor& conductor, RunState& state);
  Status finalize_all(const HangWatch::OnHang& on_hang);
  ConductorSettings conductor_settings();
  Error with_other_waits(Error error, const RunState& state) const;
  void note_counts(const Conductor& conductor);
  std::chrono::milliseconds hang_limit() const {
    return std::chrono::milliseconds(static_cast<int64_t>(settings_.patience_s * 1e3));
  }

  Net& net_;
  const LifeSettings& settings_;
  const Softverbs& softverbs_;
  Softverbs::Reader reader_;
  Caller main_;
  EndSettings end_settings_;
  Findings findings_;
  Trace trace_;
  Handles handles_;
  std::optional<VirtualRoundClock> virtual_clock_;
  Devices devices_;
  std::vector<void*> contexts_;
  Conductor::Ranks ranks_;
  LifeResult result_;
};

Status Life::init_all(const HangWatch::OnHang& on_hang) {
  const HangWatch watch({&main_}, hang_limit(), on_hang);
  const int inits = net_.has_contexts() ? settings_.ranks : 1;
  for (int i = 0; i < inits; ++i) {
    void* context = nullptr;
    const NcclResult result = main_.call("init", [&] {
      return net_.init(&context, 0x1000 + static_cast<uint64_t>(i), settings_.traffic_class,
                       log_function());
    });
    if (result != kNcclSuccess) {
      return call_refused("init", result);
    }
    contexts_.push_back(context);
  }
  result_.net_name = net_.name();
  result_.abi = net_.abi();
  return choose_devices();
}

Status Life::choose_devices() {
  Result<Devices> devices = learn_devices(net_, main_);
  if (!devices) {
    return devices.error();
  }
  devices_ = std::move(*devices);
  for (int rank = 0; rank < settings_.ranks; ++rank) {
    if (const Status made = make_rank(rank); !made) {
      return made;
    }
  }
  return {};
}

Result<int> Life::device_of(int rank) {
  if (settings_.devices.empty()) {
    return rank % static_cast<int>(devices_.size());
  }
  return find_or_join(net_, main_, devices_, settings_.devices[static_cast<size_t>(rank)], rank);
}

Status Life::make_rank(int number) {
  const Result<int> device = device_of(number);
  if (!device) {
    return device.error();
  }
  RankPlace place;
  place.rank = number;
  place.device = *device;
  place.context = contexts_[net_.has_contexts() ? static_cast<size_t>(number) : 0];
  place.traffic_class = settings_.traffic_class;
  place.properties = devices_[static_cast<size_t>(*device)];
  if (settings_.group > place.properties.maxRecvs) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--group {} is more than device {} receives at once (maxRecvs {}).",
                             settings_.group, place.properties.name, place.properties.maxRecvs)};
  }
  end_settings_.flush = settings_.flush.value_or(place.properties.forceFlush != 0);
  result_.ranks.push_back({number, place.device, place.properties.name});
  ranks_.push_back(
      std::make_unique<Rank>(net_, place, settings_.plans, end_settings_, settings_.seed));
  return {};
}

ConductorSettings Life::conductor_settings() {
  ConductorSettings conductor;
  for (const ConnectionPlan& plan : settings_.plans) {
    conductor.groups = std::max(conductor.groups, plan.groups.size());
  }
  conductor.warm_up_groups = std::min(settings_.warm_up_groups, conductor.groups);
  conductor.connections = static_cast<int>(settings_.plans.size());
  // How many rounds set-up takes depends on sockets; one after another, its order does not.
  conductor.set_up_together = settings_.threading != Threading::kVirtual;
  conductor.abort_after = settings_.abort_after;
  conductor.before_messages = [this]() -> Status {
    if (virtual_clock_) {
      virtual_clock_->to_full_second();
    }
    return {};
  };
  conductor.before_counting = [this]() -> Status {
    trace_.restart();
    if (settings_.event_log != nullptr) {
      softverbs_.log_events(*settings_.event_log);
    }
    return settings_.faults.empty() ? Status() : softverbs_.inject(settings_.faults);
  };
  return conductor;
}

Status Life::run_to_the_end(Conductor& conductor, RunState& state) {
  const RunParts parts{ranks_, conductor, state, handles_};
  switch (settings_.threading) {
    case Threading::kThreads:
      return run_with_threads(parts);
    case Threading::kRounds: {
      RealRoundClock clock;
      return run_in_rounds(parts, settings_.seed, clock, hang_limit() * 2);
    }
    case Threading::kVirtual:
      virtual_clock_.emplace(softverbs_);
      return run_in_rounds(parts, settings_.seed, *virtual_clock_, hang_limit());
  }
  return {};
}

Status Life::run_ranks(const HangWatch::OnHang& on_hang) {
  std::vector<const Caller*> callers;
  for (const auto& rank : ranks_) {
    callers.push_back(&rank->service_caller());
    callers.push_back(&rank->progress_caller());
  }
  const HangWatch watch(std::move(callers), hang_limit(), on_hang);
  RunState state;
  Conductor conductor(ranks_, state, conductor_settings(), reader_);
  if (const Status ran = run_to_the_end(conductor, state); !ran) {
    return with_other_waits(ran.error(), state);
  }
  if (settings_.event_log != nullptr) {
    softverbs_.stop_logging_events();
  }
  note_counts(conductor);
  return {};
}

// The first to run out of patience is often not the one at fault.
Error Life::with_other_waits(Error error, const RunState& state) const {
  if (state.stage.load() != Stage::kMessages) {
    return error;
  }
  constexpr size_t kMostWaits = 6;
  std::vector<std::string> waits;
  for (const auto& rank : ranks_) {
    std::ranges::move(rank->waits(state.group_limit.load()), std::back_inserter(waits));
  }
  const size_t more = waits.size() > kMostWaits ? waits.size() - kMostWaits : 0;
  waits.resize(waits.size() - more);
  error.what += fmt::format(" At that time {}{}.", fmt::join(waits, "; "),
                            more > 0 ? fmt::format("; and {} more wait", more) : std::string());
  return error;
}

void Life::note_counts(const Conductor& conductor) {
  const Snapshot& begin = conductor.begin();
  const Snapshot& end = conductor.end();
  result_.aborted = conductor.was_aborted();
  result_.set_up_s = seconds(begin.real_ns, conductor.set_up_begin().real_ns);
  result_.messages_s = seconds(end.now_ns, begin.now_ns);
  result_.real_s = seconds(end.real_ns, begin.real_ns);
  result_.processor_s = seconds(end.processor_ns, begin.processor_ns);
  result_.senders = end.senders - begin.senders;
  result_.receivers = end.receivers - begin.receivers;
  result_.has_instructions = InstructionCounter::available();
  result_.has_counters = softverbs_.counts();
  result_.devices = difference(end.devices, begin.devices);
  if (settings_.threading != Threading::kThreads) {
    result_.trace_digest = trace_.digest();
  }
}

Status Life::finalize_all(const HangWatch::OnHang& on_hang) {
  const HangWatch watch({&main_}, hang_limit(), on_hang);
  for (void* context : contexts_) {
    const NcclResult result = main_.call("finalize", [&] { return net_.finalize(context); });
    if (result != kNcclSuccess) {
      return call_refused("finalize", result);
    }
  }
  return {};
}

}  // namespace

Result<LifeResult> live(Net& net, const LifeSettings& settings, const Softverbs& softverbs,
                        const HangWatch::OnHang& on_hang) {
  return Life(net, settings, softverbs).run(on_hang);
}

}  // namespace rocelane::nccl_host
