#include "nccl_host/message_plan.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "nccl_host/seeded_random.h"

namespace rocelane::nccl_host {
namespace {

constexpr std::array kAllMixes{Mix::kLl, Mix::kLl128, Mix::kSimple, Mix::kOdd, Mix::kAll};
constexpr size_t kOddShifts = 64;

Mix one_of_each(SeededRandom& random) { return kAllMixes[random.below(kAllMixes.size() - 1)]; }

Protocol protocol_of(Mix mix, SeededRandom& random) {
  switch (mix) {
    case Mix::kLl:
      return Protocol::kLl;
    case Mix::kLl128:
      return Protocol::kLl128;
    case Mix::kSimple:
      return Protocol::kSimple;
    default:
      return kAllProtocols[random.below(kAllProtocols.size())];
  }
}

// Sizes spread over their orders of magnitude.
size_t size_up_to(size_t largest, size_t multiple, SeededRandom& random) {
  size_t bound = largest;
  while (bound > multiple && random.one_in(2)) {
    bound /= 2;
  }
  const size_t steps = std::max<size_t>(1, bound / multiple);
  return multiple * random.between(1, steps);
}

void draw_odd_sizes(Message& message, SeededRandom& random) {
  message.receive_bytes = random.one_in(4) ? 0 : size_up_to(size_t{64} << 10, 1, random);
  message.send_bytes = message.receive_bytes;
  message.send_shift = random.below(kOddShifts);
  message.receive_shift = random.below(kOddShifts);
  switch (random.below(4)) {
    case 0:
      message.send_bytes += random.between(1, 300);
      break;
    case 1:
      message.send_bytes -= random.below(message.receive_bytes + 1);
      break;
    case 2:
      message.send_bytes = 0;
      break;
    default:
      break;
  }
}

void draw_sizes(Message& message, Mix mix, SeededRandom& random) {
  switch (mix) {
    case Mix::kLl:
      message.send_bytes = size_up_to(size_t{16} << 10, 16, random);
      message.receive_bytes = size_t{16} << 10;
      break;
    case Mix::kLl128:
      message.send_bytes = size_up_to(size_t{64} << 10, 128, random);
      message.receive_bytes = size_t{64} << 10;
      break;
    case Mix::kSimple:
      message.send_bytes = size_up_to(size_t{512} << 10, 1, random);
      message.receive_bytes = std::max(message.send_bytes, size_t{256} << 10);
      break;
    default:
      draw_odd_sizes(message, random);
      break;
  }
}

std::vector<int> draw_subs(int subs, bool all, SeededRandom& random) {
  std::vector<int> chosen(static_cast<size_t>(subs));
  std::iota(chosen.begin(), chosen.end(), 0);
  if (!all) {
    random.shuffle(chosen);
    chosen.resize(random.between(1, chosen.size()));
    std::ranges::sort(chosen);
  }
  return chosen;
}

class Planner {
 public:
  Planner(const PlanOptions& options, int number, Route route)
      : options_(options), random_(options.seed * 1000003 + static_cast<uint64_t>(number)) {
    plan_.number = number;
    plan_.route = route;
    plan_.subs = options.group;
  }

  ConnectionPlan plan() {
    while (planned_ < options_.messages) {
      plan_.groups.push_back(next_group());
    }
    return std::move(plan_);
  }

 private:
  Group next_group() {
    Group group;
    const Mix mix = options_.mix == Mix::kAll ? one_of_each(random_) : options_.mix;
    group.protocol = options_.sizes.empty() ? protocol_of(mix, random_) : options_.protocol;
    // Only the last groups of real operations are smaller than the others; chance is harder.
    for (const int sub : draw_subs(plan_.subs, !options_.sizes.empty(), random_)) {
      if (planned_ < options_.messages) {
        group.messages.push_back(next_message(sub, mix));
      }
    }
    return group;
  }

  Message next_message(int sub, Mix mix) {
    Message message;
    message.index = planned_++;
    message.number =
        (static_cast<uint64_t>(plan_.number) << 32) + static_cast<uint64_t>(message.index);
    message.sub = sub;
    message.tag = plan_.route.from * plan_.subs + sub;
    if (options_.sizes.empty()) {
      draw_sizes(message, mix, random_);
    } else {
      message.send_bytes = options_.sizes[random_.below(options_.sizes.size())];
      message.receive_bytes = message.send_bytes;
    }
    return message;
  }

  const PlanOptions& options_;
  SeededRandom random_;
  ConnectionPlan plan_;
  int planned_ = 0;
};

}  // namespace

std::string_view name_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::kLl:
      return "ll";
    case Protocol::kLl128:
      return "ll128";
    case Protocol::kSimple:
      return "simple";
  }
  return "?";
}

std::string_view name_of(Mix mix) {
  switch (mix) {
    case Mix::kLl:
      return "ll";
    case Mix::kLl128:
      return "ll128";
    case Mix::kSimple:
      return "simple";
    case Mix::kOdd:
      return "odd";
    case Mix::kAll:
      return "all";
  }
  return "?";
}

std::optional<Mix> mix_named(std::string_view name) {
  for (const Mix mix : kAllMixes) {
    if (name_of(mix) == name) {
      return mix;
    }
  }
  return std::nullopt;
}

size_t ConnectionPlan::messages() const {
  size_t count = 0;
  for (const Group& group : groups) {
    count += group.messages.size();
  }
  return count;
}

std::optional<size_t> ConnectionPlan::largest_room_bytes(Protocol protocol) const {
  std::optional<size_t> largest;
  for (const Group& group : groups) {
    if (group.protocol != protocol) {
      continue;
    }
    for (const Message& message : group.messages) {
      const size_t shift = std::max(message.send_shift, message.receive_shift);
      largest = std::max(largest.value_or(0), message.room_bytes() + shift);
    }
  }
  return largest;
}

std::vector<ConnectionPlan> plan_messages(const PlanOptions& options,
                                          const std::vector<Route>& routes) {
  std::vector<ConnectionPlan> plans;
  for (const Route& route : routes) {
    plans.push_back(Planner(options, static_cast<int>(plans.size()), route).plan());
  }
  return plans;
}

std::string text_of(const Message& message) {
  return fmt::format("message {} ({} bytes, tag {})", message.index, message.send_bytes,
                     message.tag);
}

std::string text_of(const ConnectionPlan& connection) {
  return fmt::format("connection {} (rank {} to rank {})", connection.number, connection.route.from,
                     connection.route.to);
}

}  // namespace rocelane::nccl_host
