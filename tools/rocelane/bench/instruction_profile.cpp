#include "bench/instruction_profile.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace rocelane::bench {
namespace {

class ProfileReader {
 public:
  // False: the line makes no sense.
  bool read_line(std::string_view line) {
    if (line.empty() || line.front() == '#') {
      return true;
    }
    if (line.starts_with("events:")) {
      return read_events(line.substr(7));
    }
    if (line.starts_with("positions:")) {
      positions_ = words(line.substr(10)).size();
      return positions_ > 0;
    }
    if (line.starts_with("ob=")) {
      return read_object(line.substr(3));
    }
    // An object that is called only here may get its number here.
    if (line.starts_with("cob=")) {
      return resolve(line.substr(4)).has_value();
    }
    if (line.starts_with("calls=")) {
      next_is_inclusive_ = true;
      return true;
    }
    if (is_cost(line.front())) {
      return read_cost(line);
    }
    return true;
  }

  bool has_instructions() const { return instructions_at_.has_value(); }
  const InstructionsByObject& objects() const { return objects_; }

 private:
  static bool is_cost(char first) {
    return (first >= '0' && first <= '9') || first == '+' || first == '-' || first == '*';
  }

  static std::vector<std::string_view> words(std::string_view line) {
    std::vector<std::string_view> result;
    while (true) {
      const size_t begin = line.find_first_not_of(' ');
      if (begin == std::string_view::npos) {
        return result;
      }
      const size_t end = std::min(line.find(' ', begin), line.size());
      result.push_back(line.substr(begin, end - begin));
      line.remove_prefix(end);
    }
  }

  bool read_events(std::string_view line) {
    const std::vector<std::string_view> events = words(line);
    for (size_t event = 0; event < events.size(); ++event) {
      if (events[event] == "Ir") {
        instructions_at_ = event;
      }
    }
    return instructions_at_.has_value();
  }

  // "(3) /lib/x.so" gives number 3 a name, "(3)" uses it, and without a number it is a name.
  std::optional<std::string> resolve(std::string_view text) {
    if (!text.starts_with('(')) {
      return std::string(text);
    }
    const size_t close = text.find(')');
    if (close == std::string_view::npos) {
      return std::nullopt;
    }
    const std::string number(text.substr(0, close + 1));
    if (text.size() > close + 2) {
      names_[number] = std::string(text.substr(close + 2));
    }
    const auto name = names_.find(number);
    return name == names_.end() ? std::nullopt : std::optional(name->second);
  }

  bool read_object(std::string_view text) {
    const std::optional<std::string> name = resolve(text);
    if (name) {
      current_ = &objects_[*name];
    }
    return name.has_value();
  }

  bool read_cost(std::string_view line) {
    if (std::exchange(next_is_inclusive_, false)) {
      return true;
    }
    const std::vector<std::string_view> fields = words(line);
    const size_t at = positions_ + instructions_at_.value_or(0);
    // Costs of zero at the end of a line may be left out.
    if (at >= fields.size()) {
      return fields.size() >= positions_;
    }
    uint64_t cost = 0;
    const std::string_view field = fields[at];
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), cost);
    if (error != std::errc{} || current_ == nullptr) {
      return false;
    }
    *current_ += cost;
    return true;
  }

  size_t positions_ = 1;
  std::optional<size_t> instructions_at_;
  std::map<std::string, std::string> names_;
  InstructionsByObject objects_;
  uint64_t* current_ = nullptr;
  bool next_is_inclusive_ = false;
};

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool belongs_to_verbs(std::string_view object) {
  const std::string_view name = file_name(object);
  return name.starts_with("libibverbs") || name.starts_with("libmlx5") ||
         name.find("-rdmav") != std::string_view::npos;
}

}  // namespace

Result<InstructionsByObject> parse_profile(std::string_view text, const std::string& where) {
  ProfileReader reader;
  size_t number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    ++number;
    if (!reader.read_line(text.substr(0, end))) {
      return Error{ErrorCode::kSystem,
                   fmt::format("Line {} of {} is not one of a callgrind profile.", number, where)};
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!reader.has_instructions()) {
    return Error{ErrorCode::kSystem, fmt::format("{} counts no instructions (Ir).", where)};
  }
  return reader.objects();
}

Instructions by_part(const InstructionsByObject& objects, const std::string& transport,
                     const std::string& program) {
  Instructions sum;
  for (const auto& [object, count] : objects) {
    if (object == transport) {
      sum.transport += count;
    } else if (belongs_to_verbs(object)) {
      sum.verbs += count;
    } else if (object != program) {
      sum.others += count;
    }
  }
  return sum;
}

}  // namespace rocelane::bench
