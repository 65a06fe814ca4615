// The fake behind NCCL's tables.

#include <utility>

#include "fake_net.h"
#include "nccl_plugin/net_v10.h"
#include "nccl_plugin/net_v11.h"
#include "nccl_plugin/net_v8.h"
#include "nccl_plugin/net_v9.h"

namespace rocelane::nccl_host {

// The functions the tables point to: those that differ between versions, then those that do not.
struct FakeCalls {
  static FakeNet& fake() { return *FakeNet::the_fake(); }

  static NcclResult init8(NcclLogFunction) { return fake().init(kNcclNetUndefined); }
  static NcclResult init10(NcclLogFunction, NcclProfilerCallback) {
    return fake().init(kNcclNetUndefined);
  }
  static NcclResult init11(void** context, uint64_t, NcclNetCommConfig* config, NcclLogFunction,
                           NcclProfilerCallback) {
    *context = &fake();
    return fake().init(config->trafficClass);
  }
  static NcclResult finalize(void*) {
    const std::lock_guard lock(fake().mutex_);
    ++fake().calls_.finalizes;
    return kNcclSuccess;
  }
  static NcclResult devices(int* count) {
    *count = fake().device_count;
    return kNcclSuccess;
  }
  template <class Properties>
  static NcclResult properties(int device, Properties* out) {
    NcclNetPropertiesV12 all;
    const NcclResult result = fake().properties(device, &all);
    if (result == kNcclSuccess) {
      *out = {};
      out->name = all.name;
      out->pciPath = all.pciPath;
      out->ptrSupport = all.ptrSupport;
      out->speed = all.speed;
      out->port = all.port;
      out->maxComms = all.maxComms;
      out->maxRecvs = all.maxRecvs;
      if constexpr (requires { out->forceFlush; }) {
        out->forceFlush = all.forceFlush;
        out->maxP2pBytes = all.maxP2pBytes;
        out->maxCollBytes = all.maxCollBytes;
        out->vProps.ndevs = all.vProps.ndevs;
        out->vProps.devs[0] = all.vProps.devs[0];
      }
      if constexpr (requires { out->railId; }) {
        out->railId = all.railId;
      }
    }
    return result;
  }
  static NcclResult listen8(int, void* handle, void** listener) {
    return fake().listen(handle, listener);
  }
  static NcclResult listen11(void* context, int, void* handle, void** listener) {
    return context == nullptr ? kNcclInvalidArgument : fake().listen(handle, listener);
  }
  static NcclResult connect8(int, void* handle, void** connection, NcclNetDeviceHandle**) {
    return fake().connect(kNcclNetUndefined, handle, connection);
  }
  static NcclResult connect10(int, NcclNetCommConfig* config, void* handle, void** connection,
                              NcclNetDeviceHandle**) {
    return fake().connect(config->trafficClass, handle, connection);
  }
  static NcclResult connect11(void*, int, void* handle, void** connection, NcclNetDeviceHandle**) {
    return fake().connect(fake().calls().last_traffic_class, handle, connection);
  }
  static NcclResult accept(void* listener, void** connection, NcclNetDeviceHandle**) {
    return fake().accept(listener, connection);
  }
  static NcclResult reg_mr(void* connection, void*, size_t, int type, void** registration) {
    return fake().reg_mr(connection, type, registration);
  }
  static NcclResult dereg_mr(void* connection, void* registration) {
    return fake().dereg_mr(connection, registration);
  }
  static NcclResult isend8(void* connection, void* data, int size, int tag, void* registration,
                           void** request) {
    return fake().isend(connection, data, static_cast<size_t>(size), tag, registration, request);
  }
  static NcclResult isend9(void* connection, void* data, size_t size, int tag, void* registration,
                           void** request) {
    return fake().isend(connection, data, size, tag, registration, request);
  }
  static NcclResult isend10(void* connection, void* data, size_t size, int tag, void* registration,
                            void*, void** request) {
    return fake().isend(connection, data, size, tag, registration, request);
  }
  static NcclResult irecv8(void* connection, int n, void** data, int* sizes, int* tags, void**,
                           void** request) {
    const std::vector<size_t> wide(sizes, sizes + n);
    return fake().irecv(connection, n, data, wide.data(), tags, request);
  }
  static NcclResult irecv9(void* connection, int n, void** data, size_t* sizes, int* tags, void**,
                           void** request) {
    return fake().irecv(connection, n, data, sizes, tags, request);
  }
  static NcclResult irecv10(void* connection, int n, void** data, size_t* sizes, int* tags, void**,
                            void**, void** request) {
    return fake().irecv(connection, n, data, sizes, tags, request);
  }
  static NcclResult iflush(void* connection, int, void**, int*, void**, void** request) {
    return fake().iflush(connection, request);
  }
  static NcclResult test(void* request, int* done, int* sizes) {
    return fake().test(request, done, sizes);
  }
  static NcclResult close_send(void* connection) { return fake().close(connection, true); }
  static NcclResult close_recv(void* connection) { return fake().close(connection, false); }
  static NcclResult close_listen(void* listener) { return fake().close_listen(listener); }
  static NcclResult irecv_consumed(void* connection, int, void* request) {
    const std::lock_guard lock(fake().mutex_);
    ++fake().calls_.consumed;
    fake().write_late(*static_cast<FakeNet::End*>(connection)->pipe, request);
    return kNcclSuccess;
  }
  static NcclResult set_attributes(void*, NcclNetAttrV11*) {
    const std::lock_guard lock(fake().mutex_);
    ++fake().calls_.attributes;
    return kNcclSuccess;
  }

  template <class Table>
  static Table common() {
    Table table{};
    table.name = "Fake";
    table.devices = devices;
    table.getProperties = properties;
    table.accept = accept;
    table.regMr = reg_mr;
    table.deregMr = dereg_mr;
    table.iflush = iflush;
    table.test = test;
    table.closeSend = close_send;
    table.closeRecv = close_recv;
    table.closeListen = close_listen;
    table.irecvConsumed = irecv_consumed;
    return table;
  }
  static NcclNetV8 v8() {
    auto table = common<NcclNetV8>();
    table.init = init8;
    table.listen = listen8;
    table.connect = connect8;
    table.isend = isend8;
    table.irecv = irecv8;
    return table;
  }
  static NcclNetV9 v9() {
    auto table = common<NcclNetV9>();
    table.init = init8;
    table.listen = listen8;
    table.connect = connect8;
    table.isend = isend9;
    table.irecv = irecv9;
    return table;
  }
  static NcclNetV10 v10() {
    auto table = common<NcclNetV10>();
    table.init = init10;
    table.listen = listen8;
    table.connect = connect10;
    table.isend = isend10;
    table.irecv = irecv10;
    return table;
  }
  template <class Table>
  static Table with_contexts() {
    auto table = common<Table>();
    table.init = init11;
    table.listen = listen11;
    table.connect = connect11;
    table.isend = isend10;
    table.irecv = irecv10;
    table.finalize = finalize;
    table.setNetAttr = set_attributes;
    return table;
  }
};

const void* FakeNet::table(int abi) {
  static const NcclNetV8 v8 = FakeCalls::v8();
  static const NcclNetV9 v9 = FakeCalls::v9();
  static const NcclNetV10 v10 = FakeCalls::v10();
  static const auto v11 = FakeCalls::with_contexts<NcclNetV11>();
  static const auto v12 = FakeCalls::with_contexts<NcclNetV12>();
  switch (abi) {
    case 8:
      return &v8;
    case 9:
      return &v9;
    case 10:
      return &v10;
    case 11:
      return &v11;
    default:
      return &v12;
  }
}

std::unique_ptr<Net> FakeNet::net(int abi) {
  return std::move(*open_table(abi, table(abi), "the fake"));
}

}  // namespace rocelane::nccl_host
