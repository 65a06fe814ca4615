#include "nccl_plugin/net_v11.h"

#include "net/abi/door.h"

namespace rocelane::net::abi {
namespace {

// NCCL calls this from two threads without a lock. Nothing we choose depends on it yet.
NcclResult ignore_attributes(void* /*context*/, NcclNetAttrV11* /*attributes*/) noexcept {
  return kNcclSuccess;
}

}  // namespace

extern "C" {
[[gnu::visibility("default")]] extern const NcclNetV11 ncclNetPlugin_v11;
const NcclNetV11 ncclNetPlugin_v11 = {
    .name = kPluginName,
    .init = init,
    .devices = devices,
    .getProperties = get_properties<NcclNetPropertiesV11>,
    .listen = listen,
    .connect = connect,
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
    .makeVDevice = make_virtual_device<NcclNetVDevicePropsV11>,
    .finalize = finalize,
    .setNetAttr = ignore_attributes,
};
}

}  // namespace rocelane::net::abi
