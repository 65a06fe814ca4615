#include "device/function.h"

#include <array>
#include <cstddef>
#include <span>

namespace rocelane::lab {
namespace {

constexpr std::array kProtocols = {Protocol::kLl, Protocol::kLl128, Protocol::kSimple};
constexpr std::array kOperations = {Operation::kSum, Operation::kProduct, Operation::kMinMax,
                                    Operation::kPreMultipliedSum, Operation::kSumThenDivide};
constexpr int kElementTypes = 12;

constexpr std::array kRingOnly = {Algorithm::kRing};
constexpr std::array kGatherAlgorithms = {Algorithm::kRing, Algorithm::kCollNetDirect,
                                          Algorithm::kNvls, Algorithm::kPat};
constexpr std::array kAllReduceAlgorithms = {Algorithm::kTree,          Algorithm::kRing,
                                             Algorithm::kCollNetDirect, Algorithm::kCollNetChain,
                                             Algorithm::kNvls,          Algorithm::kNvlsTree};

void add_protocols(std::vector<Function>& rows, Function row,
                   std::span<const Algorithm> algorithms) {
  for (const Algorithm algorithm : algorithms) {
    for (const Protocol protocol : kProtocols) {
      row.algorithm = algorithm;
      row.protocol = protocol;
      rows.push_back(row);
    }
  }
}

void add_reductions(std::vector<Function>& rows, Collective collective,
                    std::span<const Algorithm> algorithms) {
  for (const Operation operation : kOperations) {
    for (int element = 0; element < kElementTypes; ++element) {
      Function row;
      row.collective = collective;
      row.operation = operation;
      row.element = static_cast<ElementType>(element);
      add_protocols(rows, row, algorithms);
    }
  }
}

// The rows in the order in which NCCL 2.28 numbers them.
std::vector<Function> all_rows() {
  std::vector<Function> rows = {Function{}};
  add_protocols(rows, Function{.collective = Collective::kAllGather}, kGatherAlgorithms);
  add_protocols(rows, Function{.collective = Collective::kBroadcast}, kRingOnly);
  add_reductions(rows, Collective::kAllReduce, kAllReduceAlgorithms);
  add_reductions(rows, Collective::kReduce, kRingOnly);
  add_reductions(rows, Collective::kReduceScatter, kGatherAlgorithms);
  return rows;
}

}  // namespace

std::string_view name_of(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::kTree:
      return "Tree";
    case Algorithm::kRing:
      return "Ring";
    case Algorithm::kCollNetDirect:
      return "CollNetDirect";
    case Algorithm::kCollNetChain:
      return "CollNetChain";
    case Algorithm::kNvls:
      return "NVLS";
    case Algorithm::kNvlsTree:
      return "NVLSTree";
    case Algorithm::kPat:
      return "PAT";
  }
  return "unknown";
}

FunctionTable::FunctionTable(const int* row_to_id) {
  const std::vector<Function> rows = all_rows();
  for (size_t row = 0; row < rows.size(); ++row) {
    if (row_to_id[row] < 0) {
      continue;
    }
    const auto id = static_cast<size_t>(row_to_id[row]);
    if (functions_.size() <= id) {
      functions_.resize(id + 1);
    }
    if (!functions_[id]) {
      functions_[id] = rows[row];
    }
  }
}

std::optional<Function> FunctionTable::find(int id) const {
  if (id < 0 || static_cast<size_t>(id) >= functions_.size()) {
    return std::nullopt;
  }
  return functions_[static_cast<size_t>(id)];
}

int function_row_count() { return static_cast<int>(all_rows().size()); }

}  // namespace rocelane::lab
