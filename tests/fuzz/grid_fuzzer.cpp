// A file of measured collectives, which the tuner evaluation reads.

#include <cmath>

#include "fuzzer.h"
#include "tuner/grid/grid_reader.h"

namespace rocelane::fuzz {
namespace {

using tuner::GridKey;
using tuner::SizeTimes;

bool is_time(double time_us) { return std::isfinite(time_us) && time_us > 0; }

void check(const GridKey& key, const SizeTimes& times) {
  require(key.nodes >= 0 && key.ranks >= 0, "counts, or 0 where they are not stated");
  require(key.ranks == 0 || key.ranks >= key.nodes, "a rank on every node");
  require(!times.time_us.empty() || times.by_default, "a size was measured");
  for (const auto& [choice, time_us] : times.time_us) {
    require(!choice.algorithm.empty() && choice.channels >= 0 && is_time(time_us), "a forced time");
  }
  require(!times.by_default || is_time(times.by_default->time_us), "a default time");
}

}  // namespace

std::vector<Input> good_inputs() {
  const std::string header =
      "source,cluster,collective,nodes,ranks,bytes,algo,proto,channels,time_us,config\n";
  return {bytes_of_text(header + "x,c,AllReduce,2,16,4096,ring,LL,4,50,forced\r\n"
                                 "x,c,AllReduce,2,16,4096,RING,LL,4,45.5,forced\n"
                                 "x,c,AllReduce,2,16,4096,TREE,LL,8,40,default\n"),
          bytes_of_text(header + "x,\"c, of d\",\"All\"\"Reduce\",,8,4096,RING,,,9e1,forced\n\n"
                                 "x,c,AllReduce,2,,18446744073709551615,RING,,min4 max16,9,f\n")};
}

void mend(Input& /*input*/) {}

}  // namespace rocelane::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rocelane::fuzz;
  const auto grids = rocelane::tuner::read_grids(as_text(data, size), "grid.csv");
  if (!grids) {
    const std::string& sentence = grids.error().what;
    require(sentence.starts_with("grid.csv:") && is_one_printable_line(sentence),
            "one line that names the file");
    return 0;
  }
  note_accepted();
  require(!grids->empty(), "a file that is accepted has a measurement");
  for (const auto& [key, sizes] : *grids) {
    for (const auto& [bytes, times] : sizes) {
      require(bytes > 0, "sizes above 0");
      check(key, times);
    }
  }
  return 0;
}
