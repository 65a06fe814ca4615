#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <future>
#include <iterator>
#include <memory>
#include <thread>

#include <cuda_runtime_api.h>

namespace rocelane::lab {

// A stream that stands still until it is let go.
class HeldStream {
 public:
  explicit HeldStream(cudaStream_t stream) {
    // The stream may still be on its way out of wait() when this object is gone.
    auto* gate = new std::shared_future<void>(gate_.get_future());
    cudaLaunchHostFunc(
        stream,
        [](void* argument) {
          const std::unique_ptr<std::shared_future<void>> closed(
              static_cast<std::shared_future<void>*>(argument));
          closed->wait();
        },
        gate);
  }
  ~HeldStream() { let_go(); }
  HeldStream(const HeldStream&) = delete;
  HeldStream& operator=(const HeldStream&) = delete;

  void let_go() {
    if (!open_) {
      open_ = true;
      gate_.set_value();
    }
  }

 private:
  std::promise<void> gate_;
  bool open_ = false;
};

class TestStream {
 public:
  explicit TestStream(unsigned flags = cudaStreamNonBlocking) {
    cudaStreamCreateWithFlags(&stream_, flags);
  }
  ~TestStream() {
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }
  TestStream(const TestStream&) = delete;
  TestStream& operator=(const TestStream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class TestEvent {
 public:
  explicit TestEvent(unsigned flags = cudaEventDefault) {
    cudaEventCreateWithFlags(&event_, flags);
  }
  ~TestEvent() { cudaEventDestroy(event_); }
  TestEvent(const TestEvent&) = delete;
  TestEvent& operator=(const TestEvent&) = delete;
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count) {
    cudaMalloc(reinterpret_cast<void**>(&start_), count * sizeof(T));
  }
  ~DeviceArray() { cudaFree(start_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  T* get() const { return start_; }

 private:
  T* start_ = nullptr;
};

inline auto count_threads() {
  // A sanitizer adds a thread of its own when the first thread is started; that one is not ours to
  // count.
  [[maybe_unused]] static const bool sanitizer_is_up = (std::thread([] {}).join(), true);
  const std::filesystem::directory_iterator threads("/proc/self/task");
  return std::distance(begin(threads), end(threads));
}

// A joined thread may stay visible for an instant.
inline bool threads_settle_at(std::ptrdiff_t expected) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (count_threads() != expected) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    std::this_thread::yield();
  }
  return true;
}

}  // namespace rocelane::lab
