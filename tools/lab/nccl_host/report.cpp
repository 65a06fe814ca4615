#include "nccl_host/report.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

namespace rocelane::nccl_host {
namespace {

constexpr const char* kNotAvailable = "n/a";

using Cell = std::function<std::string(const NetReport&)>;
struct Row {
  std::string name;
  Cell cell;
};

std::string per_message(uint64_t count, uint64_t messages) {
  return messages == 0
             ? std::string(kNotAvailable)
             : fmt::format("{:.3f}", static_cast<double>(count) / static_cast<double>(messages));
}

Row counted(const std::string& name, uint64_t (*count)(const softverbs_device_counters&)) {
  return {name, [count](const NetReport& net) {
            const LifeResult& life = net.last();
            return life.has_counters
                       ? per_message(count(sum_of(life.devices)), life.receivers.messages)
                       : std::string(kNotAvailable);
          }};
}

Row metered(const std::string& name, Meter LifeResult::*side, uint64_t Meter::*count) {
  return {name, [side, count](const NetReport& net) {
            const Meter& meter = net.last().*side;
            return per_message(meter.*count, meter.messages);
          }};
}

Row instructions(const std::string& name, Meter LifeResult::*side) {
  return {name, [side](const NetReport& net) {
            const Meter& meter = net.last().*side;
            return net.last().has_instructions ? per_message(meter.instructions, meter.messages)
                                               : std::string(kNotAvailable);
          }};
}

std::vector<Row> result_rows() {
  return {
      {"table", [](const NetReport& net) { return fmt::format("v{}", net.last().abi); }},
      {"messages",
       [](const NetReport& net) { return std::to_string(net.last().receivers.messages); }},
      {"bytes", [](const NetReport& net) { return std::to_string(net.last().receivers.bytes); }},
      {"wrong bytes", [](const NetReport& net) { return std::to_string(net.wrong_bytes()); }},
      {"set-up, ms",
       [](const NetReport& net) { return fmt::format("{:.3f}", net.last().set_up_s * 1e3); }},
      {"messages, ms",
       [](const NetReport& net) { return fmt::format("{:.3f}", net.last().messages_s * 1e3); }},
      {"real time, ms",
       [](const NetReport& net) { return fmt::format("{:.3f}", net.last().real_s * 1e3); }},
      {"processor, ms",
       [](const NetReport& net) { return fmt::format("{:.3f}", net.last().processor_s * 1e3); }},
  };
}

std::vector<Row> cost_rows() {
  using Counters = softverbs_device_counters;
  return {
      counted("send work requests",
              [](const Counters& c) {
                const auto& q = c.queue_pairs;
                return q.sends + q.writes + q.writes_with_immediate + q.reads;
              }),
      counted("  sends", [](const Counters& c) { return c.queue_pairs.sends; }),
      counted("  writes", [](const Counters& c) { return c.queue_pairs.writes; }),
      counted("  writes with immediate",
              [](const Counters& c) { return c.queue_pairs.writes_with_immediate; }),
      counted("  reads", [](const Counters& c) { return c.queue_pairs.reads; }),
      counted("send post calls", [](const Counters& c) { return c.queue_pairs.send_posts; }),
      counted("receive work requests", [](const Counters& c) { return c.queue_pairs.receives; }),
      counted("receive post calls", [](const Counters& c) { return c.queue_pairs.receive_posts; }),
      counted("completions", [](const Counters& c) { return c.queue_pairs.completions; }),
      counted("polls", [](const Counters& c) { return c.polls; }),
      counted("  empty", [](const Counters& c) { return c.empty_polls; }),
      counted("inline bytes", [](const Counters& c) { return c.queue_pairs.inline_bytes; }),
      metered("isend calls", &LifeResult::senders, &Meter::starts),
      metered("  not now", &LifeResult::senders, &Meter::refusals),
      metered("sender's tests", &LifeResult::senders, &Meter::tests),
      metered("sender, ns in calls", &LifeResult::senders, &Meter::call_ns),
      instructions("sender, instructions", &LifeResult::senders),
      metered("irecv calls", &LifeResult::receivers, &Meter::starts),
      metered("receiver's tests", &LifeResult::receivers, &Meter::tests),
      metered("receiver, ns in calls", &LifeResult::receivers, &Meter::call_ns),
      instructions("receiver, instructions", &LifeResult::receivers),
  };
}

std::string line(const Row& row, const std::vector<NetReport>& nets) {
  std::string text = fmt::format("{:<26}", row.name);
  for (const NetReport& net : nets) {
    text += fmt::format("{:>16}", row.cell(net));
  }
  return text + "\n";
}

std::string describe_job(const Options& options) {
  const std::string sizes = options.plan.sizes.empty()
                                ? fmt::format("mix {}", name_of(options.plan.mix))
                                : fmt::format("{} of given sizes", name_of(options.plan.protocol));
  return fmt::format("{} ranks, {}, {}, group {}, window {}, seed {}\n", options.life.ranks,
                     name_of(options.traffic), sizes, options.plan.group, options.life.window,
                     options.life.seed);
}

std::string left_behind_text(const NetReport& net) {
  const LiveObjects& left = net.left_behind;
  if (!net.last().has_counters || left.all() == 0) {
    return {};
  }
  return fmt::format(
      "{} left behind after {}: {} queue pairs, {} completion queues, {} memory regions, {} "
      "protection domains, {} shared receive queues\n",
      net.last().net_name, net.unloaded ? "unloading" : "finalize", left.queue_pairs,
      left.completion_queues, left.memory_regions, left.protection_domains,
      left.shared_receive_queues);
}

std::string notes(const NetReport& net) {
  std::string text;
  const LifeResult& life = net.last();
  if (life.aborted) {
    text += fmt::format("{} was closed with requests outstanding, as asked\n", life.net_name);
  }
  if (life.trace_digest) {
    text += fmt::format("{}: digest of calls and outcomes {:016x}\n", life.net_name,
                        *life.trace_digest);
  }
  if (net.lives.size() > 1) {
    text += fmt::format("{}: {} lives; {}\n", life.net_name, net.lives.size(),
                        net.built_in   ? "NCCL is never unloaded"
                        : net.unloaded ? "the library was gone after each"
                                       : "the library stayed in the process");
  }
  text += left_behind_text(net);
  for (const LifeResult& each : net.lives) {
    for (const std::string& sentence : each.wrong) {
      text += fmt::format("WRONG {}: {}\n", each.net_name, sentence);
    }
  }
  return text;
}

}  // namespace

size_t NetReport::wrong_bytes() const {
  size_t wrong = 0;
  for (const LifeResult& life : lives) {
    wrong += life.wrong_bytes;
  }
  return wrong;
}

bool NetReport::is_right() const {
  return std::ranges::all_of(lives, [](const LifeResult& life) { return life.wrong.empty(); });
}

std::string text_report(const Options& options, const std::vector<NetReport>& nets) {
  std::string text = describe_job(options);
  text += line({"", [](const NetReport& net) { return net.last().net_name; }}, nets);
  for (const Row& row : result_rows()) {
    text += line(row, nets);
  }
  text += "for each message:\n";
  for (const Row& row : cost_rows()) {
    text += line(row, nets);
  }
  if (!nets.front().last().has_counters) {
    text += "Work requests and polls are not counted: libibverbs is not softverbs.\n";
  }
  if (!nets.front().last().has_instructions) {
    text += "Instructions are not counted: the kernel or the machine does not offer it.\n";
  }
  for (const NetReport& net : nets) {
    text += notes(net);
  }
  return text;
}

}  // namespace rocelane::nccl_host
