#include "any_table.h"

static const NcclNetV8* g_v8;
static const NcclNetV9* g_v9;
static const NcclNetV10* g_v10;
static const NcclNetV11* g_v11;
static const NcclNetV12* g_v12;

// Members with the same name and meaning in two structures.
#define COPY_COMMON_PROPERTIES(from, to)              \
  do {                                                \
    (to)->name = (from).name;                         \
    (to)->pciPath = (from).pciPath;                   \
    (to)->guid = (from).guid;                         \
    (to)->ptrSupport = (from).ptrSupport;             \
    (to)->regIsGlobal = (from).regIsGlobal;           \
    (to)->speed = (from).speed;                       \
    (to)->port = (from).port;                         \
    (to)->latency = (from).latency;                   \
    (to)->maxComms = (from).maxComms;                 \
    (to)->maxRecvs = (from).maxRecvs;                 \
    (to)->netDeviceType = (from).netDeviceType;       \
    (to)->netDeviceVersion = (from).netDeviceVersion; \
  } while (0)

#define COPY_V9_PROPERTIES(from, to)              \
  do {                                            \
    COPY_COMMON_PROPERTIES(from, to);             \
    (to)->forceFlush = (from).forceFlush;         \
    (to)->vProps.ndevs = (from).vProps.ndevs;     \
    (to)->vProps.devs[0] = (from).vProps.devs[0]; \
    (to)->maxP2pBytes = (from).maxP2pBytes;       \
    (to)->maxCollBytes = (from).maxCollBytes;     \
  } while (0)

// What the versions without these members leave to NCCL's defaults.
static void undefined_properties(NcclNetPropertiesV12* properties) {
  *properties = (NcclNetPropertiesV12){0};
  properties->vProps.ndevs = 1;
  properties->maxP2pBytes = (size_t)1 << 30;
  properties->maxCollBytes = (size_t)1 << 29;
  properties->maxMultiRequestSize = 1;
  properties->railId = kNcclNetUndefined;
  properties->planeId = kNcclNetUndefined;
}

static NcclResult init_v8(void** context, const NcclNetCommConfig* config, NcclLogFunction log) {
  (void)context;
  (void)config;
  return g_v8->init(log);
}

static NcclResult properties_v8(int device, NcclNetPropertiesV12* properties) {
  NcclNetPropertiesV8 older;
  const NcclResult result = g_v8->getProperties(device, &older);
  if (result == kNcclSuccess) {
    undefined_properties(properties);
    COPY_COMMON_PROPERTIES(older, properties);
    properties->vProps.devs[0] = device;
  }
  return result;
}

static NcclResult listen_v8(void* context, int device, void* handle, void** listener) {
  (void)context;
  return g_v8->listen(device, handle, listener);
}

static NcclResult connect_v8(void* context, const NcclNetCommConfig* config, int device,
                             void* handle, void** connection) {
  (void)context;
  (void)config;
  NcclNetDeviceHandle* offload = NULL;
  return g_v8->connect(device, handle, connection, &offload);
}

static NcclResult isend_v8(void* connection, void* data, size_t size, int tag, void* registration,
                           void** request) {
  return g_v8->isend(connection, data, (int)size, tag, registration, request);
}

static NcclResult irecv_v8(void* connection, int n, void** data, size_t* sizes, int* tags,
                           void** registrations, void** request) {
  int narrow[8] = {0};
  for (int i = 0; i < n && i < 8; ++i) {
    narrow[i] = (int)sizes[i];
  }
  return g_v8->irecv(connection, n, data, narrow, tags, registrations, request);
}

static NcclResult init_v9(void** context, const NcclNetCommConfig* config, NcclLogFunction log) {
  (void)context;
  (void)config;
  return g_v9->init(log);
}

static NcclResult properties_v9(int device, NcclNetPropertiesV12* properties) {
  NcclNetPropertiesV9 older;
  const NcclResult result = g_v9->getProperties(device, &older);
  if (result == kNcclSuccess) {
    undefined_properties(properties);
    COPY_V9_PROPERTIES(older, properties);
  }
  return result;
}

static NcclResult listen_v9(void* context, int device, void* handle, void** listener) {
  (void)context;
  return g_v9->listen(device, handle, listener);
}

static NcclResult connect_v9(void* context, const NcclNetCommConfig* config, int device,
                             void* handle, void** connection) {
  (void)context;
  (void)config;
  NcclNetDeviceHandle* offload = NULL;
  return g_v9->connect(device, handle, connection, &offload);
}

static NcclResult isend_v9(void* connection, void* data, size_t size, int tag, void* registration,
                           void** request) {
  return g_v9->isend(connection, data, size, tag, registration, request);
}

static NcclResult irecv_v9(void* connection, int n, void** data, size_t* sizes, int* tags,
                           void** registrations, void** request) {
  return g_v9->irecv(connection, n, data, sizes, tags, registrations, request);
}

static NcclResult init_v10(void** context, const NcclNetCommConfig* config, NcclLogFunction log) {
  (void)context;
  (void)config;
  return g_v10->init(log, NULL);
}

static NcclResult properties_v10(int device, NcclNetPropertiesV12* properties) {
  NcclNetPropertiesV10 older;
  const NcclResult result = g_v10->getProperties(device, &older);
  if (result == kNcclSuccess) {
    undefined_properties(properties);
    COPY_V9_PROPERTIES(older, properties);
  }
  return result;
}

static NcclResult listen_v10(void* context, int device, void* handle, void** listener) {
  (void)context;
  return g_v10->listen(device, handle, listener);
}

static NcclResult connect_v10(void* context, const NcclNetCommConfig* config, int device,
                              void* handle, void** connection) {
  (void)context;
  NcclNetDeviceHandle* offload = NULL;
  NcclNetCommConfig copy = {kNcclNetUndefined};
  if (config != NULL) {
    copy = *config;
  }
  return g_v10->connect(device, config == NULL ? NULL : &copy, handle, connection, &offload);
}

static NcclResult isend_v10(void* connection, void* data, size_t size, int tag, void* registration,
                            void** request) {
  return g_v10->isend(connection, data, size, tag, registration, NULL, request);
}

static NcclResult irecv_v10(void* connection, int n, void** data, size_t* sizes, int* tags,
                            void** registrations, void** request) {
  return g_v10->irecv(connection, n, data, sizes, tags, registrations, NULL, request);
}

// v11 and v12 differ in the structure getProperties fills and in the size of a virtual device.
#define DEFINE_CONTEXT_VERSION(v, table)                                                      \
  static NcclResult init_##v(void** context, const NcclNetCommConfig* config,                 \
                             NcclLogFunction log) {                                           \
    NcclNetCommConfig copy = {kNcclNetUndefined};                                             \
    if (config != NULL) {                                                                     \
      copy = *config;                                                                         \
    }                                                                                         \
    return table->init(context, 0x1234, config == NULL ? NULL : &copy, log, NULL);            \
  }                                                                                           \
  static NcclResult connect_##v(void* context, const NcclNetCommConfig* config, int device,   \
                                void* handle, void** connection) {                            \
    (void)config;                                                                             \
    NcclNetDeviceHandle* offload = NULL;                                                      \
    return table->connect(context, device, handle, connection, &offload);                     \
  }                                                                                           \
  static NcclResult isend_##v(void* connection, void* data, size_t size, int tag,             \
                              void* registration, void** request) {                           \
    return table->isend(connection, data, size, tag, registration, NULL, request);            \
  }                                                                                           \
  static NcclResult irecv_##v(void* connection, int n, void** data, size_t* sizes, int* tags, \
                              void** registrations, void** request) {                         \
    return table->irecv(connection, n, data, sizes, tags, registrations, NULL, request);      \
  }

DEFINE_CONTEXT_VERSION(v11, g_v11)
DEFINE_CONTEXT_VERSION(v12, g_v12)

static NcclResult properties_v11(int device, NcclNetPropertiesV12* properties) {
  NcclNetPropertiesV11 older;
  const NcclResult result = g_v11->getProperties(device, &older);
  if (result == kNcclSuccess) {
    undefined_properties(properties);
    COPY_V9_PROPERTIES(older, properties);
    properties->maxMultiRequestSize = older.maxMultiRequestSize;
  }
  return result;
}

// In the order of the table. Optional members are not looked at.
#define FIND_MISSING(t)                           \
  ((t)->name == NULL            ? "name"          \
   : (t)->init == NULL          ? "init"          \
   : (t)->devices == NULL       ? "devices"       \
   : (t)->getProperties == NULL ? "getProperties" \
   : (t)->listen == NULL        ? "listen"        \
   : (t)->connect == NULL       ? "connect"       \
   : (t)->accept == NULL        ? "accept"        \
   : (t)->regMr == NULL         ? "regMr"         \
   : (t)->regMrDmaBuf == NULL   ? "regMrDmaBuf"   \
   : (t)->deregMr == NULL       ? "deregMr"       \
   : (t)->isend == NULL         ? "isend"         \
   : (t)->irecv == NULL         ? "irecv"         \
   : (t)->iflush == NULL        ? "iflush"        \
   : (t)->test == NULL          ? "test"          \
   : (t)->closeSend == NULL     ? "closeSend"     \
   : (t)->closeRecv == NULL     ? "closeRecv"     \
   : (t)->closeListen == NULL   ? "closeListen"   \
                                : NULL)

#define FILL(table, t, v)                    \
  do {                                       \
    (table)->name = (t)->name;               \
    (table)->init = init_##v;                \
    (table)->devices = (t)->devices;         \
    (table)->connect = connect_##v;          \
    (table)->accept = (t)->accept;           \
    (table)->regMr = (t)->regMr;             \
    (table)->regMrDmaBuf = (t)->regMrDmaBuf; \
    (table)->deregMr = (t)->deregMr;         \
    (table)->isend = isend_##v;              \
    (table)->irecv = irecv_##v;              \
    (table)->iflush = (t)->iflush;           \
    (table)->test = (t)->test;               \
    (table)->closeSend = (t)->closeSend;     \
    (table)->closeRecv = (t)->closeRecv;     \
    (table)->closeListen = (t)->closeListen; \
    (table)->missing = FIND_MISSING(t);      \
  } while (0)

#define FILL_CONTEXTLESS(table, t, v)        \
  do {                                       \
    FILL(table, t, v);                       \
    (table)->getProperties = properties_##v; \
    (table)->listen = listen_##v;            \
  } while (0)

#define FILL_WITH_CONTEXTS(table, t, v) \
  do {                                  \
    FILL(table, t, v);                  \
    (table)->has_contexts = true;       \
    (table)->listen = (t)->listen;      \
    (table)->finalize = (t)->finalize;  \
    if ((t)->finalize == NULL) {        \
      (table)->missing = "finalize";    \
    }                                   \
  } while (0)

bool any_table_read(int version, const void* symbol, AnyTable* table) {
  *table = (AnyTable){.version = version};
  switch (version) {
    case 8:
      g_v8 = symbol;
      FILL_CONTEXTLESS(table, g_v8, v8);
      return true;
    case 9:
      g_v9 = symbol;
      FILL_CONTEXTLESS(table, g_v9, v9);
      return true;
    case 10:
      g_v10 = symbol;
      FILL_CONTEXTLESS(table, g_v10, v10);
      table->connect_takes_config = true;
      return true;
    case 11:
      g_v11 = symbol;
      FILL_WITH_CONTEXTS(table, g_v11, v11);
      table->getProperties = properties_v11;
      return true;
    case 12:
      g_v12 = symbol;
      FILL_WITH_CONTEXTS(table, g_v12, v12);
      table->getProperties = g_v12->getProperties;
      return true;
    default:
      return false;
  }
}
