#pragma once

// A pair of connected ends in one process, and messages over it.

#include <stdbool.h>
#include <stddef.h>

#include "any_table.h"

enum { kMostBuffers = 8, kMostGroups = 64, kGuardBytes = 64 };

typedef struct {
  const AnyTable* net;
  void* context;
  int from;
  int to;
  void* sender;
  void* receiver;
  unsigned char* out;
  unsigned char* in;
  size_t bytes;  // of each arena
  void* out_registration;
  void* in_registration;
  unsigned salt;  // changes what is sent, so that old bytes are not taken for new ones
} Link;

// A grouped receive and the sends that fill it. `send_order` permutes 0..n-1.
typedef struct {
  int n;
  size_t receive_bytes[kMostBuffers];
  size_t send_bytes[kMostBuffers];
  int tags[kMostBuffers];
  int send_order[kMostBuffers];
} Group;

typedef struct {
  int window;       // groups under way at once
  bool no_sizes;    // test() gets NULL
  bool send_early;  // ask for the first send before its receive is there
  bool flush;       // after each receive
} Manner;

// Prints "FAILED: ..." and returns false, so that a step can end with it.
__attribute__((format(printf, 1, 2))) bool failed(const char* format, ...);
bool succeeded(const Link* link, const char* call, NcclResult result);

double now_s(void);
extern double g_deadline_s;        // for every wait
extern double g_longest_set_up_s;  // the longest single connect or accept seen

// Listens, then connects and accepts in turns until both ends are there; closes the listener as
// NCCL does. `link` needs net, context, from and to.
bool link_connect(Link* link);
bool link_register(Link* link, size_t bytes);
bool link_deregister(Link* link);
bool link_close(Link* link);

// Moves every group and checks each byte, each size and the bytes around.
bool link_exchange(Link* link, const Group* groups, int count, Manner manner);

// A group of `n` whose buffers have the given size, sent in order.
Group even_group(int n, size_t bytes);
