#include "collperf/nccl_calls.h"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace rocelane::collperf {
namespace {

ncclRedOp_t built_in(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kMulSum:
      return ncclSum;
    case ReduceOp::kProd:
      return ncclProd;
    case ReduceOp::kMax:
      return ncclMax;
    case ReduceOp::kMin:
      return ncclMin;
    case ReduceOp::kAvg:
      break;
  }
  return ncclAvg;
}

// Closes the group it opened, also when a call inside fails.
class Group {
 public:
  Group() { add(ncclGroupStart()); }
  void add(ncclResult_t result) {
    if (first_failure_ == ncclSuccess) {
      first_failure_ = result;
    }
  }
  ncclResult_t end() {
    add(ncclGroupEnd());
    return first_failure_;
  }

 private:
  ncclResult_t first_failure_ = ncclSuccess;
};

class Exchange {
 public:
  explicit Exchange(const CollectiveCall& call)
      : call_(call),
        type_(nccl_type(call.type)),
        block_bytes_(call.call_count * size_of(call.type)) {}

  void send_block(int block, int peer) {
    const auto* from = static_cast<const std::byte*>(call_.send) + offset(block);
    group_.add(ncclSend(from, call_.call_count, type_, peer, call_.comm, call_.stream));
  }
  void receive_block(int block, int peer) {
    auto* into = static_cast<std::byte*>(call_.receive) + offset(block);
    group_.add(ncclRecv(into, call_.call_count, type_, peer, call_.comm, call_.stream));
  }
  ncclResult_t end() { return group_.end(); }

 private:
  size_t offset(int block) const { return static_cast<size_t>(block) * block_bytes_; }

  const CollectiveCall& call_;
  ncclDataType_t type_;
  size_t block_bytes_;
  Group group_;
};

ncclResult_t exchange_blocks(const CollectiveCall& call) {
  Exchange exchange(call);
  const bool is_root = call.rank == call.root;
  for (int peer = 0; peer < call.ranks; ++peer) {
    if (call.collective == Collective::kAllToAll) {
      exchange.send_block(peer, peer);
      exchange.receive_block(peer, peer);
    } else if (call.collective == Collective::kGather && is_root) {
      exchange.receive_block(peer, peer);
    } else if (call.collective == Collective::kScatter && is_root) {
      exchange.send_block(peer, peer);
    }
  }
  if (call.collective == Collective::kGather) {
    exchange.send_block(0, call.root);
  } else if (call.collective == Collective::kScatter) {
    exchange.receive_block(0, call.root);
  } else if (call.collective == Collective::kSendRecv) {
    exchange.send_block(0, (call.rank + 1) % call.ranks);
    exchange.receive_block(0, (call.rank + call.ranks - 1) % call.ranks);
  }
  return exchange.end();
}

ncclResult_t dispatch(const CollectiveCall& call) {
  const ncclDataType_t type = nccl_type(call.type);
  switch (call.collective) {
    case Collective::kAllReduce:
      return ncclAllReduce(call.send, call.receive, call.call_count, type, call.op, call.comm,
                           call.stream);
    case Collective::kAllGather:
      return ncclAllGather(call.send, call.receive, call.call_count, type, call.comm, call.stream);
    case Collective::kReduceScatter:
      return ncclReduceScatter(call.send, call.receive, call.call_count, type, call.op, call.comm,
                               call.stream);
    case Collective::kBroadcast:
      return ncclBroadcast(call.send, call.receive, call.call_count, type, call.root, call.comm,
                           call.stream);
    case Collective::kReduce:
      return ncclReduce(call.send, call.receive, call.call_count, type, call.op, call.root,
                        call.comm, call.stream);
    case Collective::kAllToAll:
    case Collective::kSendRecv:
    case Collective::kGather:
    case Collective::kScatter:
      break;
  }
  return exchange_blocks(call);
}

}  // namespace

ncclDataType_t nccl_type(ElementType type) {
  switch (type) {
    case ElementType::kInt8:
      return ncclInt8;
    case ElementType::kUint8:
      return ncclUint8;
    case ElementType::kInt32:
      return ncclInt32;
    case ElementType::kUint32:
      return ncclUint32;
    case ElementType::kInt64:
      return ncclInt64;
    case ElementType::kUint64:
      return ncclUint64;
    case ElementType::kHalf:
      return ncclFloat16;
    case ElementType::kFloat:
      return ncclFloat32;
    case ElementType::kDouble:
      return ncclFloat64;
    case ElementType::kBfloat16:
      break;
  }
  return ncclBfloat16;
}

std::string nccl_version_text() {
  int version = 0;
  if (ncclGetVersion(&version) != ncclSuccess) {
    return "of unknown version";
  }
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

Status check_nccl(ncclResult_t result, std::string_view what) {
  if (result == ncclSuccess || result == ncclInProgress) {
    return {};
  }
  const char* const last = ncclGetLastError(nullptr);
  const std::string_view detail = last == nullptr ? "" : last;
  return Error{ErrorCode::kRemote,
               fmt::format("{} failed: {}{}{}{}", what, ncclGetErrorString(result),
                           detail.empty() ? "" : " (last NCCL message: ", detail,
                           detail.empty() ? "." : ").")};
}

Status check_cuda(cudaError_t result, std::string_view what) {
  if (result == cudaSuccess) {
    return {};
  }
  return Error{ErrorCode::kSystem,
               fmt::format("{} failed: {} (CUDA error {}).", what, cudaGetErrorString(result),
                           static_cast<int>(result))};
}

Result<NcclReduceOp> NcclReduceOp::make(ReduceOp op, ElementType type, int rank,
                                        const ncclComm_t& comm) {
  if (op != ReduceOp::kMulSum) {
    return NcclReduceOp(built_in(op), nullptr);
  }
  std::array<std::byte, 8> scalar = premultiplier_bits(type, rank);
  ncclRedOp_t made = ncclSum;
  const Status status = check_nccl(ncclRedOpCreatePreMulSum(&made, scalar.data(), nccl_type(type),
                                                            ncclScalarHostImmediate, comm),
                                   fmt::format("ncclRedOpCreatePreMulSum on rank {}", rank));
  if (!status) {
    return status.error();
  }
  return NcclReduceOp(made, &comm);
}

NcclReduceOp::NcclReduceOp(NcclReduceOp&& other) noexcept
    : op_(other.op_), owner_(std::exchange(other.owner_, nullptr)) {}

NcclReduceOp& NcclReduceOp::operator=(NcclReduceOp other) noexcept {
  std::swap(op_, other.op_);
  std::swap(owner_, other.owner_);
  return *this;
}

NcclReduceOp::~NcclReduceOp() {
  if (owner_ != nullptr && *owner_ != nullptr) {
    ncclRedOpDestroy(op_, *owner_);
  }
}

Status issue(const CollectiveCall& call) {
  const ncclResult_t result = dispatch(call);
  return result == ncclSuccess
             ? Status()
             : check_nccl(result,
                          fmt::format("{} on rank {}", name_of(call.collective), call.rank));
}

}  // namespace rocelane::collperf
