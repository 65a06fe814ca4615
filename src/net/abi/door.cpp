#include "net/abi/door.h"

#include <atomic>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "net/abi/log_bridge.h"

namespace rocelane::net::abi {
namespace {

std::atomic<int> g_open_objects{0};

// `*out` becomes the object's handle; a nullptr object means "not finished" and is no error.
template <class Object>
Status hand_out(Result<Object*> opened, void** out) {
  if (!opened) {
    return std::move(opened).error();
  }
  if (*opened != nullptr) {
    g_open_objects.fetch_add(1, std::memory_order_relaxed);
    *out = to_handle(*opened);
  }
  return {};
}

// NCCL closes what it may never have got: NULL is nothing to close.
template <class Object>
NcclResult close_object(const char* call, void* handle) noexcept {
  if (handle == nullptr) {
    return kNcclSuccess;
  }
  return wall<Object>(call, handle, [](Object& object) -> Status {
    close(&object);
    g_open_objects.fetch_sub(1, std::memory_order_relaxed);
    return {};
  });
}

Status check_device(const char* call, int device) {
  const int count = device_count();
  if (device < 0 || device >= count) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{} was called for device {}, but there are {} devices (0 to {}).",
                             call, device, count, count - 1)};
  }
  return {};
}

struct RegisterRequest {
  const char* call;
  void* connection;
  void* data;
  size_t bytes;
  int type;
  std::optional<DmaBuf> dma_buf;
  void** registration;
};

Status start_registration(const RegisterRequest& wanted) {
  if (wanted.registration == nullptr) {
    return null_argument(wanted.call, "mhandle");
  }
  *wanted.registration = nullptr;
  if (wanted.data == nullptr && wanted.bytes != 0) {
    return null_buffer(wanted.call, 0, wanted.bytes);
  }
  const Result<MemoryKind> kind = memory_kind_of(wanted.call, wanted.type);
  if (!kind) {
    return kind.error();
  }
  const auto register_on = [&](auto& connection) -> Status {
    Result<Registration*> made =
        net::register_memory(connection, wanted.data, wanted.bytes, *kind, wanted.dma_buf);
    if (!made) {
      return std::move(made).error();
    }
    *wanted.registration = to_handle(*made);
    return {};
  };
  if (SendConnection* sender = from_handle<SendConnection>(wanted.connection)) {
    return register_on(*sender);
  }
  if (ReceiveConnection* receiver = from_handle<ReceiveConnection>(wanted.connection)) {
    return register_on(*receiver);
  }
  return wrong_handle(wanted.call, wanted.connection, "a connection (from connect or accept)");
}

}  // namespace

NcclResult init(void** context, uint64_t /*communicator_id*/, NcclNetCommConfig* config,
                NcclLogFunction log, NcclProfilerCallback /*profiler*/) noexcept {
  return wall("init", [&]() -> Status {
    send_logs_to(log);
    if (context == nullptr) {
      return null_argument("init", "ctx");
    }
    *context = nullptr;
    const Result<std::optional<uint8_t>> traffic_class = traffic_class_of(config);
    if (!traffic_class) {
      return traffic_class.error();
    }
    Result<Context*> opened = open_context(*traffic_class);
    if (!opened) {
      return std::move(opened).error();
    }
    *context = to_handle(*opened);
    return {};
  });
}

NcclResult finalize(void* context) noexcept {
  if (context == nullptr) {
    return kNcclSuccess;  // NCCL does this after an init that failed, which has been said
  }
  return wall<Context>("finalize", context, [](Context& opened) -> Status {
    close_context(&opened);
    return {};
  });
}

NcclResult devices(int* count) noexcept {
  return wall("devices", [&]() -> Status {
    if (count == nullptr) {
      return null_argument("devices", "ndev");
    }
    *count = device_count();
    return {};
  });
}

Result<NcclNetPropertiesV12> properties_of(int device) {
  if (Status known = check_device("getProperties", device); !known) {
    return std::move(known).error();
  }
  Result<DeviceProperties> properties = device_properties(device);
  if (!properties) {
    return std::move(properties).error();
  }
  return to_nccl(*properties, device);
}

Status make_joined_device(int* device, std::span<const int> members) {
  const Result<int> joined = join_devices(members);
  if (!joined) {
    return joined.error();
  }
  *device = *joined;
  return {};
}

NcclResult listen(void* context, int device, void* handle, void** listener) noexcept {
  return wall<Context>("listen", context, [&](Context& opened) -> Status {
    if (const char* missing = find_null({{handle, "handle"}, {listener, "listenComm"}})) {
      return null_argument("listen", missing);
    }
    *listener = nullptr;
    if (Status known = check_device("listen", device); !known) {
      return known;
    }
    const std::span<std::byte, kHandleBytes> bytes(static_cast<std::byte*>(handle), kHandleBytes);
    return hand_out(net::listen(opened, device, bytes), listener);
  });
}

NcclResult connect_with(const NcclNetCommConfig* config, void* context, int device, void* handle,
                        void** connection) noexcept {
  return wall<Context>("connect", context, [&](Context& opened) -> Status {
    if (const char* missing = find_null({{handle, "handle"}, {connection, "sendComm"}})) {
      return null_argument("connect", missing);
    }
    *connection = nullptr;
    if (Status known = check_device("connect", device); !known) {
      return known;
    }
    const Result<std::optional<uint8_t>> traffic_class = traffic_class_of(config);
    if (!traffic_class) {
      return traffic_class.error();
    }
    const std::span<const std::byte, kHandleBytes> bytes(static_cast<const std::byte*>(handle),
                                                         kHandleBytes);
    return hand_out(net::connect(opened, device, bytes, *traffic_class), connection);
  });
}

NcclResult connect(void* context, int device, void* handle, void** connection,
                   NcclNetDeviceHandle** /*offload*/) noexcept {
  return connect_with(nullptr, context, device, handle, connection);
}

NcclResult accept(void* listener, void** connection, NcclNetDeviceHandle** /*offload*/) noexcept {
  return wall<Listener>("accept", listener, [&](Listener& listening) -> Status {
    if (connection == nullptr) {
      return null_argument("accept", "recvComm");
    }
    *connection = nullptr;
    return hand_out(net::accept(listening), connection);
  });
}

NcclResult close_send(void* connection) noexcept {
  return close_object<SendConnection>("closeSend", connection);
}

NcclResult close_receive(void* connection) noexcept {
  return close_object<ReceiveConnection>("closeRecv", connection);
}

NcclResult close_listen(void* listener) noexcept {
  return close_object<Listener>("closeListen", listener);
}

int open_objects() { return g_open_objects.load(std::memory_order_relaxed); }

NcclResult register_memory(void* connection, void* data, size_t bytes, int type,
                           void** registration) noexcept {
  return wall("regMr", [&] {
    return start_registration({"regMr", connection, data, bytes, type, std::nullopt, registration});
  });
}

NcclResult register_dma_buf(void* connection, void* data, size_t bytes, int type, uint64_t offset,
                            int descriptor, void** registration) noexcept {
  return wall("regMrDmaBuf", [&]() -> Status {
    if (descriptor < 0) {
      return Error{
          ErrorCode::kInvalidArgument,
          fmt::format("regMrDmaBuf was called with {}, which is no file descriptor.", descriptor)};
    }
    return start_registration(
        {"regMrDmaBuf", connection, data, bytes, type, DmaBuf{descriptor, offset}, registration});
  });
}

NcclResult deregister_memory(void* /*connection*/, void* registration) noexcept {
  if (registration == nullptr) {
    return kNcclSuccess;
  }
  return wall<Registration>("deregMr", registration, [](Registration& known) -> Status {
    net::deregister_memory(&known);
    return {};
  });
}

NcclResult isend(void* connection, void* data, size_t bytes, int tag, void* registration,
                 void* /*profiler_parent*/, void** request) noexcept {
  return send_sized(connection, data, bytes, tag, registration, request);
}

NcclResult irecv(void* connection, int n, void** data, size_t* sizes, int* tags,
                 void** registrations, void** /*profiler_parents*/, void** request) noexcept {
  return receive_sized(connection, n, data, sizes, tags, registrations, request);
}

NcclResult iflush(void* connection, int n, void** data, int* sizes, void** registrations,
                  void** request) noexcept {
  return wall<ReceiveConnection>("iflush", connection, [&](ReceiveConnection& receiver) -> Status {
    if (request == nullptr) {
      return null_argument("iflush", "request");
    }
    *request = nullptr;
    const auto group = flush_buffers("iflush", n, data, sizes, registrations);
    if (!group) {
      return group.error();
    }
    Result<Request*> started = flush(receiver, group->buffers());
    if (!started) {
      return std::move(started).error();
    }
    *request = to_handle(*started);
    return {};
  });
}

namespace {

// Apart from test(), so that what hardly ever happens costs it nothing.
[[gnu::noinline]] NcclResult refuse_test(void* request) noexcept {
  return wall<Request>("test", request,
                       [](Request&) -> Status { return null_argument("test", "done"); });
}

[[gnu::noinline]] NcclResult report_failed(Request& request) {
  return report(net::why_failed(request));
}

[[gnu::noinline]] NcclResult test_further(Request& running, int* done, int* sizes) noexcept {
  try {
    const Outcome outcome = net::test(running, sizes);
    if (outcome == Outcome::kFailed) {
      return report_failed(running);
    }
    *done = outcome == Outcome::kEnded ? 1 : 0;
    return kNcclSuccess;
  } catch (...) {
    return report_exception("test");
  }
}

}  // namespace

// Most calls find a request that waits, and go no further.
NcclResult test(void* request, int* done, int* sizes) noexcept {
  Request* const running = from_handle<Request>(request);
  if (running == nullptr || done == nullptr) {
    return refuse_test(request);
  }
  *done = 0;
  return is_waiting(*running) ? kNcclSuccess : test_further(*running, done, sizes);
}

}  // namespace rocelane::net::abi
