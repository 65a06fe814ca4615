#include "verbs_test.h"

#include <cstdlib>
#include <cstring>
#include <string>

#include <poll.h>

namespace rocelane::contract {
namespace {

ibv_device* device_under_test(ibv_device** devices) {
  const char* wanted = std::getenv("ROCELANE_CONTRACT_DEVICE");
  for (ibv_device** device = devices; *device != nullptr; ++device) {
    if (wanted == nullptr || std::string(ibv_get_device_name(*device)) == wanted) {
      return *device;
    }
  }
  return nullptr;
}

bool is_ipv4(const ibv_gid& gid) {
  static constexpr uint8_t kPrefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  return std::memcmp(gid.raw, kPrefix, sizeof(kPrefix)) == 0;
}

bool find_gid(ibv_context* context, Port& port) {
  std::vector<ibv_gid_entry> entries(1024);
  const ssize_t count = ibv_query_gid_table(context, entries.data(), entries.size(), 0);
  for (ssize_t i = 0; i < count; ++i) {
    const ibv_gid_entry& entry = entries[static_cast<size_t>(i)];
    if (entry.port_num == port.number && entry.gid_type == IBV_GID_TYPE_ROCE_V2 &&
        is_ipv4(entry.gid)) {
      port.gid = entry.gid;
      port.gid_index = static_cast<uint8_t>(entry.gid_index);
      return true;
    }
  }
  return false;
}

}  // namespace

Context open_device(Port& port) {
  int count = 0;
  ibv_device** devices = ibv_get_device_list(&count);
  if (devices == nullptr) {
    ADD_FAILURE() << "no list of devices: " << std::strerror(errno);
    return nullptr;
  }
  ibv_device* device = device_under_test(devices);
  Context context(device != nullptr ? ibv_open_device(device) : nullptr);
  ibv_free_device_list(devices);
  if (context == nullptr) {
    ADD_FAILURE() << "none of " << count << " RDMA devices is the one to test, or it does not open";
    return nullptr;
  }
  ibv_port_attr attributes{};
  EXPECT_EQ(ibv_query_port(context.get(), port.number, &attributes), 0);
  port.mtu = attributes.active_mtu;
  EXPECT_TRUE(find_gid(context.get(), port)) << "the port has no IPv4 address with RoCE v2";
  return context;
}

void VerbsTest::SetUp() {
  context_ = open_device(port_);
  ASSERT_NE(context_, nullptr);
  traits_ = traits_of(ibv_get_device_name(context_->device));
  domain_.reset(ibv_alloc_pd(context_.get()));
  ASSERT_NE(domain_, nullptr) << std::strerror(errno);
}

ibv_device_attr VerbsTest::device_limits() const {
  ibv_device_attr limits{};
  EXPECT_EQ(ibv_query_device(context(), &limits), 0);
  return limits;
}

std::unique_ptr<Endpoint> VerbsTest::make_endpoint(const Shape& shape) const {
  return std::make_unique<Endpoint>(port(), domain(), shape);
}

std::optional<ibv_async_event> VerbsTest::next_event(std::chrono::milliseconds patience) const {
  pollfd waiting{context()->async_fd, POLLIN, 0};
  if (poll(&waiting, 1, static_cast<int>(patience.count())) != 1) {
    return std::nullopt;
  }
  ibv_async_event event{};
  if (ibv_get_async_event(context(), &event) != 0) {
    ADD_FAILURE() << "an event is announced and cannot be read: " << std::strerror(errno);
    return std::nullopt;
  }
  ibv_ack_async_event(&event);
  return event;
}

void PairTest::SetUp() {
  ASSERT_NO_FATAL_FAILURE(VerbsTest::SetUp());
  source_ = std::make_unique<Memory>(domain(), kMemoryBytes);
  target_ = std::make_unique<Memory>(domain(), kMemoryBytes);
  ASSERT_NE(source_->region(), nullptr) << std::strerror(errno);
  ASSERT_NE(target_->region(), nullptr) << std::strerror(errno);
  source_->fill(1);
  target_->fill_with(kUntouched);
  connect();
}

void PairTest::connect(const Shape& requester, const Shape& responder, const Timing& timing) {
  requester_ = make_endpoint(requester);
  responder_ = make_endpoint(responder);
  ASSERT_FALSE(HasFailure());
  ASSERT_EQ(requester_->connect(responder_->address(), timing), 0);
  ASSERT_EQ(responder_->connect(requester_->address(), timing), 0);
}

std::vector<ibv_wc_status> statuses(const std::vector<ibv_wc>& completions) {
  std::vector<ibv_wc_status> result;
  for (const ibv_wc& completion : completions) {
    result.push_back(completion.status);
  }
  return result;
}

std::vector<uint64_t> ids(const std::vector<ibv_wc>& completions) {
  std::vector<uint64_t> result;
  for (const ibv_wc& completion : completions) {
    result.push_back(completion.wr_id);
  }
  return result;
}

}  // namespace rocelane::contract
