#pragma once

#include <vector>

#include "base/result.h"
#include "collperf/communicators.h"
#include "collperf/rendezvous.h"
#include "collperf/table_printer.h"

namespace rocelane::collperf {

// Host, process and GPU of every rank of the run, told to everybody.
Result<std::vector<RankPlace>> gather_rank_places(const Communicators& comms,
                                                  Rendezvous& rendezvous);

}  // namespace rocelane::collperf
