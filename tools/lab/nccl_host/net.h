#pragma once

// A net plugin's table in one shape, whichever version it has.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "nccl_plugin/net_v12.h"

namespace rocelane::nccl_host {

inline constexpr int kOldestAbi = 8;
inline constexpr int kNewestAbi = 12;

// Owns nothing: the table belongs to its library, which must stay loaded. Threads: any, as far as
// the plugin allows. Results are the plugin's own.
class Net {
 public:
  virtual ~Net() = default;

  virtual int abi() const = 0;
  virtual const char* name() const = 0;
  // v11 and newer: init and finalize once a communicator, with a context. Older: init once.
  virtual bool has_contexts() const = 0;

  virtual NcclResult init(void** context, uint64_t communicator, int traffic_class,
                          NcclLogFunction log) = 0;
  virtual NcclResult devices(int* count) = 0;
  virtual NcclResult properties(int device, NcclNetPropertiesV12* properties) = 0;
  virtual NcclResult listen(void* context, int device, void* handle, void** listener) = 0;
  virtual NcclResult connect(void* context, int traffic_class, int device, void* handle,
                             void** connection, NcclNetDeviceHandle** offload) = 0;
  virtual NcclResult accept(void* listener, void** connection, NcclNetDeviceHandle** offload) = 0;
  virtual NcclResult reg_mr(void* connection, void* data, size_t size, int type,
                            void** registration) = 0;
  virtual NcclResult dereg_mr(void* connection, void* registration) = 0;
  virtual NcclResult isend(void* connection, void* data, size_t size, int tag, void* registration,
                           void* profiler_parent, void** request) = 0;
  virtual NcclResult irecv(void* connection, int n, void** data, size_t* sizes, int* tags,
                           void** registrations, void** profiler_parents, void** request) = 0;
  virtual NcclResult iflush(void* connection, int n, void** data, int* sizes, void** registrations,
                            void** request) = 0;
  virtual NcclResult test(void* request, int* done, int* sizes) = 0;
  virtual NcclResult close_send(void* connection) = 0;
  virtual NcclResult close_recv(void* connection) = 0;
  virtual NcclResult close_listen(void* listener) = 0;
  // Members a plugin may leave out: success when it did.
  virtual NcclResult irecv_consumed(void* connection, int n, void* request) = 0;
  virtual NcclResult set_attributes(void* context, NcclNetAttrV12* attributes) = 0;
  // Several devices as one, from v9 on. Without the member: "invalid usage".
  virtual NcclResult make_virtual_device(int* device, const std::vector<int>& members) = 0;
  virtual NcclResult finalize(void* context) = 0;
};

// `table` is what ncclNetPlugin_v<abi> points to. Fails for an unknown version, and for a table
// without a member that NCCL calls without asking. `where` names the library in the sentence.
Result<std::unique_ptr<Net>> open_table(int abi, const void* table, const std::string& where);

// "remote error (6)"
std::string result_text(NcclResult result);

}  // namespace rocelane::nccl_host
