#include <array>
#include <cstdlib>
#include <string>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "api_table.h"
#include "devices.h"
#include "runtime_support.h"

namespace rocelane::lab {
namespace {

// All tests of this program see two small GPUs; the settings are read by the first call.
[[maybe_unused]] const bool kTwoSmallGpus = [] {
  ::setenv("ROCELANE_LAB_GPUS", "2", 1);
  ::setenv("ROCELANE_LAB_GPU_BUS_BASE", "0x40", 1);
  ::setenv("ROCELANE_LAB_GPU_MEMORY_MIB", "64", 1);
  return true;
}();

TEST(Device, ThereAreAsManyAsTheEnvironmentSays) {
  int count = 0;
  ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 2);
}

TEST(Device, ChoosingOneThatDoesNotExistIsAnError) {
  EXPECT_EQ(cudaSetDevice(2), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
  int device = -1;
  ASSERT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 0);
}

TEST(Device, IsFoundByThePciBusItNames) {
  std::array<char, 16> bus{};
  ASSERT_EQ(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), 1), cudaSuccess);
  EXPECT_STREQ(bus.data(), "0000:41:00.0");
  int device = -1;
  ASSERT_EQ(cudaDeviceGetByPCIBusId(&device, bus.data()), cudaSuccess);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(cudaDeviceGetPCIBusId(bus.data(), 12, 1), cudaErrorInvalidValue);
}

TEST(Device, AFailureSticksToItAndToNoOther) {
  const TestStream stream;
  fail_device(0, cudaErrorLaunchFailure, "a test says so");
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  void* start = nullptr;
  EXPECT_EQ(cudaMalloc(&start, 1), cudaErrorLaunchFailure);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(0), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  (void)cudaGetLastError();
}

TEST(Device, ResettingItGivesItsMemoryBack) {
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  void* start = nullptr;
  ASSERT_EQ(cudaMalloc(&start, 4096), cudaSuccess);
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  ASSERT_EQ(cudaMemGetInfo(&free_bytes, &total_bytes), cudaSuccess);
  EXPECT_EQ(free_bytes, total_bytes);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST(ErrorNames, AreThoseOfCuda) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorLaunchFailure), "cudaErrorLaunchFailure");
  EXPECT_STREQ(cudaGetErrorString(cudaSuccess), "no error");
}

TEST(ApiTable, ACallWithoutEmulationFailsAndSaysItsNameOnce) {
  const void* call = remember_not_emulated("cudaGraphClone");
  const auto entry =
      reinterpret_cast<cudaError_t (*)(const void*)>(const_cast<void*>(not_emulated_entry()));
  testing::internal::CaptureStderr();
  EXPECT_EQ(entry(call), cudaErrorNotSupported);
  EXPECT_EQ(entry(call), cudaErrorNotSupported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "emulated GPU: cudaGraphClone is not emulated and fails with cudaErrorNotSupported\n");
}

}  // namespace
}  // namespace rocelane::lab
