#include <array>
#include <cstring>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "allocations.h"
#include "runtime_support.h"

namespace rocelane::lab {
namespace {

TEST(Memory, ACopyFromPageableMemoryIsTakenBeforeTheCallReturns) {
  const DeviceArray<int> device(1);
  const TestStream stream;
  HeldStream hold(stream);
  int value = 41;
  ASSERT_EQ(cudaMemcpyAsync(device.get(), &value, sizeof(value), cudaMemcpyHostToDevice, stream),
            cudaSuccess);
  value = 0;
  hold.let_go();
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(&value, device.get(), sizeof(value), cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(value, 41);
}

TEST(Memory, ACopyFromPinnedMemoryIsTakenInItsTurn) {
  const DeviceArray<int> device(1);
  const TestStream stream;
  int* pinned = nullptr;
  ASSERT_EQ(cudaHostAlloc(reinterpret_cast<void**>(&pinned), sizeof(int), 0), cudaSuccess);
  HeldStream hold(stream);
  *pinned = 1;
  ASSERT_EQ(cudaMemcpyAsync(device.get(), pinned, sizeof(int), cudaMemcpyHostToDevice, stream),
            cudaSuccess);
  *pinned = 2;
  hold.let_go();
  int value = 0;
  ASSERT_EQ(cudaMemcpyAsync(&value, device.get(), sizeof(value), cudaMemcpyDefault, stream),
            cudaSuccess);
  EXPECT_EQ(value, 2);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST(Memory, ACopyToPageableMemoryIsDoneWhenTheCallReturns) {
  const DeviceArray<unsigned char> device(64);
  const TestStream stream;
  ASSERT_EQ(cudaMemsetAsync(device.get(), 0x5a, 64, stream), cudaSuccess);
  std::array<unsigned char, 64> host{};
  ASSERT_EQ(cudaMemcpyAsync(host.data(), device.get(), 64, cudaMemcpyDeviceToHost, stream),
            cudaSuccess);
  EXPECT_EQ(host.front(), 0x5a);
  EXPECT_EQ(host.back(), 0x5a);
}

TEST(Memory, ADirectionThatContradictsTheAddressesIsRefused) {
  const DeviceArray<int> device(1);
  int host = 0;
  EXPECT_EQ(cudaMemcpy(&host, device.get(), sizeof(int), cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device.get(), &host, sizeof(int), cudaMemcpyDeviceToHost),
            cudaErrorInvalidValue);
}

TEST(Memory, FreeingTwiceIsAnError) {
  void* start = nullptr;
  ASSERT_EQ(cudaMalloc(&start, 4096), cudaSuccess);
  EXPECT_EQ(cudaFree(start), cudaSuccess);
  EXPECT_EQ(cudaFree(start), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(Memory, FreeingWhatIsNoAllocationIsAnError) {
  const DeviceArray<char> device(100);
  char host = 0;
  EXPECT_EQ(cudaFree(&host), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(device.get() + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(device.get()), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
}

TEST(Memory, UsingFreedMemoryIsAnError) {
  void* start = nullptr;
  ASSERT_EQ(cudaMalloc(&start, 4096), cudaSuccess);
  ASSERT_EQ(cudaFree(start), cudaSuccess);
  int host = 0;
  EXPECT_EQ(cudaMemcpy(&host, start, sizeof(host), cudaMemcpyDefault), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(start, 0, 1), cudaErrorInvalidValue);
}

TEST(Memory, UsingMoreThanWasAllocatedIsAnError) {
  const DeviceArray<char> device(100);
  EXPECT_EQ(cudaMemset(device.get(), 0, 100), cudaSuccess);
  EXPECT_EQ(cudaMemset(device.get(), 0, 101), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(device.get() + 50, 0, 51), cudaErrorInvalidValue);
}

TEST(Memory, FreeingWaitsForTheDevice) {
  void* start = nullptr;
  ASSERT_EQ(cudaMalloc(&start, 4096), cudaSuccess);
  const TestStream stream;
  HeldStream hold(stream);
  ASSERT_EQ(cudaMemsetAsync(start, 1, 4096, stream), cudaSuccess);
  std::thread releaser([&] { EXPECT_EQ(cudaFree(start), cudaSuccess); });
  hold.let_go();
  releaser.join();
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
}

TEST(Memory, FreeAndTotalAreTheDevicesOwn) {
  size_t free_before = 0;
  size_t total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free_before, &total), cudaSuccess);
  const DeviceArray<char> device(1 << 20);
  size_t free_now = 0;
  ASSERT_EQ(cudaMemGetInfo(&free_now, &total), cudaSuccess);
  EXPECT_EQ(free_before - free_now, size_t{1} << 20);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(cudaMemGetInfo(&free_now, &total), cudaSuccess);
  EXPECT_EQ(free_now, total);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST(Memory, ADeviceGivesNoMoreThanItHas) {
  size_t free_bytes = 0;
  size_t total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free_bytes, &total), cudaSuccess);
  void* start = nullptr;
  EXPECT_EQ(cudaMalloc(&start, free_bytes + 1), cudaErrorMemoryAllocation);
  EXPECT_EQ(start, nullptr);
  ASSERT_EQ(cudaMalloc(&start, free_bytes), cudaSuccess);
  EXPECT_EQ(cudaFree(start), cudaSuccess);
}

TEST(Memory, PointerAttributesNameKindAndOwner) {
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  const DeviceArray<char> device(100);
  void* pinned = nullptr;
  ASSERT_EQ(cudaHostAlloc(&pinned, 100, 0), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);

  cudaPointerAttributes attributes{};
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, device.get() + 99), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 1);
  EXPECT_EQ(attributes.devicePointer, device.get() + 99);
  EXPECT_EQ(attributes.hostPointer, nullptr);

  ASSERT_EQ(cudaPointerGetAttributes(&attributes, pinned), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  EXPECT_EQ(attributes.hostPointer, pinned);

  int local = 0;
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, &local), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST(Memory, RegisteredHostMemoryIsKnownUntilItIsUnregistered) {
  std::vector<char> host(8192);
  ASSERT_EQ(cudaHostRegister(host.data(), host.size(), 0), cudaSuccess);
  EXPECT_EQ(cudaHostRegister(host.data() + 4096, 10, 0), cudaErrorHostMemoryAlreadyRegistered);
  void* device_pointer = nullptr;
  ASSERT_EQ(cudaHostGetDevicePointer(&device_pointer, host.data() + 5, 0), cudaSuccess);
  EXPECT_EQ(device_pointer, host.data() + 5);
  ASSERT_EQ(cudaHostUnregister(host.data()), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(host.data()), cudaErrorHostMemoryNotRegistered);
  EXPECT_EQ(cudaHostGetDevicePointer(&device_pointer, host.data(), 0), cudaErrorInvalidValue);
}

TEST(Allocations, AnAddressIsNotGivenOutAgainRightAfterItWasFreed) {
  Allocations allocations(uint64_t{1} << 20);
  const void* first = allocations.allocate(MemoryKind::kDevice, 0, 4096);
  ASSERT_EQ(allocations.release(MemoryKind::kDevice, first), ReleaseResult::kReleased);
  const void* second = allocations.allocate(MemoryKind::kDevice, 0, 4096);
  EXPECT_NE(first, second);
  EXPECT_EQ(allocations.state_of(first, 1), RangeState::kFreed);
}

TEST(Allocations, ManyRoundsLeaveNothingInUse) {
  Allocations allocations(uint64_t{1} << 20);
  for (int round = 0; round < 2000; ++round) {
    const void* start = allocations.allocate(MemoryKind::kDevice, 0, size_t{1} << 20);
    ASSERT_NE(start, nullptr);
    ASSERT_EQ(allocations.release(MemoryKind::kDevice, start), ReleaseResult::kReleased);
  }
  EXPECT_EQ(allocations.used_bytes(0), 0U);
}

}  // namespace
}  // namespace rocelane::lab
