#include "nccl_plugin/net_v9.h"

#include "net/abi/door.h"
#include "net/abi/shared_context.h"

namespace rocelane::net::abi {
namespace {

NcclResult isend_v9(void* connection, void* data, size_t bytes, int tag, void* registration,
                    void** request) noexcept {
  return send_sized(connection, data, bytes, tag, registration, request);
}

NcclResult irecv_v9(void* connection, int n, void** data, size_t* sizes, int* tags,
                    void** registrations, void** request) noexcept {
  return receive_sized(connection, n, data, sizes, tags, registrations, request);
}

}  // namespace

extern "C" {
[[gnu::visibility("default")]] extern const NcclNetV9 ncclNetPlugin_v9;
const NcclNetV9 ncclNetPlugin_v9 = {
    .name = kPluginName,
    .init = init_shared,
    .devices = devices,
    .getProperties = get_properties<NcclNetPropertiesV9>,
    .listen = listen_shared,
    .connect = connect_shared,
    .accept = accept,
    .regMr = register_memory,
    .regMrDmaBuf = register_dma_buf,
    .deregMr = deregister_memory,
    .isend = isend_v9,
    .irecv = irecv_v9,
    .iflush = iflush,
    .test = test,
    .closeSend = close_send,
    .closeRecv = close_receive,
    .closeListen = close_listen,
    .getDeviceMr = nullptr,
    .irecvConsumed = nullptr,
    .makeVDevice = make_virtual_device<NcclNetVDevicePropsV9>,
};
}

}  // namespace rocelane::net::abi
