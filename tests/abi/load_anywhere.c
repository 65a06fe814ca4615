// Needs no RDMA device: loads the library as NCCL does and checks what every machine can check. The
// device filter names nothing that exists, so that init must fail on machines with devices, too.
//
//   load_anywhere LIBRARY

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "any_table.h"
#include "process_facts.h"
#include "test_log.h"

static int g_failures;

__attribute__((format(printf, 2, 3))) static void expect(bool condition, const char* format, ...) {
  if (condition) {
    return;
  }
  ++g_failures;
  va_list arguments;
  va_start(arguments, format);
  printf("FAILED: ");
  vprintf(format, arguments);
  printf("\n");
  va_end(arguments);
}

static void expect_refused(int version, const char* what, NcclResult result) {
  expect(result == kNcclInvalidArgument, "v%d: %s gave %d, not invalid argument", version, what,
         (int)result);
  expect(strstr(test_log_last_warning(), "called") != NULL,
         "v%d: %s was refused without a sentence", version, what);
  test_log_reset();
}

static void refuse_wrong_arguments(const AnyTable* net) {
  const int v = net->version;
  char byte = 0;
  _Alignas(16) char object[16] = {0};  // as a stale pointer would look
  void* data[9] = {&byte};
  size_t sizes[9] = {1};
  int int_sizes[9] = {1};
  int tags[9] = {0};
  void* registrations[9] = {object};
  void* request = NULL;
  void* out = NULL;
  int done = 0;
  void* garbage = object;
  void* hint = (void*)kNcclNetOptionalReceiveCompletion;
  NcclNetPropertiesV12 properties;
  test_log_reset();
  expect_refused(v, "isend without a connection", net->isend(NULL, &byte, 1, 0, garbage, &request));
  expect_refused(v, "isend on garbage", net->isend(garbage, &byte, 1, 0, garbage, &request));
  expect_refused(v, "irecv without a connection",
                 net->irecv(NULL, 1, data, sizes, tags, registrations, &request));
  expect_refused(v, "iflush without a connection",
                 net->iflush(NULL, 1, data, int_sizes, registrations, &request));
  expect_refused(v, "test of NULL", net->test(NULL, &done, NULL));
  expect_refused(v, "test of the hint", net->test(hint, &done, NULL));
  expect_refused(v, "accept on NULL", net->accept(NULL, &out, NULL));
  expect_refused(v, "regMr without a connection",
                 net->regMr(NULL, &byte, 1, kNcclPointerHost, &out));
  expect_refused(v, "regMr without an answer",
                 net->regMr(garbage, &byte, 1, kNcclPointerHost, NULL));
  expect_refused(v, "regMrDmaBuf of no descriptor",
                 net->regMrDmaBuf(garbage, &byte, 1, kNcclPointerCuda, 0, -1, &out));
  expect_refused(v, "deregMr of garbage", net->deregMr(garbage, garbage));
  expect_refused(v, "closeSend of garbage", net->closeSend(garbage));
  expect_refused(v, "closeRecv of garbage", net->closeRecv(garbage));
  expect_refused(v, "closeListen of garbage", net->closeListen(garbage));
  expect_refused(v, "devices without an answer", net->devices(NULL));
  expect_refused(v, "getProperties without an answer", net->getProperties(0, NULL));
  if (v != 12) {  // the adapters of the others read into a structure of their own
    return;
  }
  expect_refused(v, "getProperties of a device below zero", net->getProperties(-1, &properties));
}

static void close_nothing(const AnyTable* net) {
  expect(net->deregMr(NULL, NULL) == kNcclSuccess, "v%d: deregMr of NULL failed", net->version);
  expect(net->closeSend(NULL) == kNcclSuccess, "v%d: closeSend of NULL failed", net->version);
  expect(net->closeRecv(NULL) == kNcclSuccess, "v%d: closeRecv of NULL failed", net->version);
  expect(net->closeListen(NULL) == kNcclSuccess, "v%d: closeListen of NULL failed", net->version);
  if (net->has_contexts) {  // NCCL finalizes what a failed init left
    const int warnings = test_log_warnings();
    expect(net->finalize(NULL) == kNcclSuccess && test_log_warnings() == warnings,
           "v%d: finalize of NULL is not silent", net->version);
  }
}

static void fail_to_open(const AnyTable* net) {
  const ProcessFacts before = process_facts();
  void* context = &context;
  test_log_reset();
  const NcclResult result = net->init(&context, NULL, test_log);
  expect(result != kNcclSuccess, "v%d: init succeeded without a device", net->version);
  expect(test_log_warnings() == 1, "v%d: init failed with %d warnings, not one", net->version,
         test_log_warnings());
  expect(strlen(test_log_last_warning()) > 20, "v%d: init failed with '%s', which is no sentence",
         net->version, test_log_last_warning());
  printf("v%d init: %s\n", net->version, test_log_last_warning());
  if (!process_facts_are_back(before, "a failed init")) {
    ++g_failures;
  }
  int count = -1;
  expect(net->devices(&count) == kNcclSuccess && count == 0,
         "v%d: there are %d devices after a failed init", net->version, count);
  if (net->has_contexts) {
    expect(context == NULL, "v%d: a failed init left a context", net->version);
    const NcclNetCommConfig config = {256};
    test_log_reset();
    expect(net->init(&context, &config, test_log) == kNcclInvalidArgument,
           "v%d: init took a traffic class of 256", net->version);
    expect(strstr(test_log_last_warning(), "256") != NULL, "v%d: '%s' does not name the value",
           net->version, test_log_last_warning());
  }
  expect(net->init(&context, NULL, NULL) != kNcclSuccess,
         "v%d: init without a log function succeeded", net->version);
  char handle[kNcclNetHandleBytes] = {0};
  void* listener = NULL;
  expect(net->init(&context, NULL, test_log) != kNcclSuccess, "v%d: init succeeded", net->version);
  test_log_reset();
  expect_refused(net->version, "listen before init succeeded",
                 net->listen(NULL, 0, handle, &listener));
}

static void check_optional_members(void* library) {
  const NcclNetV12* newest = dlsym(library, "ncclNetPlugin_v12");
  NcclNetVDevicePropsV12 members = {2, {0, 1}};
  int device = -1;
  test_log_reset();
  expect(newest != NULL && newest->makeVDevice != NULL &&
             newest->makeVDevice(&device, &members) != kNcclSuccess && device == -1,
         "v12 joins devices although there are none");
  NcclNetAttrV12 attributes;
  memset(&attributes, 0xFF, sizeof(attributes));
  expect(newest != NULL && newest->setNetAttr != NULL &&
             newest->setNetAttr(NULL, &attributes) == kNcclSuccess,
         "v12 does not take attributes");
}

static void one_load(const char* path) {
  const ProcessFacts before = process_facts();
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  expect(library != NULL, "dlopen: %s", library == NULL ? dlerror() : "");
  if (library == NULL) {
    return;
  }
  for (int version = kOldestVersion; version <= kNewestVersion; ++version) {
    char symbol[32];
    snprintf(symbol, sizeof(symbol), "ncclNetPlugin_v%d", version);
    const void* found = dlsym(library, symbol);
    expect(found != NULL, "%s is not exported", symbol);
    AnyTable net;
    if (found == NULL || !any_table_read(version, found, &net)) {
      continue;
    }
    expect(net.missing == NULL, "v%d: %s is NULL", version, net.missing);
    expect(strcmp(net.name, "Rocelane") == 0, "v%d is called %s", version, net.name);
    if (net.missing != NULL) {
      continue;
    }
    fail_to_open(&net);
    refuse_wrong_arguments(&net);
    close_nothing(&net);
  }
  check_optional_members(library);
  expect(dlclose(library) == 0, "dlclose failed");
  expect(dlopen(path, RTLD_NOW | RTLD_NOLOAD) == NULL, "the library stayed after dlclose");
  if (!process_facts_are_back(before, "dlclose")) {
    ++g_failures;
  }
}

int main(int argc, char** argv) {
  if (argc != 2) {
    printf("usage: load_anywhere LIBRARY\n");
    return 2;
  }
  setenv("ROCELANE_DEVICES", "=no_such_device", 1);
  for (int round = 0; round < 3; ++round) {
    one_load(argv[1]);
  }
  printf("%d failures\n", g_failures);
  return g_failures == 0 ? 0 : 1;
}
