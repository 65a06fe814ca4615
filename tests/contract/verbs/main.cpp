// The suite, and, when it is started by its own tests, the other process of a connection.

#include <cstdlib>
#include <cstring>

#include <gtest/gtest.h>

#include "peer_process.h"

int main(int count, char** arguments) {
  if (count == 3 && std::strcmp(arguments[1], rocelane::contract::kPeerArgument) == 0) {
    return rocelane::contract::run_peer(std::atoi(arguments[2]));
  }
  testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}
