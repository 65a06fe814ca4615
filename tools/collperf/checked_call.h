#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "collperf/collective_table.h"
#include "collperf/guarded_buffer.h"
#include "collperf/reference_values.h"

namespace rocelane::collperf {

// One call as all ranks make it.
struct CallPlan {
  Collective collective = Collective::kAllReduce;
  CallShape shape;
  ElementType type = ElementType::kFloat;
  std::optional<ReduceOp> op;  // only where the collective reduces
  int root = 0;
  int ranks = 1;
  bool in_place = false;

  size_t larger_bytes() const { return shape.larger_count() * size_of(type); }
};

struct RankBuffers {
  GuardedBuffer send;
  GuardedBuffer receive;  // in place it is the only one used

  static Result<RankBuffers> allocate(size_t content_bytes);
};

// Where a rank's call sends from and receives at, `shift_bytes` into the buffers.
struct CallPointers {
  const std::byte* send = nullptr;
  std::byte* receive = nullptr;
};
CallPointers pointers_of(const CallPlan& plan, int rank, const RankBuffers& buffers,
                         size_t shift_bytes);

// A call of one rank whose every byte is known: prepare, make the call, verify.
class CheckedCall {
 public:
  static Result<CheckedCall> prepare(const CallPlan& plan, uint64_t seed, int rank,
                                     const RankBuffers& buffers);

  // Every expected element, and that every other byte of both buffers and of the zones around them
  // is as it was.
  Result<Mismatches> verify() const;
  // How many elements the call had to deliver to this rank.
  size_t delivered_count() const;

 private:
  CheckedCall(const CallPlan& plan, uint64_t seed, int rank, const RankBuffers& buffers);
  Mismatches compare_content(std::span<const std::byte> after) const;

  CallPlan plan_;
  Dataset dataset_;
  int rank_;
  const RankBuffers* buffers_;
  std::vector<Piece> pieces_;
  std::vector<std::byte> send_image_;
  std::vector<std::byte> receive_image_;
};

}  // namespace rocelane::collperf
