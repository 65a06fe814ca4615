#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rocelane::lab {

struct ElfSymbol {
  std::string name;
  uint64_t offset = 0;  // from the library's load address
  uint64_t size = 0;
  bool is_function = false;
};

// The defined functions and objects of a 64-bit little-endian library, local ones included.
class ElfSymbols {
 public:
  // Fails when the file is no such library or its symbol table was stripped.
  static Result<ElfSymbols> read(const std::string& path);
  static Result<ElfSymbols> parse(std::span<const std::byte> file, const std::string& path);

  const std::vector<ElfSymbol>& all() const { return symbols_; }
  const ElfSymbol* find(std::string_view name) const;

 private:
  explicit ElfSymbols(std::vector<ElfSymbol> sorted_by_name)
      : symbols_(std::move(sorted_by_name)) {}
  std::vector<ElfSymbol> symbols_;
};

}  // namespace rocelane::lab
