#pragma once

// Our own newest network API, in our own words. Doors (net/abi) translate NCCL's versions into it;
// nothing here knows NCCL. Ownership: what open_/listen/connect/accept/register_ return belongs to
// the caller until the matching close_/deregister call. Threads: see docs/threading.md; in short, a
// connection has one data-path thread, while registration and set-up may run on another thread at
// the same time.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "net/memory/memory_kind.h"
#include "net/transfer/outcome.h"

namespace rocelane::net {

class Context;
class Listener;
class SendConnection;
class ReceiveConnection;
class Registration;
class Request;

inline constexpr size_t kHandleBytes = 128;
inline constexpr int kMaxGroupedReceives = 8;

// Strings live as long as a context is open or a connection over the device exists.
struct DeviceProperties {
  const char* name = nullptr;
  std::vector<int> members;  // the devices that this one joins, or itself alone
  const char* pci_path =
      nullptr;  // real sysfs path, or nullptr when the device has none (soft-RoCE)
  uint64_t guid = 0;
  bool gpu_memory =
      false;  // peer memory: the NIC reads and writes GPU memory registered by address
  bool dma_buf = false;
  int speed_mbps = 0;
  int port = 0;
  int max_connections = 0;
  size_t max_message_bytes = 0;
  std::optional<int> rail;  // as the user numbered them in ROCELANE_DEVICES
  std::optional<int> plane;
};

// Opens the devices on the first call; later calls share them. `traffic_class`: the communicator's
// own, if it has one. Fails with a sentence when no usable device is left. Counted: every success
// needs one close_context.
Result<Context*> open_context(std::optional<uint8_t> traffic_class);
void close_context(Context* context);

// Valid while a context is open. Joined devices count, too.
int device_count();
Result<DeviceProperties> device_properties(int device);
// The number of the device that uses the ports of `devices` together. It keeps its number when the
// last context is closed and one is opened again.
Result<int> join_devices(std::span<const int> devices);

// Set-up. None of these blocks. nullptr from connect and accept means: not finished, call again
// with the same arguments. `traffic_class` in connect: newer than the context's (ABI v10 hands it
// over here).
Result<Listener*> listen(Context& context, int device, std::span<std::byte, kHandleBytes> handle);
Result<SendConnection*> connect(Context& context, int device,
                                std::span<const std::byte, kHandleBytes> handle,
                                std::optional<uint8_t> traffic_class);
Result<ReceiveConnection*> accept(Listener& listener);
void close(Listener* listener);
void close(SendConnection* connection);
void close(ReceiveConnection* connection);

// Registers [data, data + bytes) for use on one connection.
Result<Registration*> register_memory(SendConnection& connection, void* data, size_t bytes,
                                      MemoryKind kind, std::optional<DmaBuf> dma_buf);
Result<Registration*> register_memory(ReceiveConnection& connection, void* data, size_t bytes,
                                      MemoryKind kind, std::optional<DmaBuf> dma_buf);
void deregister_memory(Registration* registration);

// The data path. A nullptr request means: not possible now, ask again. Requests end inside test().
struct ReceiveBuffer {
  void* data = nullptr;
  size_t bytes = 0;
  int tag = 0;
  Registration* registration = nullptr;  // may be nullptr for an empty buffer
};
// False: send would return nullptr. Cheaper than finding out by send.
bool may_send(const SendConnection& connection);
Result<Request*> send(SendConnection& connection, const void* data, size_t bytes, int tag,
                      Registration* registration);
// `completion_is_optional`: NCCL sees in memory that the data are there (its LL and LL128
// protocols); only for one buffer.
Result<Request*> receive(ReceiveConnection& connection, std::span<const ReceiveBuffer> buffers,
                         bool completion_is_optional);

// Makes received bytes visible to the GPU. nullptr: nothing to wait for, already visible.
struct FlushBuffer {
  void* data = nullptr;
  size_t bytes = 0;
  Registration* registration = nullptr;
};
Result<Request*> flush(ReceiveConnection& connection, std::span<const FlushBuffer> buffers);

// True: test would say kPending. Cheaper than finding out by test, which says whatever is to be
// said.
bool is_waiting(const Request& request);
// `sizes` may be nullptr; when the request has ended a send fills one entry, a receive one per
// buffer. After kFailed why_failed tells the Error.
Outcome test(Request& request, int* sizes);
[[gnu::cold]] Error why_failed(Request& request);

}  // namespace rocelane::net
