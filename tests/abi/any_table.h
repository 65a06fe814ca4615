#pragma once

// One view of the tables v8 to v12 for a test that drives them all: the newest shape, whatever the
// version does with it. What a version has no room for (a context, a traffic class, sizes beyond
// int) is left out.

#include <stdbool.h>

#include "nccl_plugin/net_v10.h"
#include "nccl_plugin/net_v11.h"
#include "nccl_plugin/net_v12.h"
#include "nccl_plugin/net_v8.h"
#include "nccl_plugin/net_v9.h"

typedef struct {
  int version;
  bool has_contexts;          // v11 and newer: init and finalize once a communicator
  bool connect_takes_config;  // v10
  const char* name;
  NcclResult (*init)(void** context, const NcclNetCommConfig* config, NcclLogFunction log);
  NcclResult (*devices)(int* count);
  NcclResult (*getProperties)(int device, NcclNetPropertiesV12* properties);
  NcclResult (*listen)(void* context, int device, void* handle, void** listener);
  NcclResult (*connect)(void* context, const NcclNetCommConfig* config, int device, void* handle,
                        void** connection);
  NcclResult (*accept)(void* listener, void** connection, NcclNetDeviceHandle** offload);
  NcclResult (*regMr)(void* connection, void* data, size_t size, int type, void** registration);
  NcclResult (*regMrDmaBuf)(void* connection, void* data, size_t size, int type, uint64_t offset,
                            int descriptor, void** registration);
  NcclResult (*deregMr)(void* connection, void* registration);
  NcclResult (*isend)(void* connection, void* data, size_t size, int tag, void* registration,
                      void** request);
  NcclResult (*irecv)(void* connection, int n, void** data, size_t* sizes, int* tags,
                      void** registrations, void** request);
  NcclResult (*iflush)(void* connection, int n, void** data, int* sizes, void** registrations,
                       void** request);
  NcclResult (*test)(void* request, int* done, int* sizes);
  NcclResult (*closeSend)(void* connection);
  NcclResult (*closeRecv)(void* connection);
  NcclResult (*closeListen)(void* listener);
  NcclResult (*finalize)(void* context);
  const char*
      missing;  // a member NCCL calls without asking that is NULL, or NULL when all are there
} AnyTable;

enum { kOldestVersion = 8, kNewestVersion = 12 };

// `symbol` is what dlsym found for ncclNetPlugin_v<version>. False for a version this test does not
// know.
bool any_table_read(int version, const void* symbol, AnyTable* table);
