#pragma once

// ncclNetPlugin_v11: NCCL 2.28 and 2.29 ask for it first. Every communicator gets a context of its
// own, from init to finalize, and its settings move from connect to init.

#include "nccl_plugin/common.h"
#include "nccl_plugin/net_v9.h"

typedef NcclNetVDevicePropsV9 NcclNetVDevicePropsV11;

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
  NcclNetVDevicePropsV11 vProps;
  size_t maxP2pBytes;
  size_t maxCollBytes;
  int maxMultiRequestSize;
} NcclNetPropertiesV11;
NCCL_PLUGIN_SIZE(NcclNetPropertiesV11, 112);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV11, name, 0);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV11, pciPath, 8);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV11, guid, 16);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV11, ptrSupport, 24);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV11, regIsGlobal, 28);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV11, forceFlush, 32);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV11, speed, 36);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV11, port, 40);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV11, latency, 44);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV11, maxComms, 48);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV11, maxRecvs, 52);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV11, netDeviceType, 56);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV11, netDeviceVersion, 60);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV11, vProps, 64);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV11, maxP2pBytes, 88);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV11, maxCollBytes, 96);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV11, maxMultiRequestSize, 104);

typedef struct {
  int32_t maxConcurrentPeers;
  int32_t minConcurrentPeers;
  int32_t maxFlowsPerPeer;
  int32_t minFlowsPerPeer;
} NcclNetCommAttrV11;
NCCL_PLUGIN_SIZE(NcclNetCommAttrV11, 16);
NCCL_PLUGIN_OFFSET(NcclNetCommAttrV11, maxConcurrentPeers, 0);
NCCL_PLUGIN_OFFSET(NcclNetCommAttrV11, minConcurrentPeers, 4);
NCCL_PLUGIN_OFFSET(NcclNetCommAttrV11, maxFlowsPerPeer, 8);
NCCL_PLUGIN_OFFSET(NcclNetCommAttrV11, minFlowsPerPeer, 12);

// What NCCL is about to do with a context. Bit masks with every bit set, and numbers of -1, mean
// unknown.
typedef struct {
  NcclNetCommAttrV11 sendCommAttr;
  NcclNetCommAttrV11 recvCommAttr;
  uint32_t op;
  uint32_t algo;
  uint32_t proto;
} NcclNetAttrV11;
NCCL_PLUGIN_SIZE(NcclNetAttrV11, 44);
NCCL_PLUGIN_OFFSET(NcclNetAttrV11, sendCommAttr, 0);
NCCL_PLUGIN_OFFSET(NcclNetAttrV11, recvCommAttr, 16);
NCCL_PLUGIN_OFFSET(NcclNetAttrV11, op, 32);
NCCL_PLUGIN_OFFSET(NcclNetAttrV11, algo, 36);
NCCL_PLUGIN_OFFSET(NcclNetAttrV11, proto, 40);

typedef struct {
  const char* name;
  NcclResult (*init)(void** context, uint64_t communicator_id, NcclNetCommConfig* config,
                     NcclLogFunction log, NcclProfilerCallback profiler);
  NcclResult (*devices)(int* count);
  NcclResult (*getProperties)(int device, NcclNetPropertiesV11* properties);
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
  NcclResult (*makeVDevice)(int* device, NcclNetVDevicePropsV11* members);
  NcclResult (*finalize)(void* context);
  NcclResult (*setNetAttr)(void* context, NcclNetAttrV11* attributes);
} NcclNetV11;
NCCL_PLUGIN_SIZE(NcclNetV11, 176);
NCCL_PLUGIN_OFFSET(NcclNetV11, name, 0);
NCCL_PLUGIN_OFFSET(NcclNetV11, init, 8);
NCCL_PLUGIN_OFFSET(NcclNetV11, devices, 16);
NCCL_PLUGIN_OFFSET(NcclNetV11, getProperties, 24);
NCCL_PLUGIN_OFFSET(NcclNetV11, listen, 32);
NCCL_PLUGIN_OFFSET(NcclNetV11, connect, 40);
NCCL_PLUGIN_OFFSET(NcclNetV11, accept, 48);
NCCL_PLUGIN_OFFSET(NcclNetV11, regMr, 56);
NCCL_PLUGIN_OFFSET(NcclNetV11, regMrDmaBuf, 64);
NCCL_PLUGIN_OFFSET(NcclNetV11, deregMr, 72);
NCCL_PLUGIN_OFFSET(NcclNetV11, isend, 80);
NCCL_PLUGIN_OFFSET(NcclNetV11, irecv, 88);
NCCL_PLUGIN_OFFSET(NcclNetV11, iflush, 96);
NCCL_PLUGIN_OFFSET(NcclNetV11, test, 104);
NCCL_PLUGIN_OFFSET(NcclNetV11, closeSend, 112);
NCCL_PLUGIN_OFFSET(NcclNetV11, closeRecv, 120);
NCCL_PLUGIN_OFFSET(NcclNetV11, closeListen, 128);
NCCL_PLUGIN_OFFSET(NcclNetV11, getDeviceMr, 136);
NCCL_PLUGIN_OFFSET(NcclNetV11, irecvConsumed, 144);
NCCL_PLUGIN_OFFSET(NcclNetV11, makeVDevice, 152);
NCCL_PLUGIN_OFFSET(NcclNetV11, finalize, 160);
NCCL_PLUGIN_OFFSET(NcclNetV11, setNetAttr, 168);
