#include "nccl_plugin/net_v8.h"

#include "net/abi/door.h"
#include "net/abi/shared_context.h"

namespace rocelane::net::abi {
namespace {

NcclResult isend_v8(void* connection, void* data, int bytes, int tag, void* registration,
                    void** request) noexcept {
  return send_sized(connection, data, bytes, tag, registration, request);
}

NcclResult irecv_v8(void* connection, int n, void** data, int* sizes, int* tags,
                    void** registrations, void** request) noexcept {
  return receive_sized(connection, n, data, sizes, tags, registrations, request);
}

}  // namespace

extern "C" {
[[gnu::visibility("default")]] extern const NcclNetV8 ncclNetPlugin_v8;
const NcclNetV8 ncclNetPlugin_v8 = {
    .name = kPluginName,
    .init = init_shared,
    .devices = devices,
    .getProperties = get_properties<NcclNetPropertiesV8>,
    .listen = listen_shared,
    .connect = connect_shared,
    .accept = accept,
    .regMr = register_memory,
    .regMrDmaBuf = register_dma_buf,
    .deregMr = deregister_memory,
    .isend = isend_v8,
    .irecv = irecv_v8,
    .iflush = iflush,
    .test = test,
    .closeSend = close_send,
    .closeRecv = close_receive,
    .closeListen = close_listen,
    .getDeviceMr = nullptr,
    .irecvConsumed = nullptr,
};
}

}  // namespace rocelane::net::abi
