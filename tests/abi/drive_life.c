#include <string.h>

#include "drive_steps.h"
#include "test_log.h"

static Link link_like(const Link* model) {
  Link link = {.net = model->net, .context = model->context, .from = model->from, .to = model->to};
  return link;
}

// NCCL's service thread sets up many channels at once, the far end in whatever order it likes.
static bool several_at_once(Link* model) {
  enum { kCount = 4 };
  const AnyTable* net = model->net;
  const NcclNetCommConfig config = {kNcclNetUndefined};
  char handles[kCount][kNcclNetHandleBytes];
  void* listeners[kCount] = {NULL};
  void* senders[kCount] = {NULL};
  void* receivers[kCount] = {NULL};
  for (int i = 0; i < kCount; ++i) {
    if (!succeeded(model, "listen",
                   net->listen(model->context, model->to, handles[i], &listeners[i]))) {
      return false;
    }
  }
  const double start = now_s();
  int missing = 2 * kCount;
  while (missing > 0) {
    if (now_s() - start > g_deadline_s) {
      return failed("v%d %d of %d ends are not there after %.0f s", net->version, missing,
                    2 * kCount, g_deadline_s);
    }
    missing = 0;
    for (int i = 0; i < kCount; ++i) {
      const int far = kCount - 1 - i;
      NcclNetDeviceHandle* offload = NULL;
      if (senders[i] == NULL &&
          !succeeded(model, "connect",
                     net->connect(model->context, &config, model->from, handles[i], &senders[i]))) {
        return false;
      }
      if (receivers[far] == NULL &&
          !succeeded(model, "accept", net->accept(listeners[far], &receivers[far], &offload))) {
        return false;
      }
      missing += (senders[i] == NULL) + (receivers[far] == NULL);
    }
  }
  for (int i = 0; i < kCount; ++i) {
    if (!succeeded(model, "closeRecv", net->closeRecv(receivers[i])) ||
        !succeeded(model, "closeListen", net->closeListen(listeners[i])) ||
        !succeeded(model, "closeSend", net->closeSend(senders[i]))) {
      return false;
    }
  }
  return true;
}

static bool both_directions(Link* model) {
  Link there = link_like(model);
  Link back = link_like(model);
  back.from = model->to;
  back.to = model->from;
  if (!link_connect(&there) || !link_connect(&back) || !link_register(&there, 1 << 16) ||
      !link_register(&back, 1 << 16)) {
    return false;
  }
  const Group group = even_group(1, 512);
  for (int round = 0; round < 30; ++round) {
    if (!link_exchange(&there, &group, 1, (Manner){.window = 1}) ||
        !link_exchange(&back, &group, 1, (Manner){.window = 1})) {
      return false;
    }
  }
  return link_deregister(&there) && link_close(&back) && link_close(&there) &&
         link_deregister(&back);
}

static bool listener_nobody_met(Link* model) {
  char handle[kNcclNetHandleBytes];
  void* listener = NULL;
  return succeeded(model, "listen",
                   model->net->listen(model->context, model->to, handle, &listener)) &&
         succeeded(model, "closeListen", model->net->closeListen(listener));
}

// An abort during set-up: neither end ever gets its connection, so nobody closes one.
static bool abandoned_connect(Link* model) {
  const NcclNetCommConfig config = {kNcclNetUndefined};
  char handle[kNcclNetHandleBytes];
  void* listener = NULL;
  void* sender = NULL;
  if (!succeeded(model, "listen",
                 model->net->listen(model->context, model->to, handle, &listener))) {
    return false;
  }
  for (int call = 0; call < 3 && sender == NULL; ++call) {
    if (!succeeded(model, "connect",
                   model->net->connect(model->context, &config, model->from, handle, &sender))) {
      return false;
    }
  }
  if (sender != NULL) {
    return failed("v%d connect finished although nobody accepted", model->net->version);
  }
  return succeeded(model, "closeListen", model->net->closeListen(listener));
}

// ncclCommAbort closes whatever is under way, in either order.
static bool close_under_way(Link* model, bool sender_first) {
  Link link = link_like(model);
  if (!link_connect(&link) || !link_register(&link, 4 << 20)) {
    return false;
  }
  void* requests[9];
  size_t sizes[1] = {1 << 20};
  int tags[1] = {5};
  void* data[1] = {link.in};
  for (int i = 0; i < 3; ++i) {
    if (!succeeded(&link, "irecv",
                   link.net->irecv(link.receiver, 1, data, sizes, tags, &link.in_registration,
                                   &requests[i]))) {
      return false;
    }
  }
  const double start = now_s();
  void* send = NULL;
  while (send == NULL) {
    if (!succeeded(&link, "isend",
                   link.net->isend(link.sender, link.out, sizes[0], tags[0], link.out_registration,
                                   &send))) {
      return false;
    }
    if (now_s() - start > g_deadline_s) {
      return failed("v%d no send was possible for %.0f s", link.net->version, g_deadline_s);
    }
  }
  if (sender_first) {
    return succeeded(&link, "closeSend", link.net->closeSend(link.sender)) &&
           succeeded(&link, "closeRecv", link.net->closeRecv(link.receiver)) &&
           link_deregister(&link);
  }
  return succeeded(&link, "closeRecv", link.net->closeRecv(link.receiver)) &&
         succeeded(&link, "closeSend", link.net->closeSend(link.sender)) && link_deregister(&link);
}

static bool close_sender_under_way(Link* model) { return close_under_way(model, true); }
static bool close_receiver_under_way(Link* model) { return close_under_way(model, false); }

static bool refused(const Link* link, const char* what, NcclResult result) {
  if (result != kNcclInvalidArgument) {
    return failed("v%d %s returned %d, not invalid argument", link->net->version, what,
                  (int)result);
  }
  if (test_log_last_warning()[0] == '\0') {
    return failed("v%d %s was refused without a word", link->net->version, what);
  }
  test_log_reset();
  return true;
}

static bool wrong_arguments(Link* model) {
  Link link = link_like(model);
  if (!link_connect(&link) || !link_register(&link, 4096)) {
    return false;
  }
  const AnyTable* net = link.net;
  void* request = NULL;
  void* registration = NULL;
  void* data[9] = {link.in, link.in, link.in, link.in, link.in, link.in, link.in, link.in, link.in};
  size_t sizes[9] = {0};
  int tags[9] = {0};
  void* registrations[9] = {NULL};
  int negative[1] = {-1};
  test_log_reset();
  const bool ok =
      refused(&link, "a send on a receive connection",
              net->isend(link.receiver, link.out, 8, 0, link.out_registration, &request)) &&
      refused(&link, "a send without a registration",
              net->isend(link.sender, link.out, 8, 0, NULL, &request)) &&
      refused(&link, "a send from NULL",
              net->isend(link.sender, NULL, 8, 0, link.out_registration, &request)) &&
      refused(&link, "a receive of no buffer",
              net->irecv(link.receiver, 0, data, sizes, tags, registrations, &request)) &&
      refused(&link, "a receive of nine buffers",
              net->irecv(link.receiver, 9, data, sizes, tags, registrations, &request)) &&
      refused(&link, "a receive without tags",
              net->irecv(link.receiver, 1, data, sizes, NULL, registrations, &request)) &&
      refused(&link, "a flush of a negative size",
              net->iflush(link.receiver, 1, data, negative, &link.in_registration, &request)) &&
      refused(&link, "a registration of an unknown type",
              net->regMr(link.sender, link.out, 8, 7, &registration)) &&
      refused(&link, "closeRecv of a sender", net->closeRecv(link.sender)) &&
      refused(&link, "getProperties of device 1000",
              net->getProperties(1000, &(NcclNetPropertiesV12){0}));
  const Group group = even_group(1, 100);
  return ok && link_exchange(&link, &group, 1, (Manner){.window = 1}) && link_deregister(&link) &&
         link_close(&link);
}

static bool bad_traffic_class(Link* model) {
  const NcclNetCommConfig config = {300};
  test_log_reset();
  if (model->net->has_contexts) {
    void* context = NULL;
    return refused(model, "init with traffic class 300",
                   model->net->init(&context, &config, test_log));
  }
  if (!model->net->connect_takes_config) {
    return true;
  }
  char handle[kNcclNetHandleBytes];
  void* listener = NULL;
  void* sender = NULL;
  return succeeded(model, "listen",
                   model->net->listen(model->context, model->to, handle, &listener)) &&
         refused(model, "connect with traffic class 300",
                 model->net->connect(model->context, &config, model->from, handle, &sender)) &&
         succeeded(model, "closeListen", model->net->closeListen(listener));
}

// What ends one communicator must not touch another.
static bool second_context(Link* model) {
  if (!model->net->has_contexts) {
    return model->net->init(NULL, NULL, test_log) == kNcclSuccess ||
           failed("v%d a second init failed", model->net->version);
  }
  const NcclNetCommConfig config = {104};
  Link link = link_like(model);
  if (!succeeded(model, "init", model->net->init(&link.context, &config, test_log)) ||
      !link_connect(&link) || !link_register(&link, 1 << 16)) {
    return false;
  }
  const Group group = even_group(2, 777);
  return link_exchange(&link, &group, 1, (Manner){.window = 1}) && link_deregister(&link) &&
         link_close(&link) && succeeded(&link, "finalize", model->net->finalize(link.context));
}

static bool nothing_to_deregister(Link* model) {
  return succeeded(model, "deregMr of NULL", model->net->deregMr(NULL, NULL));
}

const Step kLifeSteps[] = {
    {"four connections set up at once", several_at_once},
    {"both directions", both_directions},
    {"a listener nobody met", listener_nobody_met},
    {"a connect nobody accepted", abandoned_connect},
    {"sender closed with requests under way", close_sender_under_way},
    {"receiver closed with requests under way", close_receiver_under_way},
    {"wrong arguments are refused and harm nothing", wrong_arguments},
    {"a traffic class of 300 is refused", bad_traffic_class},
    {"a second communicator comes and goes", second_context},
    {"deregMr of NULL", nothing_to_deregister},
};
const int kLifeStepCount = (int)(sizeof(kLifeSteps) / sizeof(kLifeSteps[0]));
