#include "nccl_host/expectations.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "nccl_host/report.h"

namespace rocelane::nccl_host {
namespace {

struct Count {
  std::string_view name;
  uint64_t (*of)(const softverbs_device_counters&);
};

constexpr std::array kCounts{
    Count{"send_requests",
          [](const softverbs_device_counters& c) {
            return c.queue_pairs.sends + c.queue_pairs.writes +
                   c.queue_pairs.writes_with_immediate + c.queue_pairs.reads;
          }},
    Count{"sends", [](const softverbs_device_counters& c) { return c.queue_pairs.sends; }},
    Count{"writes", [](const softverbs_device_counters& c) { return c.queue_pairs.writes; }},
    Count{"writes_with_immediate",
          [](const softverbs_device_counters& c) { return c.queue_pairs.writes_with_immediate; }},
    Count{"reads", [](const softverbs_device_counters& c) { return c.queue_pairs.reads; }},
    Count{"send_posts",
          [](const softverbs_device_counters& c) { return c.queue_pairs.send_posts; }},
    Count{"receives", [](const softverbs_device_counters& c) { return c.queue_pairs.receives; }},
    Count{"receive_posts",
          [](const softverbs_device_counters& c) { return c.queue_pairs.receive_posts; }},
    Count{"completions",
          [](const softverbs_device_counters& c) { return c.queue_pairs.completions; }},
    Count{"polls", [](const softverbs_device_counters& c) { return c.polls; }},
};
constexpr std::string_view kLeftBehind = "left_behind";

const Count* find_count(std::string_view name) {
  const auto found = std::ranges::find(kCounts, name, &Count::name);
  return found == kCounts.end() ? nullptr : found;
}

bool read_number(std::string_view text, double& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

Result<Expectation> parse_expectation(const std::string& text) {
  const size_t equals = text.find('=');
  Expectation expectation;
  expectation.name = text.substr(0, equals);
  if (find_count(expectation.name) == nullptr && expectation.name != kLeftBehind) {
    std::vector<std::string_view> names;
    std::ranges::transform(kCounts, std::back_inserter(names), &Count::name);
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--expect '{}' names no count; allowed are {} and {}.", text,
                             fmt::join(names, ", "), kLeftBehind)};
  }
  const std::string range = equals == std::string::npos ? "" : text.substr(equals + 1);
  const size_t dots = range.find("..");
  const std::string_view least = std::string_view(range).substr(0, dots);
  const std::string_view most =
      dots == std::string::npos ? least : std::string_view(range).substr(dots + 2);
  if (!read_number(least, expectation.least) || !read_number(most, expectation.most)) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--expect '{}' has no number; write {}=2 or {}=1..3.", text,
                             expectation.name, expectation.name)};
  }
  return expectation;
}

std::vector<std::string> disappointments(const std::vector<Expectation>& expectations,
                                         const NetReport& net) {
  const LifeResult& life = net.last();
  if (!expectations.empty() && !life.has_counters) {
    return {"Nothing that --expect names was counted: libibverbs is not softverbs."};
  }
  std::vector<std::string> sentences;
  for (const Expectation& expectation : expectations) {
    const Count* count = find_count(expectation.name);
    const double found =
        count == nullptr ? static_cast<double>(net.left_behind.all())
                         : static_cast<double>(count->of(sum_of(life.devices))) /
                               static_cast<double>(std::max<uint64_t>(1, life.receivers.messages));
    if (found < expectation.least || found > expectation.most) {
      sentences.push_back(fmt::format("{}: {} is {}, expected {} to {}.", life.net_name,
                                      expectation.name, found, expectation.least,
                                      expectation.most));
    }
  }
  return sentences;
}

}  // namespace rocelane::nccl_host
