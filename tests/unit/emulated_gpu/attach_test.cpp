// The real NCCL, found and led to the emulated GPUs by the library this program is linked with.

#include <array>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include "runtime_support.h"

namespace rocelane::lab {
namespace {

constexpr int kGpus = 2;

// Read by NCCL and by the emulated GPU when the first test calls them.
[[maybe_unused]] const bool kEnvironment = [] {
  ::setenv("ROCELANE_LAB_GPUS", "2", 1);
  ::setenv("NCCL_SOCKET_IFNAME", "lo", 1);
  ::setenv("NCCL_GIN_TYPE", "2", 1);  // no GPU-initiated networking
  return true;
}();

class TwoGpus {
 public:
  TwoGpus() { created_ = ncclCommInitAll(comms_.data(), kGpus, nullptr); }
  ~TwoGpus() {
    for (const ncclComm_t comm : comms_) {
      if (comm != nullptr) {
        ncclCommDestroy(comm);
      }
    }
  }
  TwoGpus(const TwoGpus&) = delete;
  TwoGpus& operator=(const TwoGpus&) = delete;

  ncclResult_t created() const { return created_; }
  ncclComm_t comm(int gpu) const { return comms_.at(static_cast<size_t>(gpu)); }

  // From one thread a GPU, as NCCL asks for.
  void abort() {
    std::array<std::thread, kGpus> threads;
    for (size_t gpu = 0; gpu < kGpus; ++gpu) {
      threads.at(gpu) = std::thread([this, gpu] {
        EXPECT_EQ(ncclCommAbort(std::exchange(comms_.at(gpu), nullptr)), ncclSuccess);
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }

 private:
  std::array<ncclComm_t, kGpus> comms_{};
  ncclResult_t created_;
};

// The sum over both GPUs of what each was filled with.
std::vector<float> all_reduce(const TwoGpus& gpus, size_t count) {
  std::vector<std::unique_ptr<TestStream>> streams;
  std::vector<std::unique_ptr<DeviceArray<float>>> arrays;
  for (int gpu = 0; gpu < kGpus; ++gpu) {
    cudaSetDevice(gpu);
    streams.push_back(std::make_unique<TestStream>());
    arrays.push_back(std::make_unique<DeviceArray<float>>(count));
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), static_cast<float>(gpu));
    cudaMemcpy(arrays.back()->get(), values.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  }
  ncclGroupStart();
  for (int gpu = 0; gpu < kGpus; ++gpu) {
    float* array = arrays.at(static_cast<size_t>(gpu))->get();
    EXPECT_EQ(ncclAllReduce(array, array, count, ncclFloat, ncclSum, gpus.comm(gpu),
                            *streams.at(static_cast<size_t>(gpu))),
              ncclSuccess);
  }
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  for (const auto& stream : streams) {
    EXPECT_EQ(cudaStreamSynchronize(*stream), cudaSuccess);
  }
  std::vector<float> result(count);
  cudaMemcpy(result.data(), arrays.front()->get(), count * sizeof(float), cudaMemcpyDeviceToHost);
  cudaSetDevice(0);
  return result;
}

void expect_right(const std::vector<float>& sums) {
  for (size_t i = 0; i < sums.size(); ++i) {
    ASSERT_EQ(sums[i], 2 * static_cast<float>(i) + 1) << "element " << i;
  }
}

TEST(RealNccl, AddsUpOverTwoGpusOfOneProcess) {
  const TwoGpus gpus;
  ASSERT_EQ(gpus.created(), ncclSuccess) << ncclGetLastError(nullptr);
  for (const size_t count : {size_t{1}, size_t{1000}, size_t{100'000}}) {
    expect_right(all_reduce(gpus, count));
  }
}

TEST(RealNccl, LeavesNoThreadAndNoDeviceMemoryBehind) {
  {
    const TwoGpus first;  // starts what stays for the life of the process
    ASSERT_EQ(first.created(), ncclSuccess) << ncclGetLastError(nullptr);
    expect_right(all_reduce(first, 1000));
  }
  const auto threads = count_threads();
  for (int round = 0; round < 3; ++round) {
    const TwoGpus gpus;
    ASSERT_EQ(gpus.created(), ncclSuccess) << ncclGetLastError(nullptr);
    expect_right(all_reduce(gpus, 1000));
  }
  EXPECT_TRUE(threads_settle_at(threads));
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  ASSERT_EQ(cudaMemGetInfo(&free_bytes, &total_bytes), cudaSuccess);
  EXPECT_EQ(free_bytes, total_bytes);
}

TEST(RealNccl, AnAbortEndsAKernelThatWaitsForItsPeer) {
  TwoGpus gpus;
  ASSERT_EQ(gpus.created(), ncclSuccess) << ncclGetLastError(nullptr);
  cudaSetDevice(0);
  const TestStream stream;
  const DeviceArray<float> array(1000);
  ASSERT_EQ(ncclAllReduce(array.get(), array.get(), 1000, ncclFloat, ncclSum, gpus.comm(0), stream),
            ncclSuccess);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  gpus.abort();
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
}

TEST(RealNccl, NoCodeOfItIsLeftWritable) {
  std::ifstream maps("/proc/self/maps");
  bool found = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("libnccl.so") != std::string::npos) {
      found = true;
      EXPECT_EQ(line.find(" rwx"), std::string::npos) << line;
    }
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace rocelane::lab
