#pragma once

#include <atomic>
#include <cerrno>
#include <utility>

#include <pthread.h>

namespace rocelane::softverbs {

// Keeps stores in their order: a process may be killed between any two of them, and what they say
// is read by those who live on.
inline void in_this_order() { std::atomic_signal_fence(std::memory_order_seq_cst); }

// A mutex between processes that survives the death of its holder. What it guards is then possibly
// half changed: whoever guards more with it than survives that asks for the damage.
class RobustMutex {
 public:
  // Once for all owners of a slot: somebody who looked at an earlier one may still be about to lock
  // it.
  void initialise() {
    if (initialised_) {
      return;
    }
    initialised_ = true;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex_, &attributes);
    pthread_mutexattr_destroy(&attributes);
  }

  void lock() { survive(pthread_mutex_lock(&mutex_)); }
  bool try_lock() { return survive(pthread_mutex_trylock(&mutex_)); }
  void unlock() { pthread_mutex_unlock(&mutex_); }

  // Whether a holder has died since this was last asked. The caller holds the mutex.
  bool take_damage() { return std::exchange(damaged_, false); }

 private:
  // Whether the mutex is held now.
  bool survive(int error) {
    if (error == EOWNERDEAD) {
      pthread_mutex_consistent(&mutex_);
      damaged_ = true;
    }
    return error == 0 || error == EOWNERDEAD;
  }

  pthread_mutex_t mutex_;
  bool initialised_;
  bool damaged_;
};

}  // namespace rocelane::softverbs
