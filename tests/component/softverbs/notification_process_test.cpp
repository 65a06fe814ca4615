// Who waits is woken, and threads may share what verbs say they may.

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file_descriptor.h"
#include "processes.h"
#include "processes_end.h"

namespace rocelane::softverbs_test {
namespace {

constexpr const char* kDevice = "host1/soft_0";

// How many events come from the channel within the time, `most` at most.
int events_of(ibv_comp_channel* channel, int most, double seconds) {
  demand_call(fcntl(channel->fd, F_SETFL, O_NONBLOCK) == 0, "a channel cannot be made to not wait");
  int events = 0;
  for (const Deadline time(seconds); events < most && !time.is_over();) {
    ibv_cq* queue = nullptr;
    void* user = nullptr;
    if (ibv_get_cq_event(channel, &queue, &user) == 0) {
      ibv_ack_cq_events(queue, 1);
      ++events;
    } else {
      usleep(1000);
    }
  }
  return events;
}

// What is left to the process of them.
std::vector<FileDescriptor> take_all_descriptors() {
  constexpr rlim_t kFew = 256;
  rlimit limit{};
  demand_call(getrlimit(RLIMIT_NOFILE, &limit) == 0, "descriptors are not limited");
  limit.rlim_cur = std::min(limit.rlim_cur, kFew);
  demand_call(setrlimit(RLIMIT_NOFILE, &limit) == 0, "descriptors cannot be limited");
  std::vector<FileDescriptor> taken;
  do {
    taken.emplace_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
  } while (taken.back().is_open());
  demand_call(errno == EMFILE, "descriptors cannot be used up");
  return taken;
}

// Nobody polls: both senders wait for their completion's event.
TEST(Notifications, WakeEverySenderThatWaitsForASharedReceiveQueue) {
  LabRun run;
  Process& process = run.start([](Line& line) {
    ibv_context* const device = open_device(kDevice);
    ibv_comp_channel* const channel = ibv_create_comp_channel(device);
    ibv_pd* const domain = ibv_alloc_pd(device);
    ibv_srq_init_attr shared{};
    shared.attr = {16, 1, 0};
    ibv_srq* const receives = ibv_create_srq(domain, &shared);
    demand_call(receives != nullptr, "no shared receive queue");
    std::vector<std::unique_ptr<DistantEnd>> senders;
    std::vector<std::unique_ptr<DistantEnd>> receivers;
    for (int i = 0; i < 2; ++i) {
      senders.push_back(
          std::make_unique<DistantEnd>(device, EndWishes{.timeout = 0, .channel = channel}));
      receivers.push_back(std::make_unique<DistantEnd>(
          device, EndWishes{.domain = domain, .shared_receives = receives}));
      receivers.back()->connect(senders.back()->address());
      senders.back()->connect(receivers.back()->address());
      demand(ibv_req_notify_cq(senders.back()->send_queue(), 0) == 0, "no notification");
      senders.back()->send(8, 1);
    }
    for (int i = 0; i < 4; ++i) {
      ibv_sge place{receivers[0]->address().memory, 8, receivers[0]->local_key()};
      ibv_recv_wr request{};
      request.sg_list = &place;
      request.num_sge = 1;
      ibv_recv_wr* bad = nullptr;
      errno = ibv_post_srq_recv(receives, &request, &bad);
      demand_call(errno == 0, "a receive is not taken");
    }
    line.put(events_of(channel, 2, 2));
  });
  ASSERT_TRUE(ends_well(process));
  EXPECT_EQ(process.line().get<int>(), 2) << "senders were woken by four receives";
}

TEST(Notifications, NeedNoFreeDescriptor) {
  LabRun run;
  Process& process = run.start([](Line& line) {
    ibv_context* const device = open_device(kDevice);
    ibv_comp_channel* const channel = ibv_create_comp_channel(device);
    DistantEnd sender(device, {.channel = channel});
    DistantEnd receiver(device);
    sender.connect(receiver.address());
    receiver.connect(sender.address());
    demand(ibv_req_notify_cq(sender.send_queue(), 0) == 0, "no notification");
    const auto all_others = take_all_descriptors();
    sender.write(receiver.address(), 8, 1);
    line.put(events_of(channel, 1, 2));
  });
  ASSERT_TRUE(ends_well(process));
  EXPECT_EQ(process.line().get<int>(), 1);
}

// Batches of one queue pair, begun and completed by two threads at the same time. Nobody polls: the
// queues are full in the end, and batches are refused.
TEST(Batches, OfTwoThreadsDoNotGetIntoEachOther) {
  LabRun run;
  Process& process = run.start([](Line&) {
    constexpr int kBatches = 200'000;
    ibv_context* const device = open_device(kDevice);
    ibv_pd* const domain = ibv_alloc_pd(device);
    ibv_cq* const queue = ibv_create_cq(device, 4096, nullptr, nullptr, 0);
    std::array<char, 4096> memory{};
    ibv_mr* const region = ibv_reg_mr(domain, memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE);
    ibv_qp_init_attr_ex wishes{};
    wishes.send_cq = queue;
    wishes.recv_cq = queue;
    wishes.cap = {2048, 16, 1, 1, 0};
    wishes.qp_type = IBV_QPT_RC;
    wishes.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    wishes.pd = domain;
    wishes.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE;
    ibv_qp* const pair = ibv_create_qp_ex(device, &wishes);
    demand_call(pair != nullptr && region != nullptr, "no queue pair with batches");
    ibv_qp_ex* const batches = ibv_qp_to_qp_ex(pair);
    const auto address = reinterpret_cast<uint64_t>(memory.data());
    const auto post = [&] {
      for (int i = 0; i < kBatches; ++i) {
        ibv_wr_start(batches);
        batches->wr_id = 1;
        ibv_wr_rdma_write(batches, region->rkey, address);
        ibv_wr_set_sge(batches, region->lkey, address, 8);
        ibv_wr_complete(batches);
      }
    };
    std::thread one(post);
    std::thread other(post);
    one.join();
    other.join();
  });
  EXPECT_TRUE(ends_well(process));
}

}  // namespace
}  // namespace rocelane::softverbs_test
