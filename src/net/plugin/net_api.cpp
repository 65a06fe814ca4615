#include "net/plugin/net_api.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/clock.h"
#include "net/connection/accept_machine.h"
#include "net/connection/connect_machine.h"
#include "net/memory/registration.h"
#include "net/memory/verbs_registrar.h"
#include "net/plugin/net_plugin.h"
#include "net/transfer/receive_channel.h"
#include "net/transfer/send_channel.h"

namespace rocelane::net {

// Only contexts own the plugin: when the last one is closed its thread has ended, whatever
// listeners and connections NCCL has left open, and the library may be unloaded.
class Context {
 public:
  std::shared_ptr<NetPlugin> plugin;
  std::optional<uint8_t> traffic_class;

  // NCCL hands in the same handle until connect succeeds. A machine is found by what it dials,
  // never by a pointer inside bytes that came from a peer.
  using DialKey = std::pair<int, std::array<std::byte, kHandleBytes>>;
  std::mutex mutex;  // the init thread and the proxy's service thread may both set up
  std::map<DialKey, std::unique_ptr<ConnectMachine>> dialing;

  // NCCL sets connections up on one thread a communicator, and drives them on another one, its
  // own. What the first one sets up therefore shares a hub.
  using HubKey = std::pair<std::thread::id, int>;  // and device
  std::map<HubKey, std::weak_ptr<verbs::CompletionHub>> hubs;

  // The caller holds the mutex.
  std::shared_ptr<verbs::CompletionHub> hub_of_this_thread(int device) {
    auto& known = hubs[{std::this_thread::get_id(), device}];
    std::shared_ptr<verbs::CompletionHub> hub = known.lock();
    if (hub == nullptr) {
      hub = verbs::CompletionHub::create();
      known = hub;
    }
    return hub;
  }
};

using Ports = std::vector<std::shared_ptr<const Port>>;

class Listener {
 public:
  std::shared_ptr<ConnectionTelemetry> telemetry;
  RegistrationRules rules;
  std::unique_ptr<AcceptMachine> machine;
};

class SendConnection {
 public:
  Ports ports;  // by rail
  RegistrationRules rules;
  std::unique_ptr<SendChannel> channel;
};

class ReceiveConnection {
 public:
  Ports ports;  // by rail
  RegistrationRules rules;
  std::unique_ptr<ReceiveChannel> channel;
};

namespace {

// The plugin of the open contexts. Opening and closing are rare; everything else goes through a
// context.
std::mutex g_mutex;
std::weak_ptr<NetPlugin> g_plugin;

// What NCCL has joined, for it keeps the numbers beyond the life of all contexts.
std::vector<std::vector<int>> g_joined;

// Not of a context: connections of all communicators share what is registered.
RegistrationCaches g_registration_caches;

Result<Registration*> register_on(const RegistrationRules& rules, const Ports& ports, void* data,
                                  size_t bytes, MemoryKind kind,
                                  const std::optional<DmaBuf>& dma_buf) {
  if (kind == MemoryKind::kGpu && !rules.gpu_memory) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("GPU memory at {} cannot be registered with {}: neither peer memory "
                             "nor dma-buf is available, or ROCELANE_GPU_DIRECT is off",
                             data, ports.front()->usable().name)};
  }
  const auto wanted = registration_request(data, bytes, kind, dma_buf, rules.relaxed_ordering);
  if (!wanted) {
    return wanted.error();
  }
  std::vector<std::shared_ptr<RegistrationCache>> rails;
  std::transform(ports.begin(), ports.end(), std::back_inserter(rails),
                 [](const auto& port) { return g_registration_caches.of(port); });
  auto registration = Registration::create(rails, *wanted);
  if (!registration) {
    return std::move(registration).error();
  }
  return registration->release();
}

}  // namespace

Result<Context*> open_context(std::optional<uint8_t> traffic_class) {
  const std::lock_guard lock(g_mutex);
  std::shared_ptr<NetPlugin> plugin = g_plugin.lock();
  if (plugin == nullptr) {
    auto created = NetPlugin::create();
    if (!created) {
      return std::move(created).error();
    }
    plugin = std::move(*created);
    for (const std::vector<int>& members : g_joined) {
      if (const auto joined = plugin->devices().join(members); !joined) {
        return joined.error();
      }
    }
    g_plugin = plugin;
  }
  auto context = std::make_unique<Context>();
  context->plugin = std::move(plugin);
  context->traffic_class = traffic_class;
  return context.release();
}

void close_context(Context* context) {
  const std::lock_guard lock(g_mutex);
  delete context;
}

int device_count() {
  const std::lock_guard lock(g_mutex);
  const std::shared_ptr<NetPlugin> plugin = g_plugin.lock();
  return plugin == nullptr ? 0 : plugin->devices().count();
}

Result<DeviceProperties> device_properties(int device) {
  const std::lock_guard lock(g_mutex);
  const std::shared_ptr<NetPlugin> plugin = g_plugin.lock();
  if (plugin == nullptr) {
    return Error{ErrorCode::kInvalidUsage, "properties asked for before init"};
  }
  const auto entry = plugin->devices().entry(device);
  if (!entry) {
    return entry.error();
  }
  return plugin->properties(**entry);
}

Result<int> join_devices(std::span<const int> devices) {
  const std::lock_guard lock(g_mutex);
  const std::shared_ptr<NetPlugin> plugin = g_plugin.lock();
  if (plugin == nullptr) {
    return Error{ErrorCode::kInvalidUsage, "devices are to be joined before init"};
  }
  const int count = plugin->devices().count();
  const Result<int> joined = plugin->devices().join(devices);
  if (joined && *joined == count) {
    g_joined.emplace_back(devices.begin(), devices.end());
  }
  return joined;
}

Result<Listener*> listen(Context& context, int device, std::span<std::byte, kHandleBytes> handle) {
  const auto entry = context.plugin->devices().entry(device);
  if (!entry) {
    return entry.error();
  }
  auto facts = context.plugin->end_facts(**entry, context.traffic_class);
  if (!facts) {
    return std::move(facts).error();
  }
  {
    const std::lock_guard lock(context.mutex);
    facts->completions = context.hub_of_this_thread(device);
  }
  ListenHandle listen_handle;
  auto machine = AcceptMachine::create(std::move(*facts), &listen_handle);
  if (!machine) {
    return std::move(machine).error();
  }
  encode_listen_handle(listen_handle, handle);
  auto listener = std::make_unique<Listener>();
  listener->rules = context.plugin->registration_rules();
  listener->telemetry = context.plugin->telemetry();
  listener->machine = std::move(*machine);
  return listener.release();
}

Result<SendConnection*> connect(Context& context, int device,
                                std::span<const std::byte, kHandleBytes> handle,
                                std::optional<uint8_t> traffic_class) {
  Context::DialKey key{device, {}};
  std::copy(handle.begin(), handle.end(), key.second.begin());
  const std::lock_guard lock(context.mutex);
  auto found = context.dialing.find(key);
  if (found == context.dialing.end()) {
    const auto target = decode_listen_handle(handle);
    if (!target.has_value()) {
      return Error{ErrorCode::kInvalidArgument,
                   "the peer's connection handle was not made by Rocelane: load the same network "
                   "plugin (NCCL_NET_PLUGIN=rocelane) on every host"};
    }
    const auto entry = context.plugin->devices().entry(device);
    if (!entry) {
      return entry.error();
    }
    auto facts = context.plugin->end_facts(
        **entry, traffic_class.has_value() ? traffic_class : context.traffic_class);
    if (!facts) {
      return std::move(facts).error();
    }
    facts->completions = context.hub_of_this_thread(device);
    found =
        context.dialing.emplace(key, std::make_unique<ConnectMachine>(std::move(*facts), *target))
            .first;
  }
  auto established = found->second->step(Clock::now());
  if (!established) {
    context.dialing.erase(found);
    return std::move(established).error();
  }
  if (*established == nullptr) {
    return nullptr;
  }
  context.dialing.erase(found);
  auto connection = std::make_unique<SendConnection>();
  connection->rules = context.plugin->registration_rules();
  connection->ports = (*established)->lanes->ports();
  auto recorders = context.plugin->telemetry()->record(**established);
  connection->channel =
      std::make_unique<SendChannel>(std::move(*established), std::move(recorders));
  return connection.release();
}

Result<ReceiveConnection*> accept(Listener& listener) {
  auto established = listener.machine->step(Clock::now());
  if (!established) {
    return std::move(established).error();
  }
  if (*established == nullptr) {
    return nullptr;
  }
  auto connection = std::make_unique<ReceiveConnection>();
  connection->rules = listener.rules;
  connection->ports = (*established)->lanes->ports();
  std::vector<FlushLane> flush_lanes;
  if (listener.rules.gpu_memory) {
    auto created = FlushLane::create_all(*(*established)->lanes, (*established)->agreement);
    if (!created) {
      return std::move(created).error();
    }
    flush_lanes = std::move(*created);
  }
  auto recorders = listener.telemetry->record(**established);
  auto channel =
      ReceiveChannel::create(std::move(*established), std::move(flush_lanes), std::move(recorders));
  if (!channel) {
    return std::move(channel).error();
  }
  connection->channel = std::move(*channel);
  return connection.release();
}

void close(Listener* listener) { delete listener; }
void close(SendConnection* connection) { delete connection; }
void close(ReceiveConnection* connection) { delete connection; }

Result<Registration*> register_memory(SendConnection& connection, void* data, size_t bytes,
                                      MemoryKind kind, std::optional<DmaBuf> dma_buf) {
  return register_on(connection.rules, connection.ports, data, bytes, kind, dma_buf);
}

Result<Registration*> register_memory(ReceiveConnection& connection, void* data, size_t bytes,
                                      MemoryKind kind, std::optional<DmaBuf> dma_buf) {
  return register_on(connection.rules, connection.ports, data, bytes, kind, dma_buf);
}

void deregister_memory(Registration* registration) { delete registration; }

bool may_send(const SendConnection& connection) { return connection.channel->may_send(); }

Result<Request*> send(SendConnection& connection, const void* data, size_t bytes, int tag,
                      Registration* registration) {
  return connection.channel->send(data, bytes, static_cast<uint32_t>(tag), registration);
}

Result<Request*> receive(ReceiveConnection& connection, std::span<const ReceiveBuffer> buffers,
                         bool completion_is_optional) {
  std::array<Landing, kMaxGroupedReceives> landings;
  if (buffers.empty() || buffers.size() > landings.size()) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("NCCL asks for a group of {} receives; 1 to {} are possible",
                             buffers.size(), landings.size())};
  }
  static constexpr size_t kMost = UINT32_MAX;
  std::transform(buffers.begin(), buffers.end(), landings.begin(), [](const ReceiveBuffer& buffer) {
    return Landing{reinterpret_cast<uintptr_t>(buffer.data),
                   static_cast<uint32_t>(std::min(buffer.bytes, kMost)),
                   static_cast<uint32_t>(buffer.tag), buffer.registration};
  });
  return connection.channel->receive(std::span(landings).first(buffers.size()),
                                     completion_is_optional && buffers.size() == 1);
}

Result<Request*> flush(ReceiveConnection& connection, std::span<const FlushBuffer> buffers) {
  // A read from the last buffer pushes out what was written to all of them: same NICs, same PCIe
  // paths.
  const auto last = std::find_if(buffers.rbegin(), buffers.rend(), [](const FlushBuffer& buffer) {
    return buffer.bytes > 0 && buffer.registration != nullptr &&
           buffer.registration->kind() == MemoryKind::kGpu;
  });
  if (last == buffers.rend() || !connection.channel->can_flush()) {
    return nullptr;
  }
  return connection.channel->flush(reinterpret_cast<uintptr_t>(last->data), *last->registration);
}

bool is_waiting(const Request& request) { return request.watch->is_waiting(request); }

Outcome test(Request& request, int* sizes) {
  return request.kind == RequestKind::kSend ? request.sender->test(request, sizes)
                                            : request.receiver->test(request, sizes);
}

Error why_failed(Request& request) {
  return request.kind == RequestKind::kSend ? request.sender->tell() : request.receiver->tell();
}

}  // namespace rocelane::net
