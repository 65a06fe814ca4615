#pragma once

// ncclNetPlugin_v12: NCCL 2.30 and newer ask for it first; the newest known. Virtual devices may
// have eight members, and a device can say which rail and plane it belongs to.

#include "nccl_plugin/common.h"
#include "nccl_plugin/net_v11.h"

typedef struct {
  int ndevs;
  int devs[8];
} NcclNetVDevicePropsV12;
NCCL_PLUGIN_SIZE(NcclNetVDevicePropsV12, 36);
NCCL_PLUGIN_OFFSET(NcclNetVDevicePropsV12, devs, 4);

typedef NcclNetAttrV11 NcclNetAttrV12;

typedef struct {
  char* name;
  char* pciPath;
  uint64_t guid;
  int ptrSupport;
  int regIsGlobal;
  int forceFlush;
  int speed;  // Mbit/s
  int port;
  float latency;  // microseconds
  int maxComms;
  int maxRecvs;
  NcclNetDeviceType netDeviceType;
  int netDeviceVersion;
  NcclNetVDevicePropsV12 vProps;
  size_t maxP2pBytes;
  size_t maxCollBytes;
  int maxMultiRequestSize;
  int16_t railId;
  int16_t planeId;
} NcclNetPropertiesV12;
NCCL_PLUGIN_SIZE(NcclNetPropertiesV12, 128);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV12, name, 0);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV12, pciPath, 8);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV12, guid, 16);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV12, ptrSupport, 24);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV12, regIsGlobal, 28);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV12, forceFlush, 32);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV12, speed, 36);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV12, port, 40);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV12, latency, 44);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV12, maxComms, 48);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV12, maxRecvs, 52);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV12, netDeviceType, 56);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV12, netDeviceVersion, 60);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV12, vProps, 64);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV12, maxP2pBytes, 104);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV12, maxCollBytes, 112);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV12, maxMultiRequestSize, 120);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV12, railId, 124);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV12, planeId, 126);

typedef struct {
  const char* name;
  NcclResult (*init)(void** context, uint64_t communicator_id, NcclNetCommConfig* config,
                     NcclLogFunction log, NcclProfilerCallback profiler);
  NcclResult (*devices)(int* count);
  NcclResult (*getProperties)(int device, NcclNetPropertiesV12* properties);
  NcclResult (*listen)(void* context, int device, void* handle, void** listener);
  NcclResult (*connect)(void* context, int device, void* handle, void** connection,
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
  NcclResult (*makeVDevice)(int* device, NcclNetVDevicePropsV12* members);
  NcclResult (*finalize)(void* context);
  NcclResult (*setNetAttr)(void* context, NcclNetAttrV12* attributes);
} NcclNetV12;
NCCL_PLUGIN_SIZE(NcclNetV12, 176);
NCCL_PLUGIN_OFFSET(NcclNetV12, name, 0);
NCCL_PLUGIN_OFFSET(NcclNetV12, init, 8);
NCCL_PLUGIN_OFFSET(NcclNetV12, devices, 16);
NCCL_PLUGIN_OFFSET(NcclNetV12, getProperties, 24);
NCCL_PLUGIN_OFFSET(NcclNetV12, listen, 32);
NCCL_PLUGIN_OFFSET(NcclNetV12, connect, 40);
NCCL_PLUGIN_OFFSET(NcclNetV12, accept, 48);
NCCL_PLUGIN_OFFSET(NcclNetV12, regMr, 56);
NCCL_PLUGIN_OFFSET(NcclNetV12, regMrDmaBuf, 64);
NCCL_PLUGIN_OFFSET(NcclNetV12, deregMr, 72);
NCCL_PLUGIN_OFFSET(NcclNetV12, isend, 80);
NCCL_PLUGIN_OFFSET(NcclNetV12, irecv, 88);
NCCL_PLUGIN_OFFSET(NcclNetV12, iflush, 96);
NCCL_PLUGIN_OFFSET(NcclNetV12, test, 104);
NCCL_PLUGIN_OFFSET(NcclNetV12, closeSend, 112);
NCCL_PLUGIN_OFFSET(NcclNetV12, closeRecv, 120);
NCCL_PLUGIN_OFFSET(NcclNetV12, closeListen, 128);
NCCL_PLUGIN_OFFSET(NcclNetV12, getDeviceMr, 136);
NCCL_PLUGIN_OFFSET(NcclNetV12, irecvConsumed, 144);
NCCL_PLUGIN_OFFSET(NcclNetV12, makeVDevice, 152);
NCCL_PLUGIN_OFFSET(NcclNetV12, finalize, 160);
NCCL_PLUGIN_OFFSET(NcclNetV12, setNetAttr, 168);
