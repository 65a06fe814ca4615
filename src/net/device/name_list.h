#pragma once

// The grammar NCCL users know from NCCL_IB_HCA and NCCL_SOCKET_IFNAME: [^][=]name[:number…],name…
// ^ excludes what is listed; = wants whole names where otherwise a prefix is enough.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rocelane::net {

struct NameListEntry {
  std::string name;
  std::vector<std::optional<int>> numbers;  // after the colons; an empty field is std::nullopt
};

struct NameList {
  bool exclude = false;
  bool exact = false;
  std::vector<NameListEntry> entries;  // empty: everything matches
};

// `source` names the setting in sentences ("NCCL_IB_HCA=mlx5_0:x"), `most_numbers` limits the
// colons of an entry.
Result<NameList> parse_name_list(std::string_view text, std::string_view source,
                                 size_t most_numbers);

// Whether any entry names it; ^ is the caller's business.
bool is_listed(const NameList& list, std::string_view name);

}  // namespace rocelane::net
