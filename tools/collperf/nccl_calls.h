#pragma once

#include <string>
#include <string_view>

#include <cuda_runtime_api.h>
#include <nccl.h>

#include "base/result.h"
#include "collperf/collective_table.h"
#include "collperf/element_type.h"
#include "collperf/reference_values.h"

namespace rocelane::collperf {

ncclDataType_t nccl_type(ElementType type);
std::string nccl_version_text();

// `what` reads like "ncclAllReduce on rank 3".
Status check_nccl(ncclResult_t result, std::string_view what);
Status check_cuda(cudaError_t result, std::string_view what);

// The ncclRedOp_t of one communicator; mulsum has to be made and given back, the others are names.
class NcclReduceOp {
 public:
  // `comm` has to stay where it is; it is null once the communicator is gone, and the operation
  // with it.
  static Result<NcclReduceOp> make(ReduceOp op, ElementType type, int rank, const ncclComm_t& comm);
  NcclReduceOp(NcclReduceOp&& other) noexcept;
  NcclReduceOp& operator=(NcclReduceOp other) noexcept;
  ~NcclReduceOp();

  ncclRedOp_t get() const { return op_; }

 private:
  NcclReduceOp(ncclRedOp_t op, const ncclComm_t* owner) : op_(op), owner_(owner) {}

  ncclRedOp_t op_ = ncclSum;
  const ncclComm_t* owner_ = nullptr;  // null: nothing to give back
};

struct CollectiveCall {
  Collective collective = Collective::kAllReduce;
  const void* send = nullptr;
  void* receive = nullptr;
  size_t call_count = 0;
  ElementType type = ElementType::kFloat;
  ncclRedOp_t op = ncclSum;
  int root = 0;
  int rank = 0;
  int ranks = 1;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
};

// Puts the call on the stream. alltoall, sendrecv, gather and scatter are made of sends and
// receives, which every NCCL since 2.7 has.
Status issue(const CollectiveCall& call);

}  // namespace rocelane::collperf
