#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace rocelane::nccl_host {

// Chance by seed. The same on every machine, which the standard's distributions do not promise.
class SeededRandom {
 public:
  explicit SeededRandom(uint64_t seed) : engine_(seed) {}

  // 0 … bound - 1; bound > 0.
  uint64_t below(uint64_t bound) { return engine_() % bound; }
  bool one_in(uint64_t n) { return below(n) == 0; }
  uint64_t between(uint64_t first, uint64_t last) { return first + below(last - first + 1); }

  template <class T>
  void shuffle(std::vector<T>& items) {
    for (size_t left = items.size(); left > 1; --left) {
      std::swap(items[left - 1], items[below(left)]);
    }
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace rocelane::nccl_host
