#pragma once

namespace rocelane::lab {

// What a thread does while nothing moves. It yields at once, since the machine may have a single
// core that its peers and proxies need, and soon sleeps.
class Patience {
 public:
  void reset() { idle_rounds_ = 0; }
  void pause();

 private:
  int idle_rounds_ = 0;
};

}  // namespace rocelane::lab
