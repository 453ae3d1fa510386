// nvToolsExtMem.h - names heaps and regions of memory for a profiler. The CPU device has no profiler, so it does
// nothing.
#pragma once
#include "nvToolsExt.h"

#define NVTX_EXT_COMPATID_MEM 0x0102
#define NVTX_MEM_HEAP_HANDLE_PROCESS_WIDE nvtxMemHeapHandle_t(nullptr)
enum { NVTX_MEM_HEAP_USAGE_UNKNOWN, NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR, NVTX_MEM_HEAP_USAGE_TYPE_LAYOUT };
enum { NVTX_MEM_TYPE_UNKNOWN, NVTX_MEM_TYPE_VIRTUAL_ADDRESS };
enum { NVTX_MEM_REGION_REF_TYPE_UNKNOWN, NVTX_MEM_REGION_REF_TYPE_POINTER, NVTX_MEM_REGION_REF_TYPE_HANDLE };
using nvtxMemHeapHandle_t = struct nvtxMemHeap_t*;
using nvtxMemRegionHandle_t = struct nvtxMemRegion_t*;
union nvtxMemRegionRef_t {
    const void* pointer;
    nvtxMemRegionHandle_t handle;
};
struct nvtxMemVirtualRangeDesc_t {
    size_t size;
    const void* ptr;
};
struct nvtxMemHeapDesc_t {
    uint16_t extCompatID, structSize;
    uint32_t reserved0, usage, type;
    size_t typeSpecificDescSize;
    const void* typeSpecificDesc;
    uint32_t category, messageType;
    nvtxMessageValue_t message;
};
struct nvtxMemRegionsRegisterBatch_t {
    uint16_t extCompatID, structSize;
    uint32_t regionType;
    nvtxMemHeapHandle_t heap;
    size_t regionCount, regionDescElementSize;
    const void* regionDescElements;
    nvtxMemRegionHandle_t* regionHandleElementsOut;
};
struct nvtxMemRegionsResizeBatch_t {
    uint16_t extCompatID, structSize;
    uint32_t regionType;
    size_t regionDescCount, regionDescElementSize;
    const void* regionDescElements;
};
struct nvtxMemRegionsUnregisterBatch_t {
    uint16_t extCompatID, structSize;
    uint32_t refType;
    size_t refCount, refElementSize;
    const nvtxMemRegionRef_t* refElements;
};
struct nvtxMemRegionNameDesc_t {
    uint32_t regionRefType, nameType;
    nvtxMemRegionRef_t region;
    nvtxMessageValue_t name;
    uint32_t category, reserved0;
};
struct nvtxMemRegionsNameBatch_t {
    uint16_t extCompatID, structSize;
    uint32_t reserved0;
    size_t regionCount, regionElementSize;
    const nvtxMemRegionNameDesc_t* regionElements;
    size_t reserved1;
};
inline nvtxMemHeapHandle_t nvtxMemHeapRegister(nvtxDomainHandle_t, const nvtxMemHeapDesc_t*) { return nullptr; }
inline void nvtxMemHeapUnregister(nvtxDomainHandle_t, nvtxMemHeapHandle_t) {}
inline void nvtxMemHeapReset(nvtxDomainHandle_t, nvtxMemHeapHandle_t) {}
inline void nvtxMemRegionsRegister(nvtxDomainHandle_t, const nvtxMemRegionsRegisterBatch_t*) {}
inline void nvtxMemRegionsResize(nvtxDomainHandle_t, const nvtxMemRegionsResizeBatch_t*) {}
inline void nvtxMemRegionsUnregister(nvtxDomainHandle_t, const nvtxMemRegionsUnregisterBatch_t*) {}
inline void nvtxMemRegionsName(nvtxDomainHandle_t, const nvtxMemRegionsNameBatch_t*) {}
