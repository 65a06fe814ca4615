#pragma once

// The newest interface, as every version's table uses it. A version file adds only what its version
// does differently. Names and argument order are NCCL's; nothing throws.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>

#include "nccl_plugin/common.h"
#include "nccl_plugin/net_v12.h"
#include "net/abi/arguments.h"
#include "net/abi/translate.h"
#include "net/abi/wall.h"

namespace rocelane::net::abi {

inline constexpr const char* kPluginName = "Rocelane";

NcclResult init(void** context, uint64_t communicator_id, NcclNetCommConfig* config,
                NcclLogFunction log, NcclProfilerCallback profiler) noexcept;
NcclResult finalize(void* context) noexcept;
NcclResult devices(int* count) noexcept;
Result<NcclNetPropertiesV12> properties_of(int device);

template <class Properties>
NcclResult get_properties(int device, Properties* properties) noexcept {
  return wall("getProperties", [&]() -> Status {
    if (properties == nullptr) {
      return null_argument("getProperties", "props");
    }
    Result<NcclNetPropertiesV12> newest = properties_of(device);
    if (!newest) {
      return std::move(newest).error();
    }
    copy_properties(*newest, *properties);
    return {};
  });
}

Status make_joined_device(int* device, std::span<const int> members);

// `Properties` differ in how many devices they can name.
template <class Properties>
NcclResult make_virtual_device(int* device, Properties* properties) noexcept {
  return wall("makeVDevice", [&]() -> Status {
    if (const char* missing = find_null({{device, "d"}, {properties, "props"}})) {
      return null_argument("makeVDevice", missing);
    }
    constexpr int kMost = static_cast<int>(std::size(Properties{}.devs));
    if (properties->ndevs < 0 || properties->ndevs > kMost) {
      return bad_device_count(properties->ndevs, kMost);
    }
    return make_joined_device(
        device, std::span(properties->devs).first(static_cast<size_t>(properties->ndevs)));
  });
}

NcclResult listen(void* context, int device, void* handle, void** listener) noexcept;
NcclResult connect(void* context, int device, void* handle, void** connection,
                   NcclNetDeviceHandle** offload) noexcept;
// `config`: the communicator's own settings, where the version hands them over with every connect.
NcclResult connect_with(const NcclNetCommConfig* config, void* context, int device, void* handle,
                        void** connection) noexcept;
NcclResult accept(void* listener, void** connection, NcclNetDeviceHandle** offload) noexcept;
NcclResult close_send(void* connection) noexcept;
NcclResult close_receive(void* connection) noexcept;
NcclResult close_listen(void* listener) noexcept;

// Listeners and connections that NCCL has opened and not closed.
int open_objects();

NcclResult register_memory(void* connection, void* data, size_t bytes, int type,
                           void** registration) noexcept;
NcclResult register_dma_buf(void* connection, void* data, size_t bytes, int type, uint64_t offset,
                            int descriptor, void** registration) noexcept;
NcclResult deregister_memory(void* connection, void* registration) noexcept;

NcclResult isend(void* connection, void* data, size_t bytes, int tag, void* registration,
                 void* profiler_parent, void** request) noexcept;
NcclResult irecv(void* connection, int n, void** data, size_t* sizes, int* tags,
                 void** registrations, void** profiler_parents, void** request) noexcept;
NcclResult iflush(void* connection, int n, void** data, int* sizes, void** registrations,
                  void** request) noexcept;
NcclResult test(void* request, int* done, int* sizes) noexcept;

// The two data calls for whatever integer the version counts bytes with.
template <class Size>
[[gnu::noinline]] NcclResult send_announced(void* connection, const void* data, Size bytes, int tag,
                                            void* registration, void** request) noexcept {
  return wall<SendConnection>("isend", connection, [&](SendConnection& sender) -> Status {
    if (request == nullptr) {
      return null_argument("isend", "request");
    }
    *request = nullptr;
    const Result<Registration*> known = check_buffer("isend", 0, data, bytes, registration);
    if (!known) {
      return known.error();
    }
    Result<Request*> started = send(sender, data, static_cast<size_t>(bytes), tag, *known);
    if (!started) {
      return std::move(started).error();
    }
    *request = to_handle(*started);
    return {};
  });
}

// Most calls find nothing announced, and go no further. What looks wrong is refused even then.
template <class Size>
NcclResult send_sized(void* connection, const void* data, Size bytes, int tag, void* registration,
                      void** request) noexcept {
  const SendConnection* const sender = from_handle<SendConnection>(connection);
  const bool is_whole = sender != nullptr && data != nullptr && registration != nullptr;
  if (is_whole && request != nullptr && !may_send(*sender)) {
    *request = nullptr;
    return kNcclSuccess;
  }
  return send_announced(connection, data, bytes, tag, registration, request);
}

// *request may hold anything on entry: NCCL's hint that the completion is optional, or a stale
// pointer.
template <class Size>
NcclResult receive_sized(void* connection, int n, void** data, const Size* sizes, const int* tags,
                         void** registrations, void** request) noexcept {
  return wall<ReceiveConnection>("irecv", connection, [&](ReceiveConnection& receiver) -> Status {
    if (request == nullptr) {
      return null_argument("irecv", "request");
    }
    const bool completion_is_optional =
        reinterpret_cast<uintptr_t>(*request) == kNcclNetOptionalReceiveCompletion;
    *request = nullptr;
    const auto group = receive_buffers("irecv", n, data, sizes, tags, registrations);
    if (!group) {
      return group.error();
    }
    Result<Request*> started = receive(receiver, group->buffers(), completion_is_optional);
    if (!started) {
      return std::move(started).error();
    }
    *request = to_handle(*started);
    return {};
  });
}

}  // namespace rocelane::net::abi
