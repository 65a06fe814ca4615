#include "softverbs/description/table_reader.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest_name.h"
#include "base/settings_names.h"
#include "softverbs/description/units.h"
#include "softverbs/description/words.h"

namespace rocelane::softverbs {
namespace {

constexpr size_t kMostTables = 4096;  // of one name

// What the file says, as far as that fits into a sentence.
std::string as_written(const toml::node& node) {
  if (const auto* text = node.as_string()) {
    return quoted(text->get());
  }
  if (const auto* number = node.as_integer()) {
    return fmt::format("{}", number->get());
  }
  if (const auto* number = node.as_floating_point()) {
    return fmt::format("{}", number->get());
  }
  return std::string(kind_name(node));
}

std::string advice(std::string_view wrong, std::span<const std::string_view> words) {
  // Two edits make any short word out of any other.
  constexpr size_t kMostEdits = 2;
  const size_t most_edits = std::min(kMostEdits, wrong.size() / 3);
  if (const auto near = nearest_name(wrong, words, most_edits)) {
    return fmt::format("\"{}\"", *near);
  }
  return fmt::format("one of {}", fmt::join(words, ", "));
}

}  // namespace

const toml::node* TableReader::find(std::string_view key) {
  if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) {
    asked_.push_back(key);
  }
  return table_.get(key);
}

std::string TableReader::field(std::string_view key) const {
  return path_.empty() || key.empty() ? fmt::format("{}{}", path_, shown(key))
                                      : fmt::format("{}.{}", path_, shown(key));
}

void TableReader::refuse(std::string_view key, std::string_view what, std::string_view instead) {
  const toml::node* const node = table_.get(key);
  mistakes_.add(node != nullptr ? node->source().begin.line : std::max<size_t>(line(), 1),
                field(key), what, instead);
}

void TableReader::refuse_other_keys() {
  for (const auto& [key, node] : table_) {
    const std::string_view name = key.str();
    if (std::find(asked_.begin(), asked_.end(), name) == asked_.end()) {
      refuse(name, "there is no such key here", advice(name, asked_));
      return;
    }
  }
}

std::optional<int64_t> TableReader::integer_between(std::string_view key, int64_t least,
                                                    int64_t most) {
  const toml::node* const node = find(key);
  if (node == nullptr) {
    return std::nullopt;
  }
  const auto* const number = node->as_integer();
  if (number == nullptr || number->get() < least || number->get() > most) {
    refuse(key, fmt::format("{} is not possible", as_written(*node)),
           fmt::format("an integer from {} to {}", least, most));
    return std::nullopt;
  }
  return number->get();
}

std::optional<bool> TableReader::flag(std::string_view key) {
  const toml::node* const node = find(key);
  if (node == nullptr) {
    return std::nullopt;
  }
  const auto* const value = node->as_boolean();
  if (value == nullptr) {
    refuse(key, fmt::format("{} is neither yes nor no", as_written(*node)), "true or false");
    return std::nullopt;
  }
  return value->get();
}

std::optional<std::string> TableReader::text(std::string_view key) {
  const toml::node* const node = find(key);
  if (node == nullptr) {
    return std::nullopt;
  }
  const auto* const value = node->as_string();
  if (value == nullptr) {
    refuse(key, fmt::format("{} is no text", as_written(*node)), "it in quotes");
    return std::nullopt;
  }
  return value->get();
}

std::optional<std::vector<std::string>> TableReader::texts(std::string_view key) {
  const toml::node* const node = find(key);
  if (node == nullptr) {
    return std::nullopt;
  }
  const toml::array* const list = node->as_array();
  if (list == nullptr) {
    const std::optional<std::string> one = text(key);
    return one ? std::optional(std::vector{*one}) : std::nullopt;
  }
  if (list->empty()) {
    refuse(key, "the list is empty", "at least one name");
    return std::nullopt;
  }
  std::vector<std::string> values;
  for (const toml::node& element : *list) {
    if (!element.is_string()) {
      refuse(key, fmt::format("{} is no text", as_written(element)), "each element in quotes");
      return std::nullopt;
    }
    values.push_back(element.as_string()->get());
  }
  return values;
}

template <class Quantity>
std::optional<Quantity> TableReader::quantity(std::string_view key,
                                              std::optional<Quantity> (*parse)(std::string_view),
                                              std::string_view form) {
  const toml::node* const node = find(key);
  if (node == nullptr) {
    return std::nullopt;
  }
  const auto* const text = node->as_string();
  const std::optional<Quantity> value = text != nullptr ? parse(text->get()) : std::nullopt;
  if (!value) {
    refuse(key, fmt::format("{} is not possible", as_written(*node)), form);
  }
  return value;
}

std::optional<double> TableReader::rate(std::string_view key) {
  return quantity(key, parse_rate,
                  "a rate with its unit from 1kb/s to 100Tb/s, for example \"100Gb/s\", or "
                  "\"unlimited\"");
}

std::optional<uint64_t> TableReader::duration(std::string_view key) {
  return quantity(key, parse_duration,
                  "a time with its unit (ns, us, ms, s, min, h, d; at most 365d), for example "
                  "\"200ms\"");
}

std::optional<uint64_t> TableReader::bytes(std::string_view key) {
  return quantity(key, parse_bytes,
                  "a size with its unit (B, kB, KiB, MB, MiB, GB, GiB), for example \"256KiB\"");
}

std::optional<double> TableReader::probability(std::string_view key) {
  const toml::node* const node = find(key);
  if (node == nullptr || node->is_string()) {
    return quantity(key, parse_percentage, "\"0%\" to \"100%\", or a number from 0 to 1");
  }
  const std::optional<double> value = node->value<double>();
  if (!value || !(*value >= 0 && *value <= 1)) {
    refuse(key, fmt::format("{} is no probability", as_written(*node)),
           "a number from 0 to 1, or \"0%\" to \"100%\"");
    return std::nullopt;
  }
  return value;
}

std::optional<int> TableReader::error_number(std::string_view key) {
  return quantity(key, parse_error_name, "the name of an errno value, for example \"ETIMEDOUT\"");
}

std::optional<size_t> TableReader::place_of(std::string_view key,
                                            std::span<const std::string_view> words) {
  const std::optional<std::string> value = text(key);
  if (!value) {
    return std::nullopt;
  }
  const auto found = std::find(words.begin(), words.end(), *value);
  if (found == words.end()) {
    refuse(key, fmt::format("{} is not known", quoted(*value)), advice(*value, words));
    return std::nullopt;
  }
  return static_cast<size_t>(found - words.begin());
}

std::optional<TableReader> TableReader::table(std::string_view key) {
  const toml::node* const node = find(key);
  if (node == nullptr) {
    return std::nullopt;
  }
  if (!node->is_table()) {
    refuse(key, fmt::format("{} is no table", as_written(*node)),
           fmt::format("[{0}] on a line of its own or {1} = {{ … }}", field(key), shown(key)));
    return std::nullopt;
  }
  return TableReader(*node->as_table(), field(key), mistakes_);
}

std::vector<TableReader> TableReader::tables(std::string_view key) {
  const toml::node* const node = find(key);
  if (node == nullptr) {
    return {};
  }
  const toml::array* const list = node->as_array();
  const bool all_tables =
      list != nullptr && std::all_of(list->begin(), list->end(),
                                     [](const toml::node& element) { return element.is_table(); });
  if (!all_tables) {
    refuse(key, fmt::format("{} is no list of tables", as_written(*node)),
           fmt::format("[[{0}]] above each of them or {1} = [{{ … }}]", field(key), shown(key)));
    return {};
  }
  if (list->size() > kMostTables) {
    refuse(key, fmt::format("there are {} of them", list->size()),
           fmt::format("at most {}; * stands for many names at once", kMostTables));
    return {};
  }
  std::vector<TableReader> readers;
  readers.reserve(list->size());
  for (const toml::node& element : *list) {
    readers.emplace_back(*element.as_table(), field(key), mistakes_);
  }
  return readers;
}

}  // namespace rocelane::softverbs
