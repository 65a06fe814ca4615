#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace rocelane::lab {

// Everything here is numbered as NCCL numbers it.
enum class Collective : uint8_t {
  kSendReceive,
  kAllGather,
  kBroadcast,
  kAllReduce,
  kReduce,
  kReduceScatter,
};

enum class Algorithm : uint8_t {
  kTree,
  kRing,
  kCollNetDirect,
  kCollNetChain,
  kNvls,
  kNvlsTree,
  kPat,
};

enum class Protocol : uint8_t { kLl, kLl128, kSimple };

enum class Operation : uint8_t { kSum, kProduct, kMinMax, kPreMultipliedSum, kSumThenDivide };

enum class ElementType : uint8_t {
  kInt8,
  kUint8,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kFloat16,
  kFloat32,
  kFloat64,
  kBfloat16,
  kFloat8E4m3,
  kFloat8E5m2,
};

// What one kernel function does. Collectives that only copy carry kSum and bytes.
struct Function {
  Collective collective = Collective::kSendReceive;
  Algorithm algorithm = Algorithm::kRing;
  Protocol protocol = Protocol::kSimple;
  Operation operation = Operation::kSum;
  ElementType element = ElementType::kInt8;
};

std::string_view name_of(Algorithm algorithm);

// The way back from a kernel function id to its meaning.
// Signed and unsigned integers share their kernels, so an id may name either: the bits are equal.
class FunctionTable {
 public:
  // `row_to_id`: NCCL's table; a negative id marks a row without a kernel.
  explicit FunctionTable(const int* row_to_id);

  std::optional<Function> find(int id) const;

 private:
  std::vector<std::optional<Function>> functions_;
};

// How many rows `row_to_id` has.
int function_row_count();

}  // namespace rocelane::lab
