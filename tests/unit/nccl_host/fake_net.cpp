#include "fake_net.h"

#include <algorithm>
#include <cstring>

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace rocelane::nccl_host {
namespace {

char g_name[] = "fake_0";
char g_path[] = "/sys/devices/fake";

// What a handle holds: which listener, and whether connect was called with these very bytes before.
struct HandleText {
  uint64_t listener = 0;
  uint64_t dials = 0;
};

}  // namespace

FakeNet*& FakeNet::the_fake() {
  static FakeNet* only = nullptr;
  return only;
}

FakeNet::FakeNet(Misdeed misdeed, uint64_t at_message)
    : misdeed_(misdeed), at_message_(at_message) {
  the_fake() = this;
}

FakeNet::~FakeNet() { the_fake() = nullptr; }

void FakeNet::release() {
  const std::lock_guard lock(mutex_);
  released_ = true;
  released_condition_.notify_all();
}

std::vector<std::string> FakeNet::violations() const {
  const std::lock_guard lock(mutex_);
  return violations_;
}

FakeNet::Calls FakeNet::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

void* FakeNet::keep(std::shared_ptr<Request> request) {
  void* const key = request.get();
  requests_[key] = std::move(request);
  return key;
}

NcclResult FakeNet::init(int traffic_class) {
  const std::lock_guard lock(mutex_);
  ++calls_.inits;
  calls_.last_traffic_class = traffic_class;
  return kNcclSuccess;
}

NcclResult FakeNet::properties(int device, NcclNetPropertiesV12* properties) {
  if (device < 0 || device >= device_count) {
    return kNcclInvalidArgument;
  }
  *properties = {};
  properties->name = g_name;
  properties->pciPath = g_path;
  properties->ptrSupport = kNcclPointerHost | (takes_gpu_memory ? kNcclPointerCuda : 0);
  properties->forceFlush = force_flush;
  properties->speed = 100000;
  properties->port = 1;
  properties->maxComms = 1024;
  properties->maxRecvs = 8;
  properties->maxP2pBytes = 1 << 30;
  properties->maxCollBytes = 1 << 30;
  properties->vProps.ndevs = 1;
  properties->vProps.devs[0] = device;
  properties->railId = 7;
  return kNcclSuccess;
}

NcclResult FakeNet::listen(void* handle, void** listener) {
  const std::lock_guard lock(mutex_);
  ++calls_.listens;
  ++calls_.open_listeners;
  const uint64_t number = next_listener_++;
  auto made = std::make_unique<Listener>();
  made->pipe = std::make_shared<Pipe>();
  *listener = made.get();
  listeners_[number] = std::move(made);
  const HandleText text{number, 0};
  std::memcpy(handle, &text, sizeof(text));
  return kNcclSuccess;
}

NcclResult FakeNet::connect(int traffic_class, void* handle, void** connection) {
  const std::lock_guard lock(mutex_);
  calls_.last_traffic_class = traffic_class;
  HandleText text;
  std::memcpy(&text, handle, sizeof(text));
  const auto listener = listeners_.find(text.listener);
  if (listener == listeners_.end()) {
    violation("connect with bytes that are no handle");
    return kNcclInvalidArgument;
  }
  // State that lives in the handle: lost when the caller passes a fresh copy each time.
  listener->second->dialled = true;
  ++text.dials;
  std::memcpy(handle, &text, sizeof(text));
  *connection = nullptr;
  if (text.dials >= 3 && listener->second->accept_calls >= 2) {
    auto end = std::make_unique<End>(End{listener->second->pipe, true, 0});
    *connection = end.get();
    ends_.insert(std::move(end));
    ++calls_.open_connections;
  }
  return kNcclSuccess;
}

NcclResult FakeNet::accept(void* listener, void** connection) {
  const std::lock_guard lock(mutex_);
  auto& waiting = *static_cast<Listener*>(listener);
  *connection = nullptr;
  if (!waiting.dialled || misdeed_ == Misdeed::kNeverAccepts || ++waiting.accept_calls < 2) {
    return kNcclSuccess;
  }
  auto end = std::make_unique<End>(End{waiting.pipe, false, 0});
  *connection = end.get();
  ends_.insert(std::move(end));
  ++calls_.open_connections;
  return kNcclSuccess;
}

NcclResult FakeNet::reg_mr(void* connection, int type, void** registration) {
  const std::lock_guard lock(mutex_);
  (type == kNcclPointerHost ? calls_.host_registrations : calls_.gpu_registrations) += 1;
  if (type == kNcclPointerCuda && !takes_gpu_memory) {
    violation("CUDA memory where the device takes none");
  }
  ++calls_.open_registrations;
  ++static_cast<End*>(connection)->registrations;
  *registration = connection;
  return kNcclSuccess;
}

NcclResult FakeNet::dereg_mr(void* connection, void* registration) {
  const std::lock_guard lock(mutex_);
  if (registration == nullptr) {
    return kNcclSuccess;
  }
  if (registration != connection) {
    violation("deregMr of a registration of another connection");
  }
  --calls_.open_registrations;
  --static_cast<End*>(connection)->registrations;
  return kNcclSuccess;
}

NcclResult FakeNet::isend(void* connection, void* data, size_t size, int tag, void* registration,
                          void** request) {
  std::unique_lock lock(mutex_);
  if (registration != connection) {
    violation("isend without the connection's registration");
  }
  const uint64_t number = messages_;
  if (misbehaves(Misdeed::kFails, number)) {
    return kNcclRemoteError;
  }
  if (misbehaves(Misdeed::kBlocks, number)) {
    released_condition_.wait(lock, [this] { return released_; });
    return kNcclRemoteError;
  }
  if (misbehaves(Misdeed::kForgetsRequest, number)) {
    return kNcclSuccess;
  }
  *request = nullptr;
  const auto pipe = static_cast<End*>(connection)->pipe;
  if (pipe->open.empty() || misbehaves(Misdeed::kRefuses, number)) {
    return kNcclSuccess;
  }
  const std::shared_ptr<Receive> oldest = pipe->open.front();
  const auto buffer = std::ranges::find_if(
      oldest->buffers, [&](const Buffer& b) { return !b.taken && b.tag == tag; });
  if (buffer == oldest->buffers.end()) {
    return kNcclSuccess;
  }
  buffer->taken = true;
  if (std::ranges::all_of(oldest->buffers, [](const Buffer& b) { return b.taken; })) {
    pipe->open.pop_front();
  }
  auto send = std::make_shared<Request>();
  send->sizes = {static_cast<int>(size)};
  pipe->copies.push_back({number, static_cast<const std::byte*>(data), size, oldest,
                          static_cast<size_t>(buffer - oldest->buffers.begin()), send});
  *request = keep(send);
  pipe_of_request_[*request] = pipe;
  number_of_request_[*request] = number;
  ++messages_;
  return kNcclSuccess;
}

NcclResult FakeNet::irecv(void* connection, int n, void** data, const size_t* sizes,
                          const int* tags, void** request) {
  const std::lock_guard lock(mutex_);
  auto made = std::make_shared<Request>();
  made->kind = Request::Kind::kReceive;
  made->hinted = reinterpret_cast<uintptr_t>(*request) == kNcclNetOptionalReceiveCompletion;
  made->sizes.resize(static_cast<size_t>(n));
  calls_.hints += made->hinted ? 1 : 0;
  calls_.largest_group = std::max(calls_.largest_group, n);
  auto receive = std::make_shared<Receive>();
  receive->request = made;
  for (int i = 0; i < n; ++i) {
    receive->buffers.push_back({static_cast<std::byte*>(data[i]), sizes[i], tags[i], false});
  }
  const auto pipe = static_cast<End*>(connection)->pipe;
  pipe->open.push_back(receive);
  ++pipe->outstanding_receives;
  calls_.most_outstanding_receives =
      std::max(calls_.most_outstanding_receives, pipe->outstanding_receives);
  *request = keep(made);
  pipe_of_request_[*request] = pipe;
  return kNcclSuccess;
}

NcclResult FakeNet::iflush(void* connection, void** request) {
  const std::lock_guard lock(mutex_);
  ++calls_.flushes;
  auto made = std::make_shared<Request>();
  made->kind = Request::Kind::kFlush;
  made->done = misdeed_ != Misdeed::kNeverFlushes;
  *request = keep(made);
  pipe_of_request_[*request] = static_cast<End*>(connection)->pipe;
  return kNcclSuccess;
}

void FakeNet::put(const Copy& copy, Buffer& buffer) {
  const size_t bytes = std::min(copy.bytes, buffer.size);
  std::copy_n(copy.from, bytes, buffer.data);
#ifdef __SANITIZE_THREAD__
  __tsan_release(buffer.data);  // to a receiver that looks at the data and at nothing else
#endif
  Request& receive = *copy.receive->request;
  receive.sizes[copy.buffer] = static_cast<int>(bytes);
  if (misbehaves(Misdeed::kWrongByte, copy.number) && bytes > 0) {
    buffer.data[bytes / 2] ^= std::byte{0x40};
  }
  if (misbehaves(Misdeed::kWritesBehind, copy.number)) {
    buffer.data[bytes] = std::byte{0x22};
  }
  if (misbehaves(Misdeed::kWrongSize, copy.number)) {
    ++receive.sizes[copy.buffer];
  }
}

void FakeNet::deliver(const Copy& copy) {
  Receive& receive = *copy.receive;
  if (!misbehaves(Misdeed::kLoses, copy.number)) {
    put(copy, receive.buffers[copy.buffer]);
    ++receive.request->arrived;
  }
  receive.request->done = receive.request->arrived == static_cast<int>(receive.buffers.size());
  copy.send->done = !misbehaves(Misdeed::kNeverSent, copy.number);
}

// Everything isend took up to a message, in order.
void FakeNet::move_data(Pipe& pipe, uint64_t up_to_number) {
  while (!pipe.copies.empty() && pipe.copies.front().number <= up_to_number) {
    Copy copy = pipe.copies.front();
    if (misbehaves(Misdeed::kSendsEarly, copy.number) && !copy.send->done) {
      copy.send->done = true;  // its data moves with the next message's
      return;
    }
    if (misbehaves(Misdeed::kSwaps, copy.number) && pipe.copies.size() < 2) {
      return;  // until there is a next one
    }
    if (misbehaves(Misdeed::kSwaps, copy.number)) {
      std::swap(pipe.copies[0].from, pipe.copies[1].from);
      std::swap(pipe.copies[0].bytes, pipe.copies[1].bytes);
      up_to_number = std::max(up_to_number, copy.number + 1);
      copy = pipe.copies.front();
    }
    if (misbehaves(Misdeed::kDoubles, copy.number) && !pipe.open.empty()) {
      // The next receive is used up by the same bytes.
      const std::shared_ptr<Receive> next = pipe.open.front();
      pipe.open.pop_front();
      deliver({copy.number + (uint64_t{1} << 40), copy.from, copy.bytes, next, 0, copy.send});
    }
    if (misbehaves(Misdeed::kWritesLate, copy.number)) {
      pipe.late_target = copy.receive->buffers[copy.buffer].data;
      pipe.late_bytes = std::min(copy.bytes, copy.receive->buffers[copy.buffer].size);
      pipe.late_request = copy.receive->request.get();
    }
    pipe.copies.pop_front();
    deliver(copy);
  }
}

// The buffer's owner has it back.
void FakeNet::write_late(Pipe& pipe, const void* request) {
  if (pipe.late_target != nullptr && pipe.late_request == request) {
    std::fill_n(pipe.late_target, pipe.late_bytes, std::byte{0x11});
    pipe.late_target = nullptr;
  }
}

NcclResult FakeNet::test(void* request, int* done, int* sizes) {
  const std::lock_guard lock(mutex_);
  const auto found = requests_.find(request);
  if (found == requests_.end()) {
    violation("test of something that is no request");
    return kNcclInvalidArgument;
  }
  const std::shared_ptr<Request> tested = found->second;
  Pipe& pipe = *pipe_of_request_[request];
  if (tested->kind == Request::Kind::kSend) {
    const uint64_t number = number_of_request_[request];
    if (misbehaves(Misdeed::kForgetsDone, number)) {
      return kNcclSuccess;
    }
    move_data(pipe, number);
  }
  const bool early = tested->kind == Request::Kind::kReceive &&
                     (tested->hinted || misdeed_ == Misdeed::kReceivesEarly);
  *done = tested->done || early ? 1 : 0;
  if (*done == 0) {
    return kNcclSuccess;
  }
  if (sizes != nullptr) {
    std::ranges::copy(tested->sizes, sizes);
  }
  if (tested->kind == Request::Kind::kReceive) {
    --pipe.outstanding_receives;
  }
  requests_.erase(request);
  return kNcclSuccess;
}

NcclResult FakeNet::close(void* connection, bool sends) {
  const std::lock_guard lock(mutex_);
  const auto end = std::ranges::find_if(
      ends_, [&](const std::unique_ptr<End>& e) { return e.get() == connection; });
  if (end == ends_.end() || (*end)->sends != sends) {
    violation("close of something else");
    return kNcclInvalidArgument;
  }
  if ((*end)->registrations != 0) {
    violation("close before deregMr");
  }
  ends_.erase(end);
  --calls_.open_connections;
  return kNcclSuccess;
}

NcclResult FakeNet::close_listen(void* listener) {
  const std::lock_guard lock(mutex_);
  --calls_.open_listeners;
  // Kept: the sender need not have finished.
  static_cast<Listener*>(listener)->dialled = true;
  return kNcclSuccess;
}

}  // namespace rocelane::nccl_host
