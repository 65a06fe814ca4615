#pragma once

// Valgrind's callgrind, when this process runs in it: instructions of one thread between two
// moments.

#include <string>
#include <vector>

#include "base/result.h"
#include "bench/instruction_profile.h"

namespace rocelane::bench {

// Empty: this process can be counted by callgrind. Else a sentence about what is missing: the
// header when this program was built, or valgrind on this machine.
std::string what_callgrind_needs();

// What goes before a command line, to run it so that it can count.
std::vector<std::string> callgrind_command(const std::string& folder);

// Both on the counted thread. `folder`: as in the command line. `keep_as`: where the profile goes
// when it has been read, for callgrind_annotate; empty: it is removed.
void start_counting_instructions();
Result<InstructionsByObject> stop_counting_instructions(const std::string& folder,
                                                        const std::string& keep_as);

}  // namespace rocelane::bench
