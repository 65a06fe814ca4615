#include "nccl_plugin/net_v10.h"

#include "net/abi/door.h"
#include "net/abi/shared_context.h"

namespace rocelane::net::abi {
namespace {

NcclResult init_v10(NcclLogFunction log, NcclProfilerCallback /*profiler*/) noexcept {
  return init_shared(log);
}

NcclResult connect_v10(int device, NcclNetCommConfig* config, void* handle, void** connection,
                       NcclNetDeviceHandle** /*offload*/) noexcept {
  return connect_with(config, shared_context(), device, handle, connection);
}

}  // namespace

extern "C" {
[[gnu::visibility("default")]] extern const NcclNetV10 ncclNetPlugin_v10;
const NcclNetV10 ncclNetPlugin_v10 = {
    .name = kPluginName,
    .init = init_v10,
    .devices = devices,
    .getProperties = get_properties<NcclNetPropertiesV10>,
    .listen = listen_shared,
    .connect = connect_v10,
    .accept = accept,
    .regMr = register_memory,
    .regMrDmaBuf = register_dma_buf,
    .deregMr = deregister_memory,
    .isend = isend,
    .irecv = irecv,
    .iflush = iflush,
    .test = test,
    .closeSend = close_send,
    .closeRecv = close_receive,
    .closeListen = close_listen,
    .getDeviceMr = nullptr,
    .irecvConsumed = nullptr,
    .makeVDevice = make_virtual_device<NcclNetVDevicePropsV10>,
};
}

}  // namespace rocelane::net::abi
