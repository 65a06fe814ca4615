#pragma once

// What every NCCL plugin interface shares: result codes, the log and profiler callbacks, constants.
//
// The headers in this folder restate a binary interface (x86-64 and other LP64 machines), for C11
// and C++. Types only. Member names are NCCL's, so that they can be looked up; type names are ours,
// so that both can be included in one file. Sizes and offsets were checked against NCCL 2.28.9
// and 2.30.7 and are asserted here: they can never change, NCCL adds a new version instead.

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define NCCL_PLUGIN_SIZE(type, bytes) \
  static_assert(sizeof(type) == (bytes), #type " has another size than NCCL's")
#define NCCL_PLUGIN_OFFSET(type, member, bytes) \
  static_assert(offsetof(type, member) == (bytes), #type "." #member " is not where NCCL has it")

static_assert(sizeof(void*) == 8 && sizeof(size_t) == 8 && sizeof(int) == 4 && sizeof(long) == 8,
              "NCCL's plugin interface is only known for LP64 machines");

typedef enum {
  kNcclSuccess = 0,
  kNcclUnhandledCudaError = 1,
  kNcclSystemError = 2,
  kNcclInternalError = 3,
  kNcclInvalidArgument = 4,
  kNcclInvalidUsage = 5,
  kNcclRemoteError = 6,
  kNcclInProgress = 7,
} NcclResult;
NCCL_PLUGIN_SIZE(NcclResult, 4);

typedef enum {
  kNcclLogNone = 0,
  kNcclLogVersion = 1,
  kNcclLogWarn = 2,
  kNcclLogInfo = 3,
  kNcclLogAbort = 4,
  kNcclLogTrace = 5,
} NcclLogLevel;
NCCL_PLUGIN_SIZE(NcclLogLevel, 4);

// Subsystems, combined in `flags`. NCCL drops every line, warnings included, whose flags share no
// bit with NCCL_DEBUG_SUBSYS; its default lets kNcclLogInit pass and kNcclLogNet not.
static const unsigned long kNcclLogInit = 0x1;
static const unsigned long kNcclLogNet = 0x10;
static const unsigned long kNcclLogAll = ~0UL;

// `format` is printf's.
typedef void (*NcclLogFunction)(NcclLogLevel level, unsigned long flags, const char* file, int line,
                                const char* format, ...);

enum {
  kNcclProfilerStart = 0,
  kNcclProfilerStop = 1,
  kNcclProfilerUpdate = 2,
  kNcclProfilerUpdateAndStop = 3,
};
typedef NcclResult (*NcclProfilerCallback)(void** event, int type, void* parent, int64_t plugin_id,
                                           void* payload);

// ptrSupport is a set of these; regMr's `type` is one of the first two.
enum {
  kNcclPointerHost = 1,
  kNcclPointerCuda = 2,
  kNcclPointerDmaBuf = 4,
};

enum {
  kNcclNetHandleBytes = 128,  // what listen may fill
  kNcclNetMaxRequests = 32,   // outstanding per connection; a grouped receive is one
  kNcclNetUndefined = -1,     // trafficClass, railId, planeId, attributes
};

// The largest maxP2pBytes and maxCollBytes NCCL accepts; zero is refused as well.
static const uint64_t kNcclNetMaxBytes = 1ULL << 40;

// irecv finds this in *request when the receiving GPU does not need the completion (LL, LL128): a
// hint, not a pointer.
static const uintptr_t kNcclNetOptionalReceiveCompletion = 0x1;

typedef enum {
  kNcclNetDeviceHost = 0,    // the CPU drives the network
  kNcclNetDeviceUnpack = 1,  // the GPU unpacks what arrives
} NcclNetDeviceType;
NCCL_PLUGIN_SIZE(NcclNetDeviceType, 4);

// Device offload; the same in every version. Host networks leave it alone.
typedef struct {
  NcclNetDeviceType netDeviceType;
  int netDeviceVersion;
  void* handle;
  size_t size;
  int needsProxyProgress;
} NcclNetDeviceHandle;
NCCL_PLUGIN_SIZE(NcclNetDeviceHandle, 32);
NCCL_PLUGIN_OFFSET(NcclNetDeviceHandle, netDeviceVersion, 4);
NCCL_PLUGIN_OFFSET(NcclNetDeviceHandle, handle, 8);
NCCL_PLUGIN_OFFSET(NcclNetDeviceHandle, size, 16);
NCCL_PLUGIN_OFFSET(NcclNetDeviceHandle, needsProxyProgress, 24);

// A communicator's settings; the same in v10, v11 and v12.
typedef struct {
  int trafficClass;  // kNcclNetUndefined when the application did not choose
} NcclNetCommConfig;
NCCL_PLUGIN_SIZE(NcclNetCommConfig, 4);
