// What a run leaves behind, and what a forked child has of it.

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "simulation.h"

namespace rocelane::softverbs_test {
namespace {

std::string folder_of(const std::string& run) {
  return fmt::format("/dev/shm/rocelane-softverbs.{}.{}", geteuid(), run);
}

// A child that takes part in a run and then ends as `end` does; its wait status.
int child_in(const std::string& run, void (*end)()) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("ROCELANE_LAB_RUN", run.c_str(), 1);
    unsetenv("ROCELANE_LAB_FABRIC");
    int count = 0;
    // Static, so that what the child keeps until its end is no leak.
    static ibv_device** devices = ibv_get_device_list(&count);
    static ibv_context* context = devices == nullptr ? nullptr : ibv_open_device(devices[0]);
    if (context == nullptr || count != 2 || !std::filesystem::exists(folder_of(run))) {
      _exit(99);
    }
    end();
    _exit(98);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

void die() { raise(SIGKILL); }
void leave() { exit(0); }

TEST(Lifetime, TheLastProcessRemovesItsRun) {
  const std::string run = fmt::format("leaving-{}", getpid());
  const int status = child_in(run, leave);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_FALSE(std::filesystem::exists(folder_of(run)));
}

TEST(Lifetime, WhatACrashLeavesIsRemovedByTheNextRun) {
  const std::string crashed = fmt::format("crashed-{}", getpid());
  const int status = child_in(crashed, die);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(std::filesystem::exists(folder_of(crashed)));
  EXPECT_EQ(std::filesystem::status(folder_of(crashed)).permissions(),
            std::filesystem::perms::owner_all);
  EXPECT_EQ(child_in(fmt::format("next-{}", getpid()), leave), 0);
  EXPECT_FALSE(std::filesystem::exists(folder_of(crashed)));
}

TEST(Lifetime, AChildThatEndsTakesNothingOfItsParentsRunAlong) {
  const int status = child_in(fmt::format("parent-{}", getpid()), [] {
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      exit(0);
    }
    int ended = 0;
    waitpid(grandchild, &ended, 0);
    static ibv_device** devices = ibv_get_device_list(nullptr);
    static ibv_context* context = ibv_open_device(devices[0]);
    static ibv_pd* domain = ibv_alloc_pd(context);
    exit(ended == 0 && domain != nullptr ? 0 : 97);
  });
  EXPECT_EQ(status, 0);
}

TEST(Channels, TellOfCompletionsThatWereAskedFor) {
  Simulation simulation("");
  ibv_context* context = simulation.device("host1/soft_0");
  ibv_comp_channel* channel = ibv_create_comp_channel(context);
  ASSERT_NE(channel, nullptr);
  int mark = 0;
  ibv_cq* queue = ibv_create_cq(context, 8, &mark, channel, 0);
  ASSERT_NE(queue, nullptr);
  EXPECT_EQ(ibv_destroy_comp_channel(channel), EBUSY);
  ibv_pd* domain = ibv_alloc_pd(context);
  ibv_qp_init_attr wishes{};
  wishes.send_cq = queue;
  wishes.recv_cq = queue;
  wishes.cap = {4, 4, 1, 1, 0};
  wishes.qp_type = IBV_QPT_RC;
  ibv_qp* pair = ibv_create_qp(domain, &wishes);
  ASSERT_NE(pair, nullptr);
  // A receive that is flushed completes.
  ibv_qp_attr step{};
  step.qp_state = IBV_QPS_INIT;
  step.port_num = 1;
  ASSERT_EQ(ibv_modify_qp(pair, &step,
                          IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS),
            0);
  ibv_recv_wr request{};
  ibv_recv_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_recv(pair, &request, &bad), 0);
  ASSERT_EQ(ibv_req_notify_cq(queue, 0), 0);
  step.qp_state = IBV_QPS_ERR;
  ASSERT_EQ(ibv_modify_qp(pair, &step, IBV_QP_STATE), 0);
  ibv_cq* told = nullptr;
  void* user = nullptr;
  ASSERT_EQ(ibv_get_cq_event(channel, &told, &user), 0);
  EXPECT_EQ(told, queue);
  EXPECT_EQ(user, &mark);
  ibv_ack_cq_events(queue, 1);
  EXPECT_EQ(ibv_destroy_qp(pair), 0);
  EXPECT_EQ(ibv_destroy_cq(queue), 0);
  EXPECT_EQ(ibv_dealloc_pd(domain), 0);
  EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
}

TEST(Limits, EndInENOMEMAndFreePlacesComeBack) {
  Simulation simulation(R"(
    [[device]]
    name = "host1/soft_0"
    [device.limits]
    memory_regions = 3
    completion_queues = 2
    protection_domains = 1
  )");
  ibv_context* context = simulation.device("host1/soft_0");
  ibv_pd* domain = ibv_alloc_pd(context);
  ASSERT_NE(domain, nullptr);
  EXPECT_EQ(ibv_alloc_pd(context), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  std::vector<ibv_mr*> regions;
  std::vector<char> memory(4096);
  for (int i = 0; i < 3; ++i) {
    regions.push_back(ibv_reg_mr(domain, memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE));
    ASSERT_NE(regions.back(), nullptr);
  }
  EXPECT_EQ(ibv_reg_mr(domain, memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(ibv_dealloc_pd(domain), EBUSY);
  EXPECT_EQ(ibv_dereg_mr(regions.back()), 0);
  regions.back() = ibv_reg_mr(domain, memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE);
  EXPECT_NE(regions.back(), nullptr);
  for (ibv_mr* region : regions) {
    EXPECT_EQ(ibv_dereg_mr(region), 0);
  }
  EXPECT_EQ(ibv_dealloc_pd(domain), 0);
  EXPECT_EQ(simulation.counters("host1/soft_0").live_memory_regions, 0U);
}

}  // namespace
}  // namespace rocelane::softverbs_test
