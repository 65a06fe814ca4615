#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "nccl_host/net.h"

namespace rocelane::nccl_host {

// Where a net comes from.
struct NetChoice {
  // "ib": NCCL's own; else a library as NCCL_NET_PLUGIN names it: a file, or rocelane for
  // libnccl-net-rocelane.so.
  std::string plugin = "rocelane";
  int abi = 0;                                // 0: the newest the library has
  std::string nccl_library = "libnccl.so.2";  // for "ib"
};

// A loaded library and the table taken from it.
class NetLibrary {
 public:
  // Fails with a sentence that names what was tried.
  static Result<NetLibrary> open(const NetChoice& choice);

  // A net that is linked into the program.
  NetLibrary(std::unique_ptr<Net> net, std::string path) : net_(std::move(net)), path_(path) {}

  Net& net() { return *net_; }
  const std::string& path() const { return path_; }
  bool is_built_in() const { return built_in_; }

  // As NCCL does after the last finalize; NCCL itself is never unloaded. True: the library is gone
  // from the process.
  bool close();

 private:
  NetLibrary() = default;
  static Result<NetLibrary> open_plugin(const NetChoice& choice);
  static Result<NetLibrary> open_built_in(const NetChoice& choice);

  std::unique_ptr<Net> net_;
  std::string path_;
  void* handle_ = nullptr;
  bool built_in_ = false;
};

// The table version of NCCL's own nets: 22809 is 2.28.9.
int abi_of_nccl(int nccl_version);

}  // namespace rocelane::nccl_host
