#pragma once

// Instructions by the library they are in, from a file that valgrind's callgrind wrote.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rocelane::bench {

// Self cost: what a library calls elsewhere counts there. By path.
using InstructionsByObject = std::map<std::string, uint64_t>;

// `where`: the file, for the sentence.
Result<InstructionsByObject> parse_profile(std::string_view text, const std::string& where);

struct Instructions {
  uint64_t transport = 0;  // in the net's own library
  uint64_t verbs = 0;      // in libibverbs and providers
  uint64_t others = 0;     // in libc and the like
};

// `transport` and `program`: paths. What is in the program that drives the net counts nowhere.
Instructions by_part(const InstructionsByObject& objects, const std::string& transport,
                     const std::string& program);

}  // namespace rocelane::bench
