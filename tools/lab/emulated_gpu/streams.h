#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <cuda_runtime_api.h>

#include "stream.h"

namespace rocelane::lab {

// All streams of the process, by handle, with CUDA's rules of order between them. Thread-safe.
class Streams {
 public:
  static Streams& of_process();

  cudaStream_t create(int device, StreamOrder order, int priority);
  // Unfinished work goes on; its thread is joined by a later call, once it is idle.
  // False when there is no such stream.
  bool destroy(cudaStream_t handle);

  // Knows the special handles too: 0, cudaStreamLegacy and cudaStreamPerThread mean a stream of
  // `device`. nullptr when there is no such stream.
  std::shared_ptr<Stream> find(cudaStream_t handle, int device);

  Ticket submit(Stream& stream, Stream::Task task);
  Ticket submit_to_legacy(int device, Stream::Task task);

  // Waits for everything that was submitted to the device.
  void synchronize(int device);

 private:
  std::shared_ptr<Stream> legacy(int device);
  cudaStream_t per_thread(int device);
  Ticket submit_ordered(Stream& stream, Stream::Task task);
  std::vector<std::shared_ptr<Stream>> take_finished();

  std::mutex mutex_;
  std::map<cudaStream_t, std::shared_ptr<Stream>> by_handle_;
  std::map<int, std::shared_ptr<Stream>> legacy_;
  std::vector<std::shared_ptr<Stream>> retired_;  // destroyed with work left
};

}  // namespace rocelane::lab
