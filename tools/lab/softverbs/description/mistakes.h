#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rocelane::softverbs {

// The first mistake of a file, as the sentence its author reads.
class Mistakes {
 public:
  explicit Mistakes(std::string file) : file_(std::move(file)) {}

  // "file:line: field: what; write instead". Only the first call counts: what follows a mistake is
  // often its consequence. An empty `field` is left out.
  void add(size_t line, std::string_view field, std::string_view what, std::string_view instead);

  bool any() const { return first_.has_value(); }
  Error error() const { return {ErrorCode::kInvalidArgument, first_.value_or("")}; }

 private:
  std::string file_;
  std::optional<std::string> first_;
};

// Text of the file in quotes, fit for one line.
std::string quoted(std::string_view text);

}  // namespace rocelane::softverbs
