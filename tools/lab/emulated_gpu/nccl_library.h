#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "code_patch.h"
#include "device/kernel.h"
#include "elf_symbols.h"

namespace rocelane::lab {

// The NCCL library of this process, seen from outside.
struct LoadedNccl {
  std::string path;
  uintptr_t load_address = 0;
  int version = 0;
};

// None when the process has no libnccl.so.2 and can find none. Loads it if need be.
std::optional<LoadedNccl> find_nccl();

// Why an NCCL cannot be run on the emulated GPU; success when it can.
Status judge_nccl(const LoadedNccl& nccl, const Result<ElfSymbols>& symbols,
                  const std::function<bool(int version)>& layouts_known);

// "2.28.9" for 22809.
std::string version_text(int nccl_version);

// Every CUDA runtime function inside the library, each led to ours or to "not emulated".
std::vector<Replacement> plan_replacements(const LoadedNccl& nccl, const ElfSymbols& symbols);

// What a launch needs to know of the library it came from.
struct AttachedNccl {
  NcclImage image{};
  // By the host address that stands for the kernel in a launch.
  std::map<uintptr_t, std::string> collective_kernels;  // readable name
  std::map<uintptr_t, std::string> one_rank_kernels;    // mangled symbol
};

// Makes NCCL run on the emulated GPU. Reports and keeps NCCL from any GPU when it cannot.
void attach_nccl();
// nullptr until attached.
const AttachedNccl* attached_nccl();

}  // namespace rocelane::lab
