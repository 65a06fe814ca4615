#include "tuner/grid/grid_reader.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/settings_names.h"
#include "tuner/grid/csv_line.h"

namespace rocelane::tuner {
namespace {

enum Column {
  kCluster,
  kCollective,
  kNodes,
  kRanks,
  kBytes,
  kAlgo,
  kProto,
  kChannels,
  kTime,
  kConfig
};
constexpr std::array<const char*, 10> kColumnNames{"cluster", "collective", "nodes", "ranks",
                                                   "bytes",   "algo",       "proto", "channels",
                                                   "time_us", "config"};
using Places = std::array<size_t, kColumnNames.size()>;

template <class Number>
bool parse(const std::string& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

// An empty field leaves 0.
bool parse_count(const std::string& text, int least, int& count) {
  return text.empty() || (parse(text, count) && count >= least);
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  return text;
}

// Where a sentence about a mistake begins: "grid.csv:12: ".
std::string place(std::string_view name, size_t line) {
  return shown(name) + ":" + std::to_string(line) + ": ";
}

Error mistake(const std::string& where, const std::string& what) {
  return {ErrorCode::kInvalidArgument, where + what};
}

Result<Places> find_columns(const std::vector<std::string>& header, const std::string& where) {
  Places places{};
  for (size_t column = 0; column < kColumnNames.size(); ++column) {
    const auto found = std::find(header.begin(), header.end(), kColumnNames[column]);
    if (found == header.end()) {
      return mistake(where, std::string("the column ") + kColumnNames[column] +
                                " is missing; name the columns in the first line");
    }
    places[column] = static_cast<size_t>(found - header.begin());
  }
  return places;
}

struct Row {
  GridKey key;
  uint64_t bytes = 0;
  Choice choice;
  double time_us = 0;
  bool is_default = false;
};

Result<Row> read_row(const std::vector<std::string>& fields, const Places& places,
                     const std::string& where) {
  const auto field = [&](Column column) -> const std::string& { return fields[places[column]]; };
  const auto wrong = [&](Column column, const char* expected) {
    return mistake(where, std::string(kColumnNames[column]) + " is \"" + shown(field(column)) +
                              "\" instead of " + expected);
  };
  Row row;
  row.key.cluster = field(kCluster);
  row.key.collective = field(kCollective);
  if (!parse_count(field(kNodes), 1, row.key.nodes)) {
    return wrong(kNodes, "a number from 1, or nothing where it is not stated");
  }
  if (!parse_count(field(kRanks), std::max(1, row.key.nodes), row.key.ranks)) {
    return wrong(kRanks, "a number not below that of the nodes, or nothing");
  }
  if (!parse(field(kBytes), row.bytes) || row.bytes == 0) {
    return wrong(kBytes, "a number from 1");
  }
  if (!parse(field(kTime), row.time_us) || !std::isfinite(row.time_us) || row.time_us <= 0) {
    return wrong(kTime, "microseconds above 0");
  }
  row.choice = {upper(field(kAlgo)), upper(field(kProto)), 0};
  if (row.choice.algorithm.empty()) {
    return wrong(kAlgo, "an algorithm");
  }
  int channels = 0;
  if (parse(field(kChannels), channels) && channels > 0) {
    row.choice.channels = channels;
  }
  row.is_default = field(kConfig) == "default" || row.choice.algorithm == "DEFAULT";
  return row;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Every row of one size, before repeats are put together.
struct Repeats {
  std::map<Choice, std::vector<double>> forced;
  std::map<Choice, std::vector<double>> by_default;

  void add(const Row& row) {
    (row.is_default ? by_default : forced)[row.choice].push_back(row.time_us);
  }

  SizeTimes together() const {
    SizeTimes times;
    for (const auto& [choice, repeats] : forced) {
      times.time_us[choice] = median(repeats);
    }
    // Sources that disagree about what ran: the one with the most rows is believed.
    const auto most = std::max_element(
        by_default.begin(), by_default.end(),
        [](const auto& one, const auto& other) { return one.second.size() < other.second.size(); });
    if (most != by_default.end()) {
      times.by_default = DefaultRun{most->first, median(most->second)};
    }
    return times;
  }
};

using RawGrids = std::map<GridKey, std::map<uint64_t, Repeats>>;

Grids put_together(const RawGrids& raw) {
  Grids grids;
  for (const auto& [key, sizes] : raw) {
    for (const auto& [bytes, repeats] : sizes) {
      grids[key][bytes] = repeats.together();
    }
  }
  return grids;
}

}  // namespace

Result<Grids> read_grids(std::string_view text, std::string_view name) {
  RawGrids grids;
  Places places{};
  size_t columns = 0;
  for (size_t line_number = 1; !text.empty(); ++line_number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line.back() == '\r') {
      line.remove_suffix(1);
    }
    if (line.empty()) {
      continue;
    }
    const std::string where = place(name, line_number);
    const auto fields = split_csv_line(line);
    if (!fields) {
      return mistake(where, "a quoted field does not end in its line; close the quote");
    }
    if (columns == 0) {
      const Result<Places> found = find_columns(*fields, where);
      if (!found) {
        return found.error();
      }
      places = *found;
      columns = fields->size();
      continue;
    }
    if (fields->size() != columns) {
      return mistake(where, "has " + std::to_string(fields->size()) + " fields instead of " +
                                std::to_string(columns) + ", as the first line");
    }
    const Result<Row> row = read_row(*fields, places, where);
    if (!row) {
      return row.error();
    }
    grids[row->key][row->bytes].add(*row);
  }
  if (grids.empty()) {
    return mistake(shown(name) + ": ", "has no measurement; give a file with rows");
  }
  return put_together(grids);
}

}  // namespace rocelane::tuner
