// The headers prove themselves with static_assert; this file and layout.c show that they do so in
// both languages, in any order and next to each other.

#include <type_traits>

#include "nccl_plugin/net_v10.h"
#include "nccl_plugin/net_v11.h"
#include "nccl_plugin/net_v12.h"
#include "nccl_plugin/net_v8.h"
#include "nccl_plugin/net_v9.h"

// A prefix of a newer structure is what an older NCCL reads.
static_assert(offsetof(NcclNetPropertiesV12, vProps) == offsetof(NcclNetPropertiesV11, vProps));
static_assert(offsetof(NcclNetV12, setNetAttr) == offsetof(NcclNetV11, setNetAttr));
static_assert(std::is_standard_layout_v<NcclNetV12> && std::is_trivial_v<NcclNetV12>);
static_assert(std::is_standard_layout_v<NcclNetV8> && std::is_trivial_v<NcclNetV8>);
static_assert(std::is_same_v<decltype(NcclNetV10::isend), decltype(NcclNetV12::isend)>);
static_assert(!std::is_same_v<decltype(NcclNetV8::isend), decltype(NcclNetV9::isend)>);
static_assert(std::is_same_v<decltype(NcclNetV8::test), decltype(NcclNetV12::test)>);
static_assert(std::is_same_v<decltype(NcclNetV8::iflush), decltype(NcclNetV12::iflush)>);
