#include "nccl_plugin/net_v10.h"
#include "nccl_plugin/net_v11.h"
#include "nccl_plugin/net_v12.h"
#include "nccl_plugin/net_v8.h"
#include "nccl_plugin/net_v9.h"

NCCL_PLUGIN_SIZE(NcclNetV8, 152);
NCCL_PLUGIN_SIZE(NcclNetV9, 160);
NCCL_PLUGIN_SIZE(NcclNetV10, 160);
NCCL_PLUGIN_SIZE(NcclNetV11, 176);
NCCL_PLUGIN_SIZE(NcclNetV12, 176);
