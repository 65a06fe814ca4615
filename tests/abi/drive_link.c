#define _GNU_SOURCE
#include "drive_link.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double g_deadline_s = 30;
double g_longest_set_up_s;

static const unsigned char kUntouched = 0xA5;

bool failed(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  printf("FAILED: ");
  vprintf(format, arguments);
  printf("\n");
  va_end(arguments);
  return false;
}

bool succeeded(const Link* link, const char* call, NcclResult result) {
  return result == kNcclSuccess ||
         failed("v%d %s from device %d to %d returned %d", link->net->version, call, link->from,
                link->to, (int)result);
}

double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void note_set_up(double start) {
  const double took = now_s() - start;
  if (took > g_longest_set_up_s) {
    g_longest_set_up_s = took;
  }
}

bool link_connect(Link* link) {
  const AnyTable* net = link->net;
  char handle[kNcclNetHandleBytes] = {0};
  void* listener = NULL;
  if (!succeeded(link, "listen", net->listen(link->context, link->to, handle, &listener))) {
    return false;
  }
  if (listener == NULL) {
    return failed("v%d listen succeeded without a listener", net->version);
  }
  const NcclNetCommConfig config = {kNcclNetUndefined};
  const double start = now_s();
  while (link->sender == NULL || link->receiver == NULL) {
    if (now_s() - start > g_deadline_s) {
      return failed("v%d connect from device %d to %d is not done after %.0f s: %s%s is missing",
                    net->version, link->from, link->to, g_deadline_s,
                    link->sender == NULL ? "sender " : "",
                    link->receiver == NULL ? "receiver" : "");
    }
    const double call = now_s();
    if (link->sender == NULL &&
        !succeeded(link, "connect",
                   net->connect(link->context, &config, link->from, handle, &link->sender))) {
      return false;
    }
    if (link->receiver == NULL) {
      NcclNetDeviceHandle* offload = NULL;
      if (!succeeded(link, "accept", net->accept(listener, &link->receiver, &offload))) {
        return false;
      }
      if (link->receiver != NULL && !succeeded(link, "closeListen", net->closeListen(listener))) {
        return false;
      }
    }
    note_set_up(call);
  }
  return true;
}

bool link_register(Link* link, size_t bytes) {
  link->bytes = bytes;
  // Odd addresses: nothing NCCL hands over has to start on a page.
  link->out = malloc(bytes + 1);
  link->in = malloc(bytes + 1);
  if (link->out == NULL || link->in == NULL) {
    return failed("no memory for two buffers of %zu bytes", bytes);
  }
  ++link->out;
  ++link->in;
  return succeeded(link, "regMr",
                   link->net->regMr(link->sender, link->out, bytes, kNcclPointerHost,
                                    &link->out_registration)) &&
         succeeded(link, "regMr",
                   link->net->regMr(link->receiver, link->in, bytes, kNcclPointerHost,
                                    &link->in_registration));
}

bool link_deregister(Link* link) {
  const bool ok =
      succeeded(link, "deregMr", link->net->deregMr(link->sender, link->out_registration)) &&
      succeeded(link, "deregMr", link->net->deregMr(link->receiver, link->in_registration));
  free(link->out - 1);
  free(link->in - 1);
  link->out_registration = NULL;
  link->in_registration = NULL;
  link->out = NULL;
  link->in = NULL;
  return ok;
}

bool link_close(Link* link) {
  const bool ok = succeeded(link, "closeSend", link->net->closeSend(link->sender)) &&
                  succeeded(link, "closeRecv", link->net->closeRecv(link->receiver));
  link->sender = NULL;
  link->receiver = NULL;
  return ok;
}

Group even_group(int n, size_t bytes) {
  Group group = {.n = n};
  for (int i = 0; i < n; ++i) {
    group.receive_bytes[i] = bytes;
    group.send_bytes[i] = bytes;
    group.tags[i] = 1000 + i;
    group.send_order[i] = i;
  }
  return group;
}

// Where a group is and what of it is under way.
typedef struct {
  size_t offsets[kMostBuffers];
  void* receive;
  bool received;
  int sizes[kMostBuffers + 1];
  int sends_started;
  void* sends[kMostBuffers];
  int sent_sizes[kMostBuffers];
} Progress;

static unsigned char byte_at(const Link* link, size_t offset) {
  const size_t mixed = offset * 2654435761U + link->salt * 40503U;
  return (unsigned char)(mixed ^ (mixed >> 13));
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

// Buffers follow each other with guards between them; a send may need more room than its receive.
static bool lay_out(const Link* link, const Group* groups, int count, Progress* progress) {
  size_t next = kGuardBytes;
  for (int g = 0; g < count; ++g) {
    for (int i = 0; i < groups[g].n; ++i) {
      progress[g].offsets[i] = next;
      next += larger(groups[g].receive_bytes[i], groups[g].send_bytes[i]) + kGuardBytes;
    }
  }
  if (next > link->bytes) {
    return failed("the test needs %zu bytes of memory but has %zu", next, link->bytes);
  }
  memset(link->in, kUntouched, next);
  for (size_t i = 0; i < next; ++i) {
    link->out[i] = byte_at(link, i);
  }
  return true;
}

static bool start_receive(const Link* link, const Group* group, Progress* progress) {
  void* data[kMostBuffers];
  size_t sizes[kMostBuffers];
  int tags[kMostBuffers];
  void* registrations[kMostBuffers];
  for (int i = 0; i < group->n; ++i) {
    data[i] = link->in + progress->offsets[i];
    sizes[i] = group->receive_bytes[i];
    tags[i] = group->tags[i];
    registrations[i] = link->in_registration;
  }
  // What NCCL leaves there: a request that is long gone. Not its hint: then the request may end
  // before the data are there.
  progress->receive = (void*)(uintptr_t)0xDEADBEEF;
  return succeeded(link, "irecv",
                   link->net->irecv(link->receiver, group->n, data, sizes, tags, registrations,
                                    &progress->receive));
}

static bool start_next_send(const Link* link, const Group* group, Progress* progress) {
  const int i = group->send_order[progress->sends_started];
  void* request = (void*)(uintptr_t)0xDEADBEEF;
  if (!succeeded(
          link, "isend",
          link->net->isend(link->sender, link->out + progress->offsets[i], group->send_bytes[i],
                           group->tags[i], link->out_registration, &request))) {
    return false;
  }
  if (request != NULL) {
    progress->sends[i] = request;
    ++progress->sends_started;
  }
  return true;
}

static bool test_sends(const Link* link, const Group* group, Progress* progress, bool no_sizes) {
  for (int i = 0; i < group->n; ++i) {
    int done = -1;
    if (progress->sends[i] == NULL) {
      continue;
    }
    if (!succeeded(link, "test",
                   link->net->test(progress->sends[i], &done,
                                   no_sizes ? NULL : &progress->sent_sizes[i]))) {
      return false;
    }
    if (done != 0) {
      progress->sends[i] = NULL;
    }
  }
  return true;
}

static bool test_receive(const Link* link, Progress* progress, bool no_sizes) {
  int done = -1;
  if (progress->receive == NULL || progress->received) {
    return true;
  }
  if (!succeeded(link, "test",
                 link->net->test(progress->receive, &done, no_sizes ? NULL : progress->sizes))) {
    return false;
  }
  progress->received = done != 0;
  return true;
}

static bool flush_group(const Link* link, const Group* group, Progress* progress) {
  void* data[kMostBuffers];
  int sizes[kMostBuffers];
  void* registrations[kMostBuffers];
  for (int i = 0; i < group->n; ++i) {
    data[i] = link->in + progress->offsets[i];
    sizes[i] = (int)group->receive_bytes[i];
    registrations[i] = link->in_registration;
  }
  void* request = (void*)(uintptr_t)0xDEADBEEF;
  if (!succeeded(
          link, "iflush",
          link->net->iflush(link->receiver, group->n, data, sizes, registrations, &request))) {
    return false;
  }
  const double start = now_s();
  int done = request == NULL;
  while (done == 0) {
    if (now_s() - start > g_deadline_s) {
      return failed("v%d a flush is not done after %.0f s", link->net->version, g_deadline_s);
    }
    if (!succeeded(link, "test", link->net->test(request, &done, NULL))) {
      return false;
    }
  }
  return true;
}

static bool check_buffer(const Link* link, const Group* group, const Progress* progress, int i,
                         bool no_sizes) {
  const size_t offset = progress->offsets[i];
  const size_t expected = smaller(group->receive_bytes[i], group->send_bytes[i]);
  const size_t until = larger(group->receive_bytes[i], group->send_bytes[i]) + kGuardBytes;
  if (!no_sizes && progress->sizes[i] != (int)expected) {
    return failed("v%d buffer %d of %d with tag %d got %d bytes, not %zu", link->net->version, i,
                  group->n, group->tags[i], progress->sizes[i], expected);
  }
  for (size_t k = 0; k < until; ++k) {
    const unsigned char wanted = k < expected ? byte_at(link, offset + k) : kUntouched;
    if (link->in[offset + k] != wanted) {
      return failed("v%d byte %zu of buffer %d of %d (%zu received) is %#x, not %#x",
                    link->net->version, k, i, group->n, expected, link->in[offset + k], wanted);
    }
  }
  return true;
}

static bool group_is_done(const Group* group, const Progress* progress) {
  for (int i = 0; i < group->n; ++i) {
    if (progress->sends[i] != NULL) {
      return false;
    }
  }
  return progress->received && progress->sends_started == group->n;
}

// One round over the groups under way, as NCCL's progress thread makes them.
static bool advance(const Link* link, const Group* groups, int first, int last, Progress* progress,
                    Manner manner) {
  for (int g = first; g < last; ++g) {
    if (progress[g].receive == NULL && !start_receive(link, &groups[g], &progress[g])) {
      return false;
    }
    if (progress[g].receive == NULL) {
      break;
    }
  }
  for (int g = first; g < last; ++g) {
    while (progress[g].sends_started < groups[g].n) {
      const int before = progress[g].sends_started;
      if (!start_next_send(link, &groups[g], &progress[g])) {
        return false;
      }
      if (progress[g].sends_started == before) {
        break;
      }
    }
    if (progress[g].sends_started < groups[g].n) {
      break;  // later sends with the same tags must not overtake
    }
  }
  for (int g = first; g < last; ++g) {
    const bool had = progress[g].received;
    if (!test_sends(link, &groups[g], &progress[g], manner.no_sizes) ||
        !test_receive(link, &progress[g], manner.no_sizes)) {
      return false;
    }
    if (manner.flush && !had && progress[g].received &&
        !flush_group(link, &groups[g], &progress[g])) {
      return false;
    }
  }
  return true;
}

bool link_exchange(Link* link, const Group* groups, int count, Manner manner) {
  Progress progress[kMostGroups];
  if (count > kMostGroups) {
    return failed("the test has %d groups but room for %d", count, kMostGroups);
  }
  memset(progress, 0, sizeof(progress));
  ++link->salt;
  if (!lay_out(link, groups, count, progress)) {
    return false;
  }
  for (int attempt = 0; manner.send_early && progress[0].sends_started == 0 && attempt < 100;
       ++attempt) {
    if (!start_next_send(link, &groups[0], &progress[0])) {
      return false;
    }
  }
  const double start = now_s();
  int first = 0;
  while (first < count) {
    const int last = first + manner.window < count ? first + manner.window : count;
    if (!advance(link, groups, first, last, progress, manner)) {
      return false;
    }
    while (first < last && group_is_done(&groups[first], &progress[first])) {
      ++first;
    }
    if (now_s() - start > g_deadline_s) {
      return failed("v%d group %d of %d (n=%d) is not done after %.0f s: %d sends started, %s",
                    link->net->version, first, count, groups[first].n, g_deadline_s,
                    progress[first].sends_started,
                    progress[first].received ? "received" : "not received");
    }
  }
  for (int g = 0; g < count; ++g) {
    for (int i = 0; i < groups[g].n; ++i) {
      if (!check_buffer(link, &groups[g], &progress[g], i, manner.no_sizes)) {
        return false;
      }
    }
  }
  return true;
}
