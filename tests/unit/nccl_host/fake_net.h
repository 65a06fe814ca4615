#pragma once

// A net in memory with tables of every version. It keeps NCCL's rules for plugins, or breaks the
// one it is told to break; and it notes where its caller breaks NCCL's.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "nccl_host/net.h"

namespace rocelane::nccl_host {

enum class Misdeed : uint8_t {
  kNone,
  kWrongByte,       // one byte of the message is another
  kLoses,           // the message is sent and never arrives
  kDoubles,         // it is given to the next receive too
  kSwaps,           // it and the next one arrive in each other's place
  kReceivesEarly,   // its receive is done before its data
  kSendsEarly,      // it is reported sent before it was read
  kWritesLate,      // it is written once more after its receive was done
  kWritesBehind,    // it runs over the end of its buffer
  kWrongSize,       // test reports one byte too many
  kForgetsRequest,  // isend leaves *request alone
  kForgetsDone,     // test leaves *done alone
  kFails,           // isend returns an error
  kBlocks,          // isend does not return until released
  kNeverSent,       // test never says that it is done
  kRefuses,         // isend never takes it
  kNeverAccepts,    // accept never finds anybody
  kNeverFlushes,    // flushes are never done
};

class FakeNet {
 public:
  explicit FakeNet(Misdeed misdeed = Misdeed::kNone, uint64_t at_message = 0);
  ~FakeNet();
  FakeNet(const FakeNet&) = delete;
  FakeNet& operator=(const FakeNet&) = delete;

  // The one fake of the process, behind a table of that version.
  std::unique_ptr<Net> net(int abi);
  static const void* table(int abi);

  // Lets a blocked call return.
  void release();

  // Where the caller broke NCCL's rules.
  std::vector<std::string> violations() const;

  struct Calls {
    int inits = 0;
    int finalizes = 0;
    int listens = 0;
    int open_connections = 0;
    int open_listeners = 0;
    int open_registrations = 0;
    int host_registrations = 0;
    int gpu_registrations = 0;
    int hints = 0;
    int flushes = 0;
    int consumed = 0;
    int attributes = 0;
    int largest_group = 0;
    size_t most_outstanding_receives = 0;
    int last_traffic_class = -2;
  };
  Calls calls() const;

  bool takes_gpu_memory = true;
  int force_flush = 0;
  int device_count = 2;

 private:
  friend struct FakeCalls;
  static FakeNet*& the_fake();

  struct Request {
    enum class Kind : uint8_t { kSend, kReceive, kFlush };
    Kind kind = Kind::kSend;
    bool done = false;
    bool hinted = false;
    std::vector<int> sizes;
    int arrived = 0;
  };
  struct Buffer {
    std::byte* data = nullptr;
    size_t size = 0;
    int tag = 0;
    bool taken = false;
  };
  struct Receive {
    std::shared_ptr<Request> request;
    std::vector<Buffer> buffers;
  };
  struct Copy {
    uint64_t number = 0;
    const std::byte* from = nullptr;
    size_t bytes = 0;
    std::shared_ptr<Receive> receive;
    size_t buffer = 0;
    std::shared_ptr<Request> send;
  };
  struct Pipe {
    std::deque<std::shared_ptr<Receive>> open;  // with buffers nobody sent to yet
    std::deque<Copy> copies;                    // isend took them; the data has not moved
    size_t outstanding_receives = 0;
    std::byte* late_target = nullptr;
    size_t late_bytes = 0;
    const void* late_request = nullptr;
  };
  struct End {
    std::shared_ptr<Pipe> pipe;
    bool sends = false;
    int registrations = 0;
  };
  struct Listener {
    std::shared_ptr<Pipe> pipe;
    bool dialled = false;
    int accept_calls = 0;
  };

  bool misbehaves(Misdeed misdeed, uint64_t message) const {
    return misdeed_ == misdeed && message == at_message_;
  }
  void violation(const std::string& what) { violations_.push_back(what); }
  void* keep(std::shared_ptr<Request> request);
  void deliver(const Copy& copy);
  void put(const Copy& copy, Buffer& buffer);
  static void write_late(Pipe& pipe, const void* request);
  void move_data(Pipe& pipe, uint64_t up_to_number);

  NcclResult init(int traffic_class);
  NcclResult properties(int device, NcclNetPropertiesV12* properties);
  NcclResult listen(void* handle, void** listener);
  NcclResult connect(int traffic_class, void* handle, void** connection);
  NcclResult accept(void* listener, void** connection);
  NcclResult reg_mr(void* connection, int type, void** registration);
  NcclResult dereg_mr(void* connection, void* registration);
  NcclResult isend(void* connection, void* data, size_t size, int tag, void* registration,
                   void** request);
  NcclResult irecv(void* connection, int n, void** data, const size_t* sizes, const int* tags,
                   void** request);
  NcclResult iflush(void* connection, void** request);
  NcclResult test(void* request, int* done, int* sizes);
  NcclResult close(void* connection, bool sends);
  NcclResult close_listen(void* listener);

  const Misdeed misdeed_;
  const uint64_t at_message_;
  mutable std::mutex mutex_;  // guards what follows: any thread calls
  std::condition_variable released_condition_;
  bool released_ = false;
  uint64_t messages_ = 0;  // isend took
  Calls calls_;
  std::vector<std::string> violations_;
  std::map<void*, std::shared_ptr<Request>> requests_;
  std::map<void*, std::shared_ptr<Pipe>> pipe_of_request_;
  std::map<void*, uint64_t> number_of_request_;
  std::set<std::unique_ptr<End>> ends_;
  std::map<uint64_t, std::unique_ptr<Listener>> listeners_;
  uint64_t next_listener_ = 1;
};

}  // namespace rocelane::nccl_host
