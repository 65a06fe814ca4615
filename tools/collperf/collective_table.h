#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace rocelane::collperf {

enum class Collective : uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kReduce,
  kAllToAll,
  kSendRecv,
  kGather,
  kScatter,
};

inline constexpr std::array kAllCollectives{
    Collective::kAllReduce, Collective::kAllGather, Collective::kReduceScatter,
    Collective::kBroadcast, Collective::kReduce,    Collective::kAllToAll,
    Collective::kSendRecv,  Collective::kGather,    Collective::kScatter};

std::string_view name_of(Collective collective);
std::optional<Collective> collective_named(std::string_view name);
bool reduces(Collective collective);
bool has_root(Collective collective);
// Whether sending from and receiving into one buffer has a defined result.
bool works_in_place(Collective collective);

// Sizes and places of one call, in elements. In place, rank r sends from r * in_place_send_step and
// receives at r * in_place_receive_step of one shared buffer.
struct CallShape {
  size_t call_count = 0;  // the count argument of the NCCL function
  size_t send_count = 0;
  size_t receive_count = 0;
  size_t in_place_send_step = 0;
  size_t in_place_receive_step = 0;

  size_t larger_count() const { return send_count > receive_count ? send_count : receive_count; }
};

CallShape shape_of_call(Collective collective, size_t call_count, int ranks);

// The call whose larger buffer holds at most `size_bytes`, as nccl-tests does it: where the buffer
// is cut into one block a rank, blocks are multiples of 16 bytes.
CallShape shape_for_size(Collective collective, size_t size_bytes, size_t element_bytes, int ranks);

// A run of the receive buffer and where its right content comes from.
struct Piece {
  size_t receive_offset = 0;
  size_t count = 0;
  std::optional<int> source_rank;  // none: the reduction over all ranks
  size_t source_offset = 0;
};

// What `rank` must find in its receive buffer. Everything not covered must stay as it was.
std::vector<Piece> expected_pieces(Collective collective, size_t call_count, int ranks, int rank,
                                   int root);

struct Bandwidth {
  double algorithm_gb_per_s = 0;
  double bus_gb_per_s = 0;
};

// The factors of nccl-tests: the bus bandwidth is what a link carries, whatever the rank count.
Bandwidth bandwidth_of(Collective collective, size_t call_count, size_t element_bytes, int ranks,
                       double seconds);

}  // namespace rocelane::collperf
