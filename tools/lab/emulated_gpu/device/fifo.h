#pragma once

#include <cstddef>

namespace rocelane::lab {

// The two ends of a connection as a work sees them, whatever the protocol. Nothing here waits: the
// questions are asked again until they are answered with yes. Destruction records where the next
// work on the connection starts.

class Inlet {
 public:
  Inlet() = default;
  Inlet(const Inlet&) = delete;
  Inlet& operator=(const Inlet&) = delete;
  virtual ~Inlet() = default;

  // Whether the next slice, of `bytes` bytes, is here.
  virtual bool has_arrived(size_t bytes) = 0;
  // The slice's bytes, valid until release(); nullptr: the network wrote them in place.
  virtual const std::byte* data() = 0;
  // Gives the slice's space back to the sender.
  virtual void release() = 0;
};

class Outlet {
 public:
  Outlet() = default;
  Outlet(const Outlet&) = delete;
  Outlet& operator=(const Outlet&) = delete;
  virtual ~Outlet() = default;

  // Whether there is room for the next slice, of `bytes` bytes.
  virtual bool has_room(size_t bytes) = 0;
  // Where the slice's bytes go; nullptr: the network reads them in place.
  virtual std::byte* space() = 0;
  // Hands the slice to the receiver.
  virtual void publish() = 0;
  // Whether the work may end: nothing reads the user's memory any more.
  virtual bool is_drained() { return true; }
};

}  // namespace rocelane::lab
