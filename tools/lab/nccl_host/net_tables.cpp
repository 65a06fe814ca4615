#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "nccl_host/net.h"
#include "nccl_plugin/net_v10.h"
#include "nccl_plugin/net_v11.h"
#include "nccl_plugin/net_v8.h"
#include "nccl_plugin/net_v9.h"

namespace rocelane::nccl_host {
namespace {

// The structure a version's getProperties fills.
template <class Function>
struct PropertiesOf;
template <class Properties>
struct PropertiesOf<NcclResult (*)(int, Properties*)> {
  using Type = Properties;
};

// The description of a virtual device a version's makeVDevice takes.
template <class Function>
struct VirtualDeviceOf;
template <class Properties>
struct VirtualDeviceOf<NcclResult (*)(int*, Properties*)> {
  using Type = Properties;
};

// What NCCL assumes for the versions without these members.
NcclNetPropertiesV12 default_properties(int device) {
  NcclNetPropertiesV12 result{};
  result.vProps.ndevs = 1;
  result.vProps.devs[0] = device;
  result.maxP2pBytes = size_t{1} << 30;
  result.maxCollBytes = size_t{1} << 29;
  result.maxMultiRequestSize = 1;
  result.railId = kNcclNetUndefined;
  result.planeId = kNcclNetUndefined;
  return result;
}

template <class Properties>
NcclNetPropertiesV12 widened(const Properties& from, int device) {
  NcclNetPropertiesV12 to = default_properties(device);
  to.name = from.name;
  to.pciPath = from.pciPath;
  to.guid = from.guid;
  to.ptrSupport = from.ptrSupport;
  to.regIsGlobal = from.regIsGlobal;
  to.speed = from.speed;
  to.port = from.port;
  to.latency = from.latency;
  to.maxComms = from.maxComms;
  to.maxRecvs = from.maxRecvs;
  to.netDeviceType = from.netDeviceType;
  to.netDeviceVersion = from.netDeviceVersion;
  if constexpr (requires { from.forceFlush; }) {
    to.forceFlush = from.forceFlush;
    to.vProps.ndevs = from.vProps.ndevs;
    std::ranges::copy(from.vProps.devs, to.vProps.devs);
    to.maxP2pBytes = from.maxP2pBytes;
    to.maxCollBytes = from.maxCollBytes;
  }
  if constexpr (requires { from.maxMultiRequestSize; }) {
    to.maxMultiRequestSize = from.maxMultiRequestSize;
  }
  if constexpr (requires { from.railId; }) {
    to.railId = from.railId;
    to.planeId = from.planeId;
  }
  return to;
}

template <class Table, int kAbi>
class NetOf final : public Net {
 public:
  explicit NetOf(const Table& table) : table_(table) {}

  int abi() const override { return kAbi; }
  const char* name() const override { return table_.name; }
  bool has_contexts() const override { return kContexts; }

  NcclResult init(void** context, uint64_t communicator, int traffic_class,
                  NcclLogFunction log) override {
    if constexpr (kContexts) {
      NcclNetCommConfig config{traffic_class};
      return table_.init(context, communicator, &config, log, nullptr);
    } else {
      *context = nullptr;
      if constexpr (kAbi == 10) {
        return table_.init(log, nullptr);
      } else {
        return table_.init(log);
      }
    }
  }

  NcclResult devices(int* count) override { return table_.devices(count); }

  NcclResult properties(int device, NcclNetPropertiesV12* properties) override {
    typename PropertiesOf<decltype(Table::getProperties)>::Type own{};
    const NcclResult result = table_.getProperties(device, &own);
    if (result == kNcclSuccess) {
      *properties = widened(own, device);
    }
    return result;
  }

  NcclResult listen(void* context, int device, void* handle, void** listener) override {
    if constexpr (kContexts) {
      return table_.listen(context, device, handle, listener);
    } else {
      return table_.listen(device, handle, listener);
    }
  }

  NcclResult connect(void* context, int traffic_class, int device, void* handle, void** connection,
                     NcclNetDeviceHandle** offload) override {
    if constexpr (kContexts) {
      return table_.connect(context, device, handle, connection, offload);
    } else if constexpr (kAbi == 10) {
      NcclNetCommConfig config{traffic_class};
      return table_.connect(device, &config, handle, connection, offload);
    } else {
      return table_.connect(device, handle, connection, offload);
    }
  }

  NcclResult accept(void* listener, void** connection, NcclNetDeviceHandle** offload) override {
    return table_.accept(listener, connection, offload);
  }
  NcclResult reg_mr(void* connection, void* data, size_t size, int type,
                    void** registration) override {
    return table_.regMr(connection, data, size, type, registration);
  }
  NcclResult dereg_mr(void* connection, void* registration) override {
    return table_.deregMr(connection, registration);
  }

  NcclResult isend(void* connection, void* data, size_t size, int tag, void* registration,
                   void* profiler_parent, void** request) override {
    if constexpr (kAbi == 8) {
      if (size > size_t{std::numeric_limits<int>::max()}) {
        return kNcclInvalidArgument;
      }
      return table_.isend(connection, data, static_cast<int>(size), tag, registration, request);
    } else if constexpr (kAbi == 9) {
      return table_.isend(connection, data, size, tag, registration, request);
    } else {
      return table_.isend(connection, data, size, tag, registration, profiler_parent, request);
    }
  }

  NcclResult irecv(void* connection, int n, void** data, size_t* sizes, int* tags,
                   void** registrations, void** profiler_parents, void** request) override {
    if constexpr (kAbi == 8) {
      // Its NCCL does not know the hint: the shim around such a table takes it away.
      if (*request == reinterpret_cast<void*>(kNcclNetOptionalReceiveCompletion)) {
        *request = nullptr;
      }
      std::array<int, kNcclNetMaxRequests> narrow{};
      if (n < 0 || static_cast<size_t>(n) > narrow.size()) {
        return kNcclInvalidArgument;
      }
      std::transform(sizes, sizes + n, narrow.begin(),
                     [](size_t size) { return static_cast<int>(size); });
      return table_.irecv(connection, n, data, narrow.data(), tags, registrations, request);
    } else if constexpr (kAbi == 9) {
      return table_.irecv(connection, n, data, sizes, tags, registrations, request);
    } else {
      return table_.irecv(connection, n, data, sizes, tags, registrations, profiler_parents,
                          request);
    }
  }

  NcclResult iflush(void* connection, int n, void** data, int* sizes, void** registrations,
                    void** request) override {
    return table_.iflush(connection, n, data, sizes, registrations, request);
  }
  NcclResult test(void* request, int* done, int* sizes) override {
    return table_.test(request, done, sizes);
  }
  NcclResult close_send(void* connection) override { return table_.closeSend(connection); }
  NcclResult close_recv(void* connection) override { return table_.closeRecv(connection); }
  NcclResult close_listen(void* listener) override { return table_.closeListen(listener); }

  NcclResult irecv_consumed(void* connection, int n, void* request) override {
    return table_.irecvConsumed == nullptr ? kNcclSuccess
                                           : table_.irecvConsumed(connection, n, request);
  }
  NcclResult set_attributes(void* context, NcclNetAttrV12* attributes) override {
    if constexpr (kContexts) {
      return table_.setNetAttr == nullptr ? kNcclSuccess : table_.setNetAttr(context, attributes);
    } else {
      return kNcclSuccess;
    }
  }
  NcclResult make_virtual_device(int* device, const std::vector<int>& members) override {
    if constexpr (requires { table_.makeVDevice; }) {
      typename VirtualDeviceOf<decltype(Table::makeVDevice)>::Type properties{};
      if (table_.makeVDevice == nullptr || members.size() > std::size(properties.devs)) {
        return kNcclInvalidUsage;
      }
      properties.ndevs = static_cast<int>(members.size());
      std::ranges::copy(members, properties.devs);
      return table_.makeVDevice(device, &properties);
    } else {
      return kNcclInvalidUsage;
    }
  }
  NcclResult finalize(void* context) override {
    if constexpr (kContexts) {
      return table_.finalize(context);
    } else {
      return kNcclSuccess;
    }
  }

 private:
  static constexpr bool kContexts = kAbi >= 11;
  const Table& table_;
};

struct Member {
  const char* name;
  bool present;
};

// Members NCCL calls without asking whether they are there.
template <class Table>
std::vector<Member> needed_members(const Table& t) {
  std::vector<Member> members{
      {"name", t.name != nullptr},           {"init", t.init != nullptr},
      {"devices", t.devices != nullptr},     {"getProperties", t.getProperties != nullptr},
      {"listen", t.listen != nullptr},       {"connect", t.connect != nullptr},
      {"accept", t.accept != nullptr},       {"regMr", t.regMr != nullptr},
      {"deregMr", t.deregMr != nullptr},     {"isend", t.isend != nullptr},
      {"irecv", t.irecv != nullptr},         {"iflush", t.iflush != nullptr},
      {"test", t.test != nullptr},           {"closeSend", t.closeSend != nullptr},
      {"closeRecv", t.closeRecv != nullptr}, {"closeListen", t.closeListen != nullptr},
  };
  if constexpr (requires { t.finalize; }) {
    members.push_back({"finalize", t.finalize != nullptr});
  }
  return members;
}

template <class Table, int kAbi>
Result<std::unique_ptr<Net>> adapt(const void* table, const std::string& where) {
  const Table& typed = *static_cast<const Table*>(table);
  for (const Member& member : needed_members(typed)) {
    if (!member.present) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("The v{} table of {} has no {}, which NCCL calls without asking.",
                               kAbi, where, member.name)};
    }
  }
  return std::unique_ptr<Net>(std::make_unique<NetOf<Table, kAbi>>(typed));
}

}  // namespace

Result<std::unique_ptr<Net>> open_table(int abi, const void* table, const std::string& where) {
  switch (abi) {
    case 8:
      return adapt<NcclNetV8, 8>(table, where);
    case 9:
      return adapt<NcclNetV9, 9>(table, where);
    case 10:
      return adapt<NcclNetV10, 10>(table, where);
    case 11:
      return adapt<NcclNetV11, 11>(table, where);
    case 12:
      return adapt<NcclNetV12, 12>(table, where);
    default:
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("Version {} of NCCL's net table is not known here; use {} to {}.",
                               abi, kOldestAbi, kNewestAbi)};
  }
}

std::string result_text(NcclResult result) {
  static constexpr std::array kNames{"success",        "unhandled CUDA error", "system error",
                                     "internal error", "invalid argument",     "invalid usage",
                                     "remote error",   "in progress"};
  const auto number = static_cast<size_t>(result);
  return fmt::format("{} ({})", number < kNames.size() ? kNames[number] : "unknown result", number);
}

}  // namespace rocelane::nccl_host
