// NCCL waits by asking again and again, because on a real machine every rank has cores of its own.
// Where many ranks share few, those that wait keep the one that could go on from running: 16 ranks
// on two cores do not get anywhere. So a thread that has asked in vain a few times in a row sleeps.
// ROCELANE_LAB_NAP_US says for how long; without it nothing changes.

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STANDS_IN extern "C" __attribute__((visibility("default")))

namespace {

constexpr int kTriesBeforeANap = 16;

long read_nap_ns() {
  constexpr long kMostMicroseconds = 100'000;
  const char* text = std::getenv("ROCELANE_LAB_NAP_US");
  const long microseconds = text != nullptr ? std::strtol(text, nullptr, 10) : 0;
  return std::clamp(microseconds, 0L, kMostMicroseconds) * 1000;
}

// 0: nobody ever naps.
long nap_ns() {
  static const long nap = read_nap_ns();
  return nap;
}

void nap() {
  const int kept = errno;
  const timespec time{.tv_sec = 0, .tv_nsec = nap_ns()};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
  errno = kept;
}

// How often in a row a thread has asked in vain.
class Tries {
 public:
  void vain() {
    if (++count_ >= kTriesBeforeANap) {
      count_ = 0;
      nap();
    }
  }
  void success() { count_ = 0; }

 private:
  int count_ = 0;
};

constinit thread_local Tries yields, questions;

bool is_shorter_than_a_nap(const timespec& time) {
  return time.tv_sec == 0 && time.tv_nsec >= 0 && time.tv_nsec < nap_ns();
}

static_assert(EAGAIN == EWOULDBLOCK);

// A socket has been asked; errno is as that left it.
void note_answer(bool came) {
  if (nap_ns() == 0) {
    return;
  }
  if (!came && errno == EAGAIN) {
    questions.vain();
  } else {
    questions.success();
  }
}

}  // namespace

STANDS_IN int sched_yield() noexcept {
  if (nap_ns() == 0) {
    return static_cast<int>(::syscall(SYS_sched_yield));
  }
  yields.vain();
  return 0;
}

STANDS_IN int nanosleep(const timespec* time, timespec* left) {
  if (time != nullptr && is_shorter_than_a_nap(*time)) {
    nap();
    return 0;
  }
  // Returns its error instead of setting it.
  const int error = ::clock_nanosleep(CLOCK_REALTIME, 0, time, left);
  if (error == 0) {
    return 0;
  }
  errno = error;
  return -1;
}

STANDS_IN ssize_t recv(int socket, void* buffer, size_t length, int flags) {
  const ssize_t received = ::recvfrom(socket, buffer, length, flags, nullptr, nullptr);
  note_answer(received >= 0);
  return received;
}

STANDS_IN int accept(int socket, sockaddr* peer, socklen_t* length) {
  const int connection = ::accept4(socket, peer, length, 0);
  note_answer(connection >= 0);
  return connection;
}
