#pragma once

#include <cerrno>

#include <pthread.h>

namespace rocelane::softverbs {

// A mutex between processes that survives the death of its holder. What it guards is then possibly
// half changed; everything in a run that belongs to a dead process is given up anyway, and the rest
// tolerates a lost update.
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

  void lock() {
    if (pthread_mutex_lock(&mutex_) == EOWNERDEAD) {
      pthread_mutex_consistent(&mutex_);
    }
  }
  bool try_lock() {
    const int error = pthread_mutex_trylock(&mutex_);
    if (error == EOWNERDEAD) {
      pthread_mutex_consistent(&mutex_);
    }
    return error == 0 || error == EOWNERDEAD;
  }
  void unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_;
  bool initialised_;
};

}  // namespace rocelane::softverbs
