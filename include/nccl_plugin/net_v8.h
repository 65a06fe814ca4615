#pragma once

// ncclNetPlugin_v8: NCCL 2.20 to 2.23 ask for it first. Message sizes are int.

#include "nccl_plugin/common.h"

typedef struct {
  char* name;
  char* pciPath;
  uint64_t guid;
  int ptrSupport;
  int regIsGlobal;
  int speed;  // Mbit/s
  int port;
  float latency;  // microseconds
  int maxComms;
  int maxRecvs;
  NcclNetDeviceType netDeviceType;
  int netDeviceVersion;
} NcclNetPropertiesV8;
NCCL_PLUGIN_SIZE(NcclNetPropertiesV8, 64);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV8, name, 0);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV8, pciPath, 8);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV8, guid, 16);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV8, ptrSupport, 24);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV8, regIsGlobal, 28);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV8, speed, 32);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV8, port, 36);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV8, latency, 40);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV8, maxComms, 44);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV8, maxRecvs, 48);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV8, netDeviceType, 52);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV8, netDeviceVersion, 56);

typedef struct {
  const char* name;
  NcclResult (*init)(NcclLogFunction log);
  NcclResult (*devices)(int* count);
  NcclResult (*getProperties)(int device, NcclNetPropertiesV8* properties);
  NcclResult (*listen)(int device, void* handle, void** listener);
  NcclResult (*connect)(int device, void* handle, void** connection, NcclNetDeviceHandle** offload);
  NcclResult (*accept)(void* listener, void** connection, NcclNetDeviceHandle** offload);
  NcclResult (*regMr)(void* connection, void* data, size_t size, int type, void** registration);
  NcclResult (*regMrDmaBuf)(void* connection, void* data, size_t size, int type, uint64_t offset,
                            int descriptor, void** registration);
  NcclResult (*deregMr)(void* connection, void* registration);
  NcclResult (*isend)(void* connection, void* data, int size, int tag, void* registration,
                      void** request);
  NcclResult (*irecv)(void* connection, int n, void** data, int* sizes, int* tags,
                      void** registrations, void** request);
  NcclResult (*iflush)(void* connection, int n, void** data, int* sizes, void** registrations,
                       void** request);
  NcclResult (*test)(void* request, int* done, int* sizes);
  NcclResult (*closeSend)(void* connection);
  NcclResult (*closeRecv)(void* connection);
  NcclResult (*closeListen)(void* listener);
  NcclResult (*getDeviceMr)(void* connection, void* registration, void** device_registration);
  NcclResult (*irecvConsumed)(void* connection, int n, void* request);
} NcclNetV8;
NCCL_PLUGIN_SIZE(NcclNetV8, 152);
NCCL_PLUGIN_OFFSET(NcclNetV8, name, 0);
NCCL_PLUGIN_OFFSET(NcclNetV8, init, 8);
NCCL_PLUGIN_OFFSET(NcclNetV8, devices, 16);
NCCL_PLUGIN_OFFSET(NcclNetV8, getProperties, 24);
NCCL_PLUGIN_OFFSET(NcclNetV8, listen, 32);
NCCL_PLUGIN_OFFSET(NcclNetV8, connect, 40);
NCCL_PLUGIN_OFFSET(NcclNetV8, accept, 48);
NCCL_PLUGIN_OFFSET(NcclNetV8, regMr, 56);
NCCL_PLUGIN_OFFSET(NcclNetV8, regMrDmaBuf, 64);
NCCL_PLUGIN_OFFSET(NcclNetV8, deregMr, 72);
NCCL_PLUGIN_OFFSET(NcclNetV8, isend, 80);
NCCL_PLUGIN_OFFSET(NcclNetV8, irecv, 88);
NCCL_PLUGIN_OFFSET(NcclNetV8, iflush, 96);
NCCL_PLUGIN_OFFSET(NcclNetV8, test, 104);
NCCL_PLUGIN_OFFSET(NcclNetV8, closeSend, 112);
NCCL_PLUGIN_OFFSET(NcclNetV8, closeRecv, 120);
NCCL_PLUGIN_OFFSET(NcclNetV8, closeListen, 128);
NCCL_PLUGIN_OFFSET(NcclNetV8, getDeviceMr, 136);
NCCL_PLUGIN_OFFSET(NcclNetV8, irecvConsumed, 144);
