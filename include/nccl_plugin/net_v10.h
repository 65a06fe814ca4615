#pragma once

// ncclNetPlugin_v10: NCCL 2.26 and 2.27 ask for it first. The communicator's settings reach
// connect, the profiler callback reaches init, and every operation carries its profiler parent.

#include "nccl_plugin/common.h"
#include "nccl_plugin/net_v9.h"

typedef NcclNetVDevicePropsV9 NcclNetVDevicePropsV10;
typedef NcclNetPropertiesV9 NcclNetPropertiesV10;

typedef struct {
  const char* name;
  NcclResult (*init)(NcclLogFunction log, NcclProfilerCallback profiler);
  NcclResult (*devices)(int* count);
  NcclResult (*getProperties)(int device, NcclNetPropertiesV10* properties);
  NcclResult (*listen)(int device, void* handle, void** listener);
  NcclResult (*connect)(int device, NcclNetCommConfig* config, void* handle, void** connection,
                        NcclNetDeviceHandle** offload);
  NcclResult (*accept)(void* listener, void** connection, NcclNetDeviceHandle** offload);
  NcclResult (*regMr)(void* connection, void* data, size_t size, int type, void** registration);
  NcclResult (*regMrDmaBuf)(void* connection, void* data, size_t size, int type, uint64_t offset,
                            int descriptor, void** registration);
  NcclResult (*deregMr)(void* connection, void* registration);
  NcclResult (*isend)(void* connection, void* data, size_t size, int tag, void* registration,
                      void* profiler_parent, void** request);
  NcclResult (*irecv)(void* connection, int n, void** data, size_t* sizes, int* tags,
                      void** registrations, void** profiler_parents, void** request);
  NcclResult (*iflush)(void* connection, int n, void** data, int* sizes, void** registrations,
                       void** request);
  NcclResult (*test)(void* request, int* done, int* sizes);
  NcclResult (*closeSend)(void* connection);
  NcclResult (*closeRecv)(void* connection);
  NcclResult (*closeListen)(void* listener);
  NcclResult (*getDeviceMr)(void* connection, void* registration, void** device_registration);
  NcclResult (*irecvConsumed)(void* connection, int n, void* request);
  NcclResult (*makeVDevice)(int* device, NcclNetVDevicePropsV10* members);
} NcclNetV10;
NCCL_PLUGIN_SIZE(NcclNetV10, 160);
NCCL_PLUGIN_OFFSET(NcclNetV10, name, 0);
NCCL_PLUGIN_OFFSET(NcclNetV10, init, 8);
NCCL_PLUGIN_OFFSET(NcclNetV10, devices, 16);
NCCL_PLUGIN_OFFSET(NcclNetV10, getProperties, 24);
NCCL_PLUGIN_OFFSET(NcclNetV10, listen, 32);
NCCL_PLUGIN_OFFSET(NcclNetV10, connect, 40);
NCCL_PLUGIN_OFFSET(NcclNetV10, accept, 48);
NCCL_PLUGIN_OFFSET(NcclNetV10, regMr, 56);
NCCL_PLUGIN_OFFSET(NcclNetV10, regMrDmaBuf, 64);
NCCL_PLUGIN_OFFSET(NcclNetV10, deregMr, 72);
NCCL_PLUGIN_OFFSET(NcclNetV10, isend, 80);
NCCL_PLUGIN_OFFSET(NcclNetV10, irecv, 88);
NCCL_PLUGIN_OFFSET(NcclNetV10, iflush, 96);
NCCL_PLUGIN_OFFSET(NcclNetV10, test, 104);
NCCL_PLUGIN_OFFSET(NcclNetV10, closeSend, 112);
NCCL_PLUGIN_OFFSET(NcclNetV10, closeRecv, 120);
NCCL_PLUGIN_OFFSET(NcclNetV10, closeListen, 128);
NCCL_PLUGIN_OFFSET(NcclNetV10, getDeviceMr, 136);
NCCL_PLUGIN_OFFSET(NcclNetV10, irecvConsumed, 144);
NCCL_PLUGIN_OFFSET(NcclNetV10, makeVDevice, 152);
