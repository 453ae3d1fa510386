// device_heap.cpp - the device heap: malloc() and free(), new and delete in kernels, and the API's memory pools.
//
// The heap has a limit, as on a GPU, and is separate from the host's. A write past the end of an allocation hits no
// other one, and is detected when the memory is freed. The AddressSanitizer build uses its own allocator.
#include "memory/device_heap.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <vector>

#include "engine/build.hpp"
#include "engine/reporting.hpp"
#include "engine/text.hpp"
#include "memory/address_space.hpp"
#include "memory/observer.hpp"

struct CUmemPoolHandle_st {
    uint64_t values[9] = {0, 1, 1, 1};  // of its attributes, by number
};

namespace cudacpu {

size_t limits[] = {1 << 10, 1 << 20, 8 << 20, 2, 2048, 64, 0};  // by the numbers of cudaLimit

namespace {

constexpr size_t behind = 16;  // canary bytes that show a write past the end
constexpr char mark = '\xa5';
size_t heap_begun;                                  // of the address space: a power of 2 for each allocation
size_t given;                                       // counted against the limit
std::vector<char*> given_back[64] CUDACPU_LASTING;  // by powers of 2
std::map<const char*, HeapBlock> heap_blocks CUDACPU_LASTING;

size_t of_limit(size_t bytes) { return (bytes + 15) / 16 * 16; }

bool make_heap() {
    heap_begun = guard_before;
    const size_t bytes = 8 * limits[cudaLimitMallocHeapSize] + (64 << 20);
    void* const p =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return false;
    heap_region = {static_cast<char*>(p), bytes, Kind::device, static_cast<char*>(p), bytes, {"", 0}};
    return true;
}

bool take_of_heap(size_t bytes) {
    const size_t limit = limits[cudaLimitMallocHeapSize];
    if (bytes > limit || of_limit(bytes) > limit - given) return false;
    given += of_limit(bytes);
    return true;
}
void return_to_heap(size_t bytes) { given -= of_limit(bytes); }

}  // namespace

Region heap_region;

bool on_heap(const void* p) { return size_t(static_cast<const char*>(p) - heap_region.start) < heap_region.bytes; }

const HeapBlock* nearest_heap_block(const char* p) {
    const auto next = heap_blocks.upper_bound(p);
    if (next == heap_blocks.begin()) return next == heap_blocks.end() ? nullptr : &next->second;
    const HeapBlock& before = std::prev(next)->second;
    const bool nearer = next == heap_blocks.end() || p - before.start - ptrdiff_t(before.bytes) < next->first - p;
    return nearer ? &before : &next->second;
}

void heap_in_use(bool by_device) {
    if (plain_build) mprotect(heap_region.start, heap_region.bytes, by_device ? PROT_READ | PROT_WRITE : PROT_NONE);
}

cudaError_t set_limit(cudaLimit limit, size_t value) {
    if (limit < 0 || limit >= std::size(limits)) return failed(cudaErrorInvalidValue);
    if (limit == cudaLimitMallocHeapSize && heap_region.start)
        return failed(cudaErrorInvalidValue);  // a kernel has used it
    limits[limit] = value;
    return cudaSuccess;
}

extern "C" void* cudacpu_malloc(size_t bytes) noexcept {
    if (!in_kernel() || asan_build) return malloc(bytes);
    if ((!heap_region.start && !make_heap()) || !take_of_heap(bytes)) return nullptr;
    const size_t power = std::bit_width(bytes + behind + 16);
    const bool again = !given_back[power].empty();
    if (!again && heap_begun + (size_t{1} << power) > heap_region.bytes) return return_to_heap(bytes), nullptr;
    char* const p = again ? given_back[power].back() : heap_region.start + heap_begun;
    if (again) given_back[power].pop_back();
    else heap_begun += size_t{1} << power;
    heap_blocks[p] = {p, bytes, false};
    memset(p, 0xff, bytes);
    memset(p + bytes, mark, behind);
    region_observer.heap_given(p, bytes);
    return p;
}

extern "C" void cudacpu_free(void* memory) noexcept {
    char* const p = static_cast<char*>(memory);
    if (!on_heap(p)) return free(memory);
    const auto block = heap_blocks.find(p);
    if (!in_kernel())
        return report_bug(say({"the host gives back what a kernel got from malloc() or new",
                               "主机释放了核函数用 malloc() 或 new 得到的内存"}),
                          say({"let a kernel do that", "由核函数来释放"}), "", "misuse");
    if (block == heap_blocks.end() || block->second.freed)
        return report_bug(say({"what a kernel gives back it has not got from malloc() or new, or given back before",
                               "核函数释放的内存不是由 malloc() 或 new 得到的，或者已经释放过"}),
                          say({"give it back once", "只释放一次"}), "");
    const size_t bytes = block->second.bytes;
    const auto is_mark = [](char c) { return c == mark; };
    if (!hazard_build && !std::all_of(p + bytes, p + bytes + behind, is_mark))
        report_bug(say({"a kernel wrote beyond the %zu bytes that malloc() or new gave it",
                        "核函数的写入超出了 malloc() 或 new 得到的 %zu 字节"},
                       bytes),
                   say({"--hazards names the line", "--hazards 会指出那一行"}), "", "out-of-bounds");
    block->second.freed = true;
    region_observer.heap_taken(p);
    return_to_heap(bytes);
    given_back[std::bit_width(bytes + behind + 16)].push_back(p);
}

cudaMemPool_t pool(const cudaMemPoolProps* props) {
    static CUmemPoolHandle_st standard;
    return props ? new CUmemPoolHandle_st : &standard;
}
cudaError_t pool_attribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* to, const void* from) {
    if (auto e = check(pool && attribute > 0 && attribute <= cudaMemPoolAttrUsedMemHigh)) return e;
    const size_t bytes = attribute < cudaMemPoolAttrReleaseThreshold ? sizeof(int) : sizeof(uint64_t);
    if (from) return memcpy(&pool->values[attribute], from, bytes), cudaSuccess;
    // cppcheck-suppress arrayIndexOutOfBoundsCond // it has been checked
    if (attribute > cudaMemPoolAttrReleaseThreshold) pool->values[attribute] = bytes_in_use;
    return memcpy(to, &pool->values[attribute], bytes), cudaSuccess;
}

}  // namespace cudacpu

// The translator rewrites each `new` of a kernel to this placement form. g++ compares its result with nullptr,
// because the heap may be exhausted.
void* operator new(size_t bytes, cudacpu::DeviceHeap) noexcept {
    return cudacpu::asan_build ? operator new(bytes, std::nothrow) : cudacpu::cudacpu_malloc(bytes);
}
void* operator new[](size_t bytes, cudacpu::DeviceHeap) noexcept {
    return cudacpu::asan_build ? operator new[](bytes, std::nothrow) : cudacpu::cudacpu_malloc(bytes);
}

#ifndef CUDACPU_ASAN
void operator delete(void* p) noexcept { cudacpu::cudacpu_free(p); }
void operator delete(void* p, size_t) noexcept { cudacpu::cudacpu_free(p); }
void operator delete[](void* p) noexcept { cudacpu::cudacpu_free(p); }
void operator delete[](void* p, size_t) noexcept { cudacpu::cudacpu_free(p); }
#endif
