// Listing and opening devices; what they say of themselves.

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <endian.h>
#include <fcntl.h>
#include <net/if.h>
#include <unistd.h>

#include "softverbs/door/lab_run.h"
#include "softverbs/door/objects.h"
#include "softverbs/engine/addresses.h"
#include "softverbs/segment/run.h"
#include "softverbs/timed/timed.h"

// The header has it as a macro around a function of its own.
#undef ibv_query_port

namespace rocelane::softverbs::door {
namespace {

constexpr uint8_t kLinkUp = 5;
constexpr uint8_t kPolling = 2;

std::mutex devices_mutex;
// Of the run. Pointers stay good; never destroyed, since threads may use them to the end.
auto& devices = *new std::vector<std::unique_ptr<DeviceObject>>;
uint64_t devices_of = 0;  // serial number of that run

void copy_text(char* to, size_t room, const std::string& text) {
  to[text.copy(to, room - 1)] = '\0';
}

std::unique_ptr<DeviceObject> make_device(const Run& run, uint32_t number) {
  auto object = std::make_unique<DeviceObject>();
  const std::string name = run.visible_name(static_cast<int>(number));
  ibv_device& device = object->device;
  device.node_type = IBV_NODE_CA;
  device.transport_type = IBV_TRANSPORT_IB;
  copy_text(device.name, sizeof device.name, name);
  copy_text(device.dev_name, sizeof device.dev_name, "uverbs" + std::to_string(number));
  copy_text(device.dev_path, sizeof device.dev_path,
            "/sys/class/infiniband_verbs/uverbs" + std::to_string(number));
  copy_text(device.ibdev_path, sizeof device.ibdev_path, "/sys/class/infiniband/" + name);
  object->number = number;
  return object;
}

struct Speed {
  double bits_per_s;
  uint8_t width;  // 1: 1x, 2: 4x, 4: 8x
  uint8_t speed;  // 4: QDR, 32: EDR, 64: HDR, 128: NDR
};

// The fastest that is not faster.
Speed nearest_speed(double bits_per_s) {
  constexpr Speed kSpeeds[] = {{800e9, 4, 128}, {400e9, 2, 128}, {200e9, 2, 64}, {100e9, 2, 32},
                               {50e9, 1, 64},   {40e9, 2, 4},    {25e9, 1, 32}};
  for (const Speed& speed : kSpeeds) {
    if (bits_per_s >= speed.bits_per_s) {
      return speed;
    }
  }
  return {10e9, 1, 4};
}

ibv_mtu mtu_of(uint32_t bytes) {
  int code = IBV_MTU_256;
  while (code < IBV_MTU_4096 && (256U << code) <= bytes) {
    ++code;
  }
  return static_cast<ibv_mtu>(code);
}

void fill_attributes(const DeviceDescription& description, ibv_device_attr* attributes) {
  const DeviceLimits& limits = description.limits;
  *attributes = {};
  copy_text(attributes->fw_ver, sizeof attributes->fw_ver, "1.0.softverbs");
  attributes->node_guid = htobe64(description.guid);
  attributes->sys_image_guid = htobe64(description.guid);
  attributes->max_mr_size = UINT64_MAX;
  attributes->page_size_cap = 0xfffff000;
  attributes->max_qp = static_cast<int>(limits.queue_pairs);
  attributes->max_qp_wr = static_cast<int>(limits.work_requests);
  attributes->device_cap_flags = IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_PORT_ACTIVE_EVENT |
                                 IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_SRQ_RESIZE;
  attributes->max_sge = static_cast<int>(limits.scatter_gather_entries);
  attributes->max_sge_rd = attributes->max_sge;
  attributes->max_cq = static_cast<int>(limits.completion_queues);
  attributes->max_cqe = static_cast<int>(limits.completion_entries);
  attributes->max_mr = static_cast<int>(limits.memory_regions);
  attributes->max_pd = static_cast<int>(limits.protection_domains);
  attributes->max_qp_rd_atom = static_cast<int>(limits.outstanding_reads);
  attributes->max_qp_init_rd_atom = attributes->max_qp_rd_atom;
  attributes->max_res_rd_atom = attributes->max_qp_rd_atom * attributes->max_qp;
  attributes->max_srq = static_cast<int>(limits.shared_receive_queues);
  attributes->max_srq_wr = static_cast<int>(limits.work_requests);
  attributes->max_srq_sge = attributes->max_sge;
  attributes->max_pkeys = 1;
  attributes->phys_port_cnt = 1;
}

// 0, ENODATA for an empty place, EINVAL for none.
int read_entry(const ContextObject& context, uint32_t port, uint32_t index, ibv_gid_entry* entry) {
  if (port != 1 || index >= kMostGids) {
    return EINVAL;
  }
  const auto slot = read_gid(run(), context.device, index);
  if (!slot) {
    return ENODATA;
  }
  *entry = {};
  std::copy(slot->gid.begin(), slot->gid.end(), std::begin(entry->gid.raw));
  entry->gid_index = index;
  entry->port_num = port;
  entry->gid_type = slot->roce_v2 ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_ROCE_V1;
  entry->ndev_ifindex = slot->interface[0] == '\0' ? 0 : if_nametoindex(slot->interface);
  return 0;
}

}  // namespace

ContextObject* ours(ibv_context* context) {
  auto* bytes = reinterpret_cast<std::byte*>(context);
  return reinterpret_cast<ContextObject*>(bytes - offsetof(ContextObject, extended) -
                                          offsetof(verbs_context, context));
}

const DeviceDescription& description_of(const ContextObject& context) {
  return run().description().devices[context.device];
}

bool has_failed(ibv_context* context) {
  return run().device(ours(context)->device).fatal.load(std::memory_order_relaxed);
}

int query_port(ibv_context* context, uint8_t port, ibv_port_attr* attributes, size_t bytes) {
  if (port != 1) {
    return EINVAL;
  }
  if (has_failed(context)) {
    return EIO;
  }
  const ContextObject& object = *ours(context);
  const DeviceDescription& description = description_of(object);
  const bool up = run().device(object.device).port_up.load();
  const Speed speed = nearest_speed(description.rate_bits_per_s);
  ibv_port_attr facts{};
  facts.state = up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
  facts.max_mtu = IBV_MTU_4096;
  facts.active_mtu = mtu_of(description.mtu_bytes);
  facts.gid_tbl_len = kMostGids;
  facts.port_cap_flags = IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS;
  facts.max_msg_sz = description.limits.message_bytes;
  facts.pkey_tbl_len = 1;
  facts.max_vl_num = 1;
  facts.active_width = speed.width;
  facts.active_speed = speed.speed;
  facts.phys_state = up ? kLinkUp : kPolling;
  facts.link_layer = IBV_LINK_LAYER_ETHERNET;
  facts.flags = IBV_QPF_GRH_REQUIRED;
  std::memset(attributes, 0, bytes);
  std::memcpy(attributes, &facts, std::min(bytes, sizeof facts));
  return 0;
}

int query_device_extended(ibv_context* context, const ibv_query_device_ex_input* /*input*/,
                          ibv_device_attr_ex* attributes, size_t bytes) {
  if (has_failed(context)) {
    return EIO;
  }
  std::memset(attributes, 0, bytes);
  ibv_device_attr facts{};
  fill_attributes(description_of(*ours(context)), &facts);
  std::memcpy(attributes, &facts, std::min(bytes, sizeof facts));
  return 0;
}

}  // namespace rocelane::softverbs::door

using namespace rocelane::softverbs;
using namespace rocelane::softverbs::door;

SOFTVERBS_API ibv_device** ibv_get_device_list(int* count) {
  Run* current = join_run();
  if (current == nullptr) {
    errno = EINVAL;
    return nullptr;
  }
  const std::lock_guard lock(devices_mutex);
  if (devices_of != current->serial()) {
    devices.clear();
    devices_of = current->serial();
    for (uint32_t number = 0; number < current->header().device_count; ++number) {
      devices.push_back(make_device(*current, number));
    }
  }
  auto** list = static_cast<ibv_device**>(calloc(devices.size() + 1, sizeof(ibv_device*)));
  if (list == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  int found = 0;
  for (const auto& device : devices) {
    if (current->sees(static_cast<int>(device->number))) {
      list[found++] = &device->device;
    }
  }
  if (count != nullptr) {
    *count = found;
  }
  return list;
}

SOFTVERBS_API void ibv_free_device_list(ibv_device** list) { free(list); }

SOFTVERBS_API const char* ibv_get_device_name(ibv_device* device) { return device->name; }

SOFTVERBS_API int ibv_get_device_index(ibv_device* device) {
  return static_cast<int>(ours(device)->number);
}

SOFTVERBS_API __be64 ibv_get_device_guid(ibv_device* device) {
  return htobe64(run().description().devices[ours(device)->number].guid);
}

SOFTVERBS_API ibv_context* ibv_open_device(ibv_device* device) {
  Run& current = run();
  const uint32_t number = ours(device)->number;
  if (const int error = current.description().devices[number].open_error) {
    errno = error;
    return nullptr;
  }
  Header& header = current.header();
  const uint32_t slot = current.claim(header.context_table, header.contexts, kMostContexts);
  const int events = slot == kNone ? -1 : current.pipes().make("events", slot);
  if (events < 0) {
    if (slot != kNone) {
      release_slot(header.context_table, current.at(header.contexts), slot);
    }
    errno = slot == kNone ? ENOMEM : errno;
    return nullptr;
  }
  auto* object = static_cast<ContextObject*>(calloc(1, sizeof(ContextObject)));
  object->slot = slot;
  object->device = number;
  ibv_context& context = object->extended.context;
  context.device = device;
  context.async_fd = events;
  context.cmd_fd = fcntl(events, F_DUPFD_CLOEXEC, 0);
  context.num_comp_vectors = 1;
  pthread_mutex_init(&context.mutex, nullptr);
  context.abi_compat = __VERBS_ABI_IS_EXTENDED;
  fill_operations(&object->extended);
  Context& shared = current.context(slot);
  shared.process = current.process();
  shared.device = number;
  shared.use.store(Use::kLive);
  timed::begin(current);
  return &context;
}

SOFTVERBS_API int ibv_close_device(ibv_context* context) {
  ContextObject* object = ours(context);
  Run& current = run();
  current.pipes().remove("events", object->slot);
  release_slot(current.header().context_table, current.at(current.header().contexts), object->slot);
  close(context->async_fd);
  close(context->cmd_fd);
  pthread_mutex_destroy(&context->mutex);
  free(object);
  return 0;
}

SOFTVERBS_API int ibv_query_device(ibv_context* context, ibv_device_attr* attributes) {
  if (has_failed(context)) {
    return EIO;
  }
  fill_attributes(description_of(*ours(context)), attributes);
  return 0;
}

SOFTVERBS_API int ibv_query_port(ibv_context* context, uint8_t port,
                                 _compat_ibv_port_attr* attributes) {
  return query_port(context, port, reinterpret_cast<ibv_port_attr*>(attributes),
                    sizeof(ibv_port_attr));
}

SOFTVERBS_API int ibv_query_gid(ibv_context* context, uint8_t port, int index, ibv_gid* gid) {
  ibv_gid_entry entry{};
  const int error = read_entry(*ours(context), port, static_cast<uint32_t>(index), &entry);
  if (error != 0 && error != ENODATA) {
    errno = error;
    return -1;
  }
  *gid = entry.gid;
  return 0;
}

SOFTVERBS_API int _ibv_query_gid_ex(ibv_context* context, uint32_t port, uint32_t index,
                                    ibv_gid_entry* entry, uint32_t flags, size_t entry_bytes) {
  if (flags != 0) {
    return EOPNOTSUPP;
  }
  ibv_gid_entry found{};
  const int error = read_entry(*ours(context), port, index, &found);
  if (error == 0) {
    std::memcpy(entry, &found, std::min(entry_bytes, sizeof found));
  }
  return error;
}

SOFTVERBS_API ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* entries,
                                           size_t most, uint32_t flags, size_t entry_bytes) {
  if (flags != 0) {
    return -EOPNOTSUPP;
  }
  size_t found = 0;
  for (uint32_t index = 0; index < kMostGids; ++index) {
    ibv_gid_entry entry{};
    if (read_entry(*ours(context), 1, index, &entry) != 0) {
      continue;
    }
    if (found == most) {
      return -EINVAL;
    }
    std::memcpy(reinterpret_cast<std::byte*>(entries) + found * entry_bytes, &entry,
                std::min(entry_bytes, sizeof entry));
    ++found;
  }
  return static_cast<ssize_t>(found);
}

SOFTVERBS_API int ibv_query_pkey(ibv_context* /*context*/, uint8_t port, int index, __be16* pkey) {
  if (port != 1 || index != 0) {
    errno = EINVAL;
    return -1;
  }
  *pkey = htobe16(0xffff);
  return 0;
}

SOFTVERBS_API int ibv_get_pkey_index(ibv_context* /*context*/, uint8_t port, __be16 pkey) {
  if (port == 1 && pkey == htobe16(0xffff)) {
    return 0;
  }
  errno = EINVAL;
  return -1;
}
