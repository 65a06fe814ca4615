#include "streams.h"

#include <utility>

namespace rocelane::lab {
namespace {

// The per-thread default streams of one thread; they end with it.
class ThreadStreams {
 public:
  ~ThreadStreams() {
    for (const auto& [device, handle] : by_device_) {
      Streams::of_process().destroy(handle);
    }
  }
  cudaStream_t& of(int device) { return by_device_[device]; }

 private:
  std::map<int, cudaStream_t> by_device_;
};

thread_local ThreadStreams thread_streams;

}  // namespace

Streams& Streams::of_process() {
  // Never destroyed: a kernel that waits for a dead peer must not keep the process from ending.
  static auto* const instance = new Streams;
  return *instance;
}

cudaStream_t Streams::create(int device, StreamOrder order, int priority) {
  auto stream = std::make_shared<Stream>(device, order, priority);
  const auto handle = reinterpret_cast<cudaStream_t>(stream.get());
  std::vector<std::shared_ptr<Stream>> finished;  // joined after the lock is given back
  const std::lock_guard lock(mutex_);
  finished = take_finished();
  by_handle_.emplace(handle, std::move(stream));
  return handle;
}

bool Streams::destroy(cudaStream_t handle) {
  std::vector<std::shared_ptr<Stream>> finished;
  const std::lock_guard lock(mutex_);
  const auto found = by_handle_.find(handle);
  if (found == by_handle_.end()) {
    return false;
  }
  retired_.push_back(std::move(found->second));
  by_handle_.erase(found);
  finished = take_finished();
  return true;
}

// The caller holds mutex_ and lets go of the result after it.
std::vector<std::shared_ptr<Stream>> Streams::take_finished() {
  std::vector<std::shared_ptr<Stream>> finished;
  std::erase_if(retired_, [&](std::shared_ptr<Stream>& stream) {
    if (!stream->idle()) {
      return false;
    }
    finished.push_back(std::move(stream));
    return true;
  });
  return finished;
}

std::shared_ptr<Stream> Streams::find(cudaStream_t handle, int device) {
  const std::lock_guard lock(mutex_);
  if (handle == nullptr || handle == cudaStreamLegacy) {
    return legacy(device);
  }
  if (handle == cudaStreamPerThread) {
    handle = per_thread(device);
  }
  const auto found = by_handle_.find(handle);
  return found == by_handle_.end() ? nullptr : found->second;
}

// The caller holds mutex_.
std::shared_ptr<Stream> Streams::legacy(int device) {
  std::shared_ptr<Stream>& stream = legacy_[device];
  if (stream == nullptr) {
    stream = std::make_shared<Stream>(device, StreamOrder::kLegacy, 0);
  }
  return stream;
}

// The caller holds mutex_.
cudaStream_t Streams::per_thread(int device) {
  cudaStream_t& handle = thread_streams.of(device);
  if (handle == nullptr) {
    auto stream = std::make_shared<Stream>(device, StreamOrder::kWithLegacy, 0);
    handle = reinterpret_cast<cudaStream_t>(stream.get());
    by_handle_.emplace(handle, std::move(stream));
  }
  return handle;
}

Ticket Streams::submit(Stream& stream, Stream::Task task) {
  if (stream.order() == StreamOrder::kFree) {
    return stream.submit(std::move(task));
  }
  // One lock for all ordered submissions: two streams must not each miss the other's task.
  const std::lock_guard lock(mutex_);
  return submit_ordered(stream, std::move(task));
}

Ticket Streams::submit_to_legacy(int device, Stream::Task task) {
  const std::lock_guard lock(mutex_);
  return submit_ordered(*legacy(device), std::move(task));
}

// The caller holds mutex_.
Ticket Streams::submit_ordered(Stream& stream, Stream::Task task) {
  const auto run_after = [&stream](const Stream& other) {
    const Ticket before = other.last_submitted();
    if (!before.done()) {
      stream.submit([before] { before.wait(); });
    }
  };
  if (stream.order() == StreamOrder::kLegacy) {
    for (const auto& [handle, other] : by_handle_) {
      if (other->device() == stream.device() && other->order() == StreamOrder::kWithLegacy) {
        run_after(*other);
      }
    }
  } else if (stream.order() == StreamOrder::kWithLegacy && legacy_.contains(stream.device())) {
    run_after(*legacy_.at(stream.device()));
  }
  return stream.submit(std::move(task));
}

void Streams::synchronize(int device) {
  std::vector<Ticket> open;
  {
    const std::lock_guard lock(mutex_);
    const auto collect = [&](const Stream& stream) {
      if (stream.device() == device) {
        open.push_back(stream.last_submitted());
      }
    };
    for (const auto& [handle, stream] : by_handle_) {
      collect(*stream);
    }
    for (const std::shared_ptr<Stream>& stream : retired_) {
      collect(*stream);
    }
    if (legacy_.contains(device)) {
      collect(*legacy_.at(device));
    }
  }
  for (const Ticket& ticket : open) {
    ticket.wait();
  }
  std::vector<std::shared_ptr<Stream>> finished;
  const std::lock_guard lock(mutex_);
  finished = take_finished();
}

}  // namespace rocelane::lab
