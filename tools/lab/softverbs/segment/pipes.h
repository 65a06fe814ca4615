#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/file_descriptor.h"

namespace rocelane::softverbs {

// The pipes of a run, each with one reader, written to by any process of it: named ones in the
// run's folder, or, of a run within one process, unnamed ones. What is written at once arrives as a
// whole. Thread-safe.
class Pipes {
 public:
  Pipes() = default;
  explicit Pipes(std::string folder);

  // The reading end, which the caller owns; -1 and errno.
  int make(const char* kind, uint32_t slot);
  void write(const char* kind, uint32_t slot, const void* data, size_t bytes);
  void remove(const char* kind, uint32_t slot);

 private:
  static FileDescriptor open_for_writing(const std::string& path);
  std::string path_of(const char* kind, uint32_t slot) const;

  std::string folder_;
  FileDescriptor spare_;  // given up for a moment when the program has no descriptor left
  std::map<std::pair<std::string, uint32_t>, int> writing_ends_;  // of unnamed pipes
};

}  // namespace rocelane::softverbs
