#pragma once

// ncclNetPlugin_v9: NCCL 2.24 and 2.25 ask for it first. Sizes become size_t; virtual devices
// appear.

#include "nccl_plugin/common.h"

// A device made of several; a plain one names itself.
typedef struct {
  int ndevs;
  int devs[4];
} NcclNetVDevicePropsV9;
NCCL_PLUGIN_SIZE(NcclNetVDevicePropsV9, 20);
NCCL_PLUGIN_OFFSET(NcclNetVDevicePropsV9, devs, 4);

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
  NcclNetVDevicePropsV9 vProps;
  size_t maxP2pBytes;
  size_t maxCollBytes;
} NcclNetPropertiesV9;
NCCL_PLUGIN_SIZE(NcclNetPropertiesV9, 104);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV9, name, 0);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV9, pciPath, 8);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV9, guid, 16);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV9, ptrSupport, 24);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV9, regIsGlobal, 28);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV9, forceFlush, 32);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV9, speed, 36);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV9, port, 40);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV9, latency, 44);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV9, maxComms, 48);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV9, maxRecvs, 52);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV9, netDeviceType, 56);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV9, netDeviceVersion, 60);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV9, vProps, 64);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV9, maxP2pBytes, 88);
NCCL_PLUGIN_OFFSET(NcclNetPropertiesV9, maxCollBytes, 96);

typedef struct {
  const char* name;
  NcclResult (*init)(NcclLogFunction log);
  NcclResult (*devices)(int* count);
  NcclResult (*getProperties)(int device, NcclNetPropertiesV9* properties);
  NcclResult (*listen)(int device, void* handle, void** listener);
  NcclResult (*connect)(int device, void* handle, void** connection, NcclNetDeviceHandle** offload);
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
  NcclResult (*getDeviceMr)(void* connection, void* registration, void** device_registration);
  NcclResult (*irecvConsumed)(void* connection, int n, void* request);
  NcclResult (*makeVDevice)(int* device, NcclNetVDevicePropsV9* members);
} NcclNetV9;
NCCL_PLUGIN_SIZE(NcclNetV9, 160);
NCCL_PLUGIN_OFFSET(NcclNetV9, name, 0);
NCCL_PLUGIN_OFFSET(NcclNetV9, init, 8);
NCCL_PLUGIN_OFFSET(NcclNetV9, devices, 16);
NCCL_PLUGIN_OFFSET(NcclNetV9, getProperties, 24);
NCCL_PLUGIN_OFFSET(NcclNetV9, listen, 32);
NCCL_PLUGIN_OFFSET(NcclNetV9, connect, 40);
NCCL_PLUGIN_OFFSET(NcclNetV9, accept, 48);
NCCL_PLUGIN_OFFSET(NcclNetV9, regMr, 56);
NCCL_PLUGIN_OFFSET(NcclNetV9, regMrDmaBuf, 64);
NCCL_PLUGIN_OFFSET(NcclNetV9, deregMr, 72);
NCCL_PLUGIN_OFFSET(NcclNetV9, isend, 80);
NCCL_PLUGIN_OFFSET(NcclNetV9, irecv, 88);
NCCL_PLUGIN_OFFSET(NcclNetV9, iflush, 96);
NCCL_PLUGIN_OFFSET(NcclNetV9, test, 104);
NCCL_PLUGIN_OFFSET(NcclNetV9, closeSend, 112);
NCCL_PLUGIN_OFFSET(NcclNetV9, closeRecv, 120);
NCCL_PLUGIN_OFFSET(NcclNetV9, closeListen, 128);
NCCL_PLUGIN_OFFSET(NcclNetV9, getDeviceMr, 136);
NCCL_PLUGIN_OFFSET(NcclNetV9, irecvConsumed, 144);
NCCL_PLUGIN_OFFSET(NcclNetV9, makeVDevice, 152);
