#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/toml_library.h"
#include "softverbs/description/mistakes.h"
#include "softverbs/description/words.h"

namespace rocelane::softverbs {

// Reads one table of a file. Each question returns the value of a key, or nothing when the key is
// not there or its value is wrong, which is a mistake. Keys nobody asked for are mistakes too, see
// refuse_other_keys(). The table and the mistakes outlive the reader.
class TableReader {
 public:
  // `path` is how people call the table: "fabric.host_link". Empty: the file itself.
  TableReader(const toml::table& table, std::string path, Mistakes& mistakes)
      : table_(table), path_(std::move(path)), mistakes_(mistakes) {}

  template <class Number>
  std::optional<Number> integer(std::string_view key, int64_t least, int64_t most) {
    const std::optional<int64_t> value = integer_between(key, least, most);
    return value ? std::optional(static_cast<Number>(*value)) : std::nullopt;
  }
  std::optional<bool> flag(std::string_view key);
  std::optional<std::string> text(std::string_view key);
  std::optional<std::vector<std::string>> texts(std::string_view key);  // a name, or a list of them
  std::optional<double> rate(std::string_view key);                     // bits per second
  std::optional<uint64_t> duration(std::string_view key);               // nanoseconds
  std::optional<uint64_t> bytes(std::string_view key);
  std::optional<double> probability(std::string_view key);
  std::optional<int> error_number(std::string_view key);

  template <class Meaning>
  std::optional<Meaning> one_of(std::string_view key, std::span<const Word<Meaning>> words) {
    std::vector<std::string_view> names;
    for (const auto& word : words) {
      names.push_back(word.word);
    }
    const std::optional<size_t> place = place_of(key, names);
    return place ? std::optional(words[*place].meaning) : std::nullopt;
  }

  // A reader of the table below `key`.
  std::optional<TableReader> table(std::string_view key);

  // Readers of the tables that [[key]] or key = [{…}, …] starts; empty when there is none.
  std::vector<TableReader> tables(std::string_view key);

  bool has(std::string_view key) const { return table_.contains(key); }

  // Call it after the last question and before looking for what is missing: a misspelt key then
  // gets the better sentence.
  void refuse_other_keys();

  // A mistake in the value of `key`, or in the table as a whole when it has no such key.
  void refuse(std::string_view key, std::string_view what, std::string_view instead);

  size_t line() const { return table_.source().begin.line; }

 private:
  const toml::node* find(std::string_view key);
  std::string field(std::string_view key) const;
  std::optional<int64_t> integer_between(std::string_view key, int64_t least, int64_t most);
  std::optional<size_t> place_of(std::string_view key, std::span<const std::string_view> words);
  template <class Quantity>
  std::optional<Quantity> quantity(std::string_view key,
                                   std::optional<Quantity> (*parse)(std::string_view),
                                   std::string_view form);

  const toml::table& table_;
  std::string path_;
  Mistakes& mistakes_;
  std::vector<std::string_view> asked_;
};

}  // namespace rocelane::softverbs
