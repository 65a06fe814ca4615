#include "collperf/collective_table.h"

namespace rocelane::collperf {
namespace {

// Collectives that cut the larger buffer into one block a rank.
bool cuts_into_blocks(Collective collective) {
  switch (collective) {
    case Collective::kAllGather:
    case Collective::kReduceScatter:
    case Collective::kAllToAll:
    case Collective::kGather:
    case Collective::kScatter:
      return true;
    case Collective::kAllReduce:
    case Collective::kBroadcast:
    case Collective::kReduce:
    case Collective::kSendRecv:
      break;
  }
  return false;
}

std::vector<Piece> one_block_from_each(size_t call_count, int ranks, size_t source_offset) {
  std::vector<Piece> pieces;
  for (int source = 0; source < ranks; ++source) {
    pieces.push_back({static_cast<size_t>(source) * call_count, call_count, source, source_offset});
  }
  return pieces;
}

double bus_factor(Collective collective, int ranks) {
  const double others = ranks - 1;
  switch (collective) {
    case Collective::kAllReduce:
      return 2 * others / ranks;
    case Collective::kAllGather:
    case Collective::kReduceScatter:
    case Collective::kAllToAll:
    case Collective::kGather:
    case Collective::kScatter:
      return others / ranks;
    case Collective::kBroadcast:
    case Collective::kReduce:
    case Collective::kSendRecv:
      break;
  }
  return 1;
}

}  // namespace

std::string_view name_of(Collective collective) {
  switch (collective) {
    case Collective::kAllReduce:
      return "all_reduce";
    case Collective::kAllGather:
      return "all_gather";
    case Collective::kReduceScatter:
      return "reduce_scatter";
    case Collective::kBroadcast:
      return "broadcast";
    case Collective::kReduce:
      return "reduce";
    case Collective::kAllToAll:
      return "alltoall";
    case Collective::kSendRecv:
      return "sendrecv";
    case Collective::kGather:
      return "gather";
    case Collective::kScatter:
      break;
  }
  return "scatter";
}

std::optional<Collective> collective_named(std::string_view name) {
  for (const Collective collective : kAllCollectives) {
    if (name_of(collective) == name) {
      return collective;
    }
  }
  return std::nullopt;
}

bool reduces(Collective collective) {
  return collective == Collective::kAllReduce || collective == Collective::kReduceScatter ||
         collective == Collective::kReduce;
}

bool has_root(Collective collective) {
  return collective == Collective::kBroadcast || collective == Collective::kReduce ||
         collective == Collective::kGather || collective == Collective::kScatter;
}

bool works_in_place(Collective collective) {
  return collective != Collective::kAllToAll && collective != Collective::kSendRecv;
}

CallShape shape_of_call(Collective collective, size_t call_count, int ranks) {
  const size_t all_blocks = call_count * static_cast<size_t>(ranks);
  switch (collective) {
    case Collective::kAllGather:
    case Collective::kGather:
      return {call_count, call_count, all_blocks, call_count, 0};
    case Collective::kReduceScatter:
    case Collective::kScatter:
      return {call_count, all_blocks, call_count, 0, call_count};
    case Collective::kAllToAll:
      return {call_count, all_blocks, all_blocks, 0, 0};
    case Collective::kAllReduce:
    case Collective::kBroadcast:
    case Collective::kReduce:
    case Collective::kSendRecv:
      break;
  }
  return {call_count, call_count, call_count, 0, 0};
}

CallShape shape_for_size(Collective collective, size_t size_bytes, size_t element_bytes,
                         int ranks) {
  size_t count = size_bytes / element_bytes;
  if (cuts_into_blocks(collective)) {
    const size_t elements_of_16_bytes = 16 / element_bytes;
    count /= static_cast<size_t>(ranks);
    count -= count % elements_of_16_bytes;
  }
  return shape_of_call(collective, count, ranks);
}

std::vector<Piece> expected_pieces(Collective collective, size_t call_count, int ranks, int rank,
                                   int root) {
  const size_t own_block = static_cast<size_t>(rank) * call_count;
  switch (collective) {
    case Collective::kAllReduce:
      return {{0, call_count, std::nullopt, 0}};
    case Collective::kReduce:
      return rank == root ? std::vector<Piece>{{0, call_count, std::nullopt, 0}}
                          : std::vector<Piece>{};
    case Collective::kReduceScatter:
      return {{0, call_count, std::nullopt, own_block}};
    case Collective::kBroadcast:
      return {{0, call_count, root, 0}};
    case Collective::kAllGather:
      return one_block_from_each(call_count, ranks, 0);
    case Collective::kAllToAll:
      return one_block_from_each(call_count, ranks, own_block);
    case Collective::kGather:
      return rank == root ? one_block_from_each(call_count, ranks, 0) : std::vector<Piece>{};
    case Collective::kScatter:
      return {{0, call_count, root, own_block}};
    case Collective::kSendRecv:
      break;
  }
  return {{0, call_count, (rank + ranks - 1) % ranks, 0}};
}

Bandwidth bandwidth_of(Collective collective, size_t call_count, size_t element_bytes, int ranks,
                       double seconds) {
  const size_t moved_count = shape_of_call(collective, call_count, ranks).larger_count();
  const double gigabytes = static_cast<double>(moved_count * element_bytes) / 1e9;
  const double algorithm = seconds > 0 ? gigabytes / seconds : 0;
  return {algorithm, algorithm * bus_factor(collective, ranks)};
}

}  // namespace rocelane::collperf
