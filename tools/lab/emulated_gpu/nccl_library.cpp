#include "nccl_library.h"

#include <cctype>
#include <cstdlib>
#include <set>
#include <string_view>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include "api_table.h"
#include "device/one_rank.h"
#include "report.h"

namespace rocelane::lab {
namespace {

constexpr const char* kLibraryName = "libnccl.so.2";
constexpr const char* kFunctionTable = "ncclDevFuncRowToId";
// Only the runtime of CUDA 12 has this name; there the structures of the API differ from ours.
constexpr const char* kOldRuntimeMark = "cudaGetDeviceProperties_v2";

const AttachedNccl* attached = nullptr;

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

int visit_library(dl_phdr_info* info, size_t /*bytes*/, void* out) {
  if (!file_name(info->dlpi_name).starts_with(kLibraryName)) {
    return 0;
  }
  auto& found = *static_cast<std::optional<LoadedNccl>*>(out);
  found = LoadedNccl{info->dlpi_name, info->dlpi_addr, 0};
  return 1;
}

int ask_version(const std::string& path) {
  void* handle = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) {
    return 0;
  }
  int version = 0;
  if (void* symbol = ::dlsym(handle, "ncclGetVersion"); symbol != nullptr) {
    reinterpret_cast<int (*)(int*)>(symbol)(&version);
  }
  ::dlclose(handle);
  return version;
}

// cudaMalloc, but neither the __cudaRegister… functions that run while the library is loaded nor
// the variants for other kinds of default stream, which NCCL was not built to call.
bool is_runtime_function(const ElfSymbol& symbol) {
  const std::string_view name = symbol.name;
  return symbol.is_function && name.size() > 4 && name.starts_with("cuda") &&
         std::isupper(static_cast<unsigned char>(name[4])) != 0 && !name.ends_with("_ptsz") &&
         !name.ends_with("_ptds");
}

bool is_kernel_symbol(const ElfSymbol& symbol) {
  const std::string_view name = symbol.name;
  return symbol.is_function && name.starts_with("_Z") &&
         name.find("__device_stub__") == std::string_view::npos &&
         name.find(".cold") == std::string_view::npos;
}

// "ncclDevKernel_AllReduce_Sum_f32_RING_LL" out of its mangled form; empty for other symbols.
std::string_view collective_kernel_name(std::string_view symbol) {
  const size_t start = symbol.find("ncclDevKernel_");
  if (start == std::string_view::npos) {
    return {};
  }
  return symbol.substr(start, symbol.find("24ncclDevKernelArgsStorage") - start);
}

void remember_kernels(const LoadedNccl& nccl, const ElfSymbols& symbols, AttachedNccl& out) {
  for (const ElfSymbol& symbol : symbols.all()) {
    if (!is_kernel_symbol(symbol)) {
      continue;
    }
    const uintptr_t address = nccl.load_address + symbol.offset;
    if (const auto name = collective_kernel_name(symbol.name); !name.empty()) {
      out.collective_kernels.emplace(address, name);
    } else if (is_one_rank_kernel(symbol.name)) {
      out.one_rank_kernels.emplace(address, symbol.name);
    }
  }
}

// Whatever its own CUDA finds on this machine, a refused NCCL must not run half emulated.
void keep_from_gpus() { ::setenv("CUDA_VISIBLE_DEVICES", "-1", 1); }

Result<AttachedNccl> attach(const LoadedNccl& nccl) {
  const Result<ElfSymbols> symbols = ElfSymbols::read(nccl.path);
  if (const Status judged = judge_nccl(nccl, symbols, layouts_known); !judged) {
    return judged.error();
  }
  if (const Status patched = apply_patches(plan_replacements(nccl, *symbols)); !patched) {
    return patched.error();
  }
  const uintptr_t table = nccl.load_address + symbols->find(kFunctionTable)->offset;
  AttachedNccl result;
  result.image = {nccl.version, reinterpret_cast<const int*>(table)};
  remember_kernels(nccl, *symbols, result);
  return result;
}

}  // namespace

std::string version_text(int nccl_version) {
  return fmt::format("{}.{}.{}", nccl_version / 10000, nccl_version / 100 % 100,
                     nccl_version % 100);
}

std::optional<LoadedNccl> find_nccl() {
  std::optional<LoadedNccl> found;
  ::dl_iterate_phdr(visit_library, &found);
  if (!found && ::dlopen(kLibraryName, RTLD_NOW | RTLD_GLOBAL) != nullptr) {
    ::dl_iterate_phdr(visit_library, &found);
  }
  if (found) {
    found->version = ask_version(found->path);
  }
  return found;
}

Status judge_nccl(const LoadedNccl& nccl, const Result<ElfSymbols>& symbols,
                  const std::function<bool(int version)>& layouts_known) {
  const auto refuse = [&](std::string_view why) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("{} cannot run on the emulated GPU: {}", nccl.path, why)};
  };
  if (!layouts_known(nccl.version)) {
    return refuse(
        fmt::format("NCCL {} is not a version whose device structures are known here, "
                    "use 2.28.9",
                    version_text(nccl.version)));
  }
  if (!symbols) {
    return refuse(symbols.error().what);
  }
  if (symbols->find(kOldRuntimeMark) != nullptr) {
    return refuse("it was built with CUDA 12, use the build for CUDA 13");
  }
  if (symbols->find(kFunctionTable) == nullptr) {
    return refuse(fmt::format("its symbol table does not name {}", kFunctionTable));
  }
  return {};
}

std::vector<Replacement> plan_replacements(const LoadedNccl& nccl, const ElfSymbols& symbols) {
  std::vector<Replacement> plan;
  std::set<uintptr_t> planned;
  const auto add = [&](const ElfSymbol& symbol, const void* continue_at, const void* argument) {
    const uintptr_t address = nccl.load_address + symbol.offset;
    if (planned.insert(address).second) {
      plan.push_back({address, symbol.size, symbol.name, continue_at, argument});
    }
  };
  // Ours first: where two names share an address, the emulated one counts.
  for (const ElfSymbol& symbol : symbols.all()) {
    if (const void* ours = is_runtime_function(symbol) ? find_api(symbol.name) : nullptr) {
      add(symbol, ours, nullptr);
    }
  }
  for (const ElfSymbol& symbol : symbols.all()) {
    if (is_runtime_function(symbol) && find_api(symbol.name) == nullptr) {
      add(symbol, not_emulated_entry(), remember_not_emulated(symbol.name));
    }
  }
  return plan;
}

void attach_nccl() {
  if (attached != nullptr) {
    return;
  }
  const std::optional<LoadedNccl> nccl = find_nccl();
  if (!nccl) {
    return;  // a program without NCCL may use the rest
  }
  Result<AttachedNccl> result = attach(*nccl);
  if (!result) {
    keep_from_gpus();
    report(result.error().what);
    return;
  }
  attached = new AttachedNccl(std::move(*result));  // as long-lived as the patches
}

const AttachedNccl* attached_nccl() { return attached; }

}  // namespace rocelane::lab
