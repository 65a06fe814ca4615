#include "nccl_host/net_library.h"

#include <array>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include "elf_symbols.h"

namespace rocelane::nccl_host {
namespace {

constexpr const char* kBuiltInTable = "ncclNetIb";

std::string path_of(void* handle, const std::string& name) {
  link_map* map = nullptr;
  return ::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr ? map->l_name : name;
}

// As NCCL looks for NCCL_NET_PLUGIN.
void* load(const std::string& name, std::string& tried) {
  if (void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    return handle;
  }
  tried = ::dlerror();
  if (name.find('/') != std::string::npos || name.starts_with("lib")) {
    return nullptr;
  }
  void* handle = ::dlopen(fmt::format("libnccl-net-{}.so", name).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    tried += fmt::format("; {}", ::dlerror());
  }
  return handle;
}

struct Found {
  int abi = 0;
  const void* table = nullptr;
};

Found find_table(void* handle, int abi) {
  for (int version = kNewestAbi; version >= kOldestAbi; --version) {
    if (abi != 0 && abi != version) {
      continue;
    }
    if (const void* table = ::dlsym(handle, fmt::format("ncclNetPlugin_v{}", version).c_str())) {
      return {version, table};
    }
  }
  return {};
}

int nccl_version_of(void* handle) {
  int version = 0;
  if (void* symbol = ::dlsym(handle, "ncclGetVersion")) {
    reinterpret_cast<int (*)(int*)>(symbol)(&version);
  }
  return version;
}

size_t table_bytes(int abi) {
  switch (abi) {
    case 8:
      return sizeof(NcclNetV12) - 3 * sizeof(void*);
    case 9:
    case 10:
      return sizeof(NcclNetV12) - 2 * sizeof(void*);
    default:
      return sizeof(NcclNetV12);
  }
}

}  // namespace

int abi_of_nccl(int nccl_version) {
  constexpr std::array<std::pair<int, int>, 5> kFirst{
      {{23000, 12}, {22800, 11}, {22600, 10}, {22400, 9}, {22000, 8}}};
  for (const auto& [version, abi] : kFirst) {
    if (nccl_version >= version) {
      return abi;
    }
  }
  return 0;
}

Result<NetLibrary> NetLibrary::open(const NetChoice& choice) {
  return choice.plugin == "ib" ? open_built_in(choice) : open_plugin(choice);
}

Result<NetLibrary> NetLibrary::open_plugin(const NetChoice& choice) {
  NetLibrary library;
  std::string tried;
  library.handle_ = load(choice.plugin, tried);
  if (library.handle_ == nullptr) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("The net plugin '{}' cannot be loaded: {}.", choice.plugin, tried)};
  }
  library.path_ = path_of(library.handle_, choice.plugin);
  const Found found = find_table(library.handle_, choice.abi);
  if (found.table == nullptr) {
    return Error{ErrorCode::kInvalidArgument,
                 choice.abi == 0
                     ? fmt::format("{} has no ncclNetPlugin_v{} to ncclNetPlugin_v{}.",
                                   library.path_, kOldestAbi, kNewestAbi)
                     : fmt::format("{} has no ncclNetPlugin_v{}.", library.path_, choice.abi)};
  }
  Result<std::unique_ptr<Net>> net = open_table(found.abi, found.table, library.path_);
  if (!net) {
    return net.error();
  }
  library.net_ = std::move(*net);
  return library;
}

// NCCL's own IB transport has no exported name, but the library keeps its symbol table.
Result<NetLibrary> NetLibrary::open_built_in(const NetChoice& choice) {
  NetLibrary library;
  library.built_in_ = true;
  library.handle_ = ::dlopen(choice.nccl_library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library.handle_ == nullptr) {
    return Error{
        ErrorCode::kInvalidArgument,
        fmt::format("NCCL cannot be loaded: {}. Name it with --nccl-library.", ::dlerror())};
  }
  link_map* map = nullptr;
  if (::dlinfo(library.handle_, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) {
    return Error{ErrorCode::kSystem,
                 fmt::format("The loader does not say where {} is.", choice.nccl_library)};
  }
  library.path_ = map->l_name;
  const Result<lab::ElfSymbols> symbols = lab::ElfSymbols::read(library.path_);
  if (!symbols) {
    return Error{symbols.error().code,
                 fmt::format("NCCL's own transport cannot be found: {}. Name another library with "
                             "--nccl-library.",
                             symbols.error().what)};
  }
  const lab::ElfSymbol* symbol = symbols->find(kBuiltInTable);
  const int abi = abi_of_nccl(nccl_version_of(library.handle_));
  if (symbol == nullptr || symbol->size != table_bytes(abi)) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("The symbol table of {} (NCCL {}) has no {} of the size that is "
                             "known here; use NCCL 2.28.9.",
                             library.path_, nccl_version_of(library.handle_), kBuiltInTable)};
  }
  if (choice.abi != 0 && choice.abi != abi) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--abi {} is not possible with NCCL's own IB transport: in {} it has "
                             "version {}.",
                             choice.abi, library.path_, abi)};
  }
  const auto* table = reinterpret_cast<const void*>(map->l_addr + symbol->offset);
  Result<std::unique_ptr<Net>> net = open_table(abi, table, library.path_);
  if (!net) {
    return net.error();
  }
  library.net_ = std::move(*net);
  return library;
}

bool NetLibrary::close() {
  net_.reset();
  if (handle_ == nullptr || built_in_) {
    return false;
  }
  ::dlclose(std::exchange(handle_, nullptr));
  void* still_there = ::dlopen(path_.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (still_there != nullptr) {
    ::dlclose(still_there);
  }
  return still_there == nullptr;
}

}  // namespace rocelane::nccl_host
