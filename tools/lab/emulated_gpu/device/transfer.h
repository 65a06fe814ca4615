#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "device/arithmetic.h"
#include "device/fifo.h"
#include "device/move.h"

namespace rocelane::lab {

// The user's memory that a leg reads and writes.
struct UserBuffers {
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
};

// How a protocol cuts the chunk of one move into slices.
struct Slicing {
  size_t slices = 1;
  size_t smallest = 0;  // elements
};

enum class Progress : uint8_t { kWaiting, kMoved, kFinished };

// One leg under way. Never waits: advance() does one slice if its data and its room are there.
class Transfer {
 public:
  static constexpr size_t kMaxPeers = 3;

  Transfer(std::vector<Move> moves, const UserBuffers& buffers, const Arithmetic& arithmetic,
           const Slicing& slicing, std::vector<std::unique_ptr<Inlet>> inlets,
           std::vector<std::unique_ptr<Outlet>> outlets);

  Progress advance();

 private:
  bool is_ready(const Move& move, size_t bytes);
  void move_slice(const Move& move, size_t elements);
  bool is_drained();

  std::vector<Move> moves_;
  UserBuffers buffers_;
  Arithmetic arithmetic_;
  Slicing slicing_;
  std::vector<std::unique_ptr<Inlet>> inlets_;
  std::vector<std::unique_ptr<Outlet>> outlets_;
  size_t current_ = 0;  // move
  size_t slice_ = 0;    // of the current move
  size_t done_ = 0;     // elements of the current move
};

}  // namespace rocelane::lab
