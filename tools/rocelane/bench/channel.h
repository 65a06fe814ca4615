#pragma once

// Lines of JSON between the program and a worker process, one at a time each way.

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace rocelane::bench {

// One end of a stream socket.
class Channel {
 public:
  explicit Channel(FileDescriptor socket) : socket_(std::move(socket)) {}

  // False: the other end is gone.
  bool send(const nlohmann::json& message);
  // Waits. None: the other end is gone, or a signal was caught.
  std::optional<nlohmann::json> receive();

  int descriptor() const { return socket_.get(); }
  void close() { socket_ = FileDescriptor(); }

 private:
  FileDescriptor socket_;
  std::string received_;  // of the next line
};

}  // namespace rocelane::bench
