// heap.cpp - what malloc() and free() are in a program of the plain build: as on a GPU, kernels have a heap of
// their own. What one writes beyond its memory hits nobody else's, and is noticed when it is given back.
#include "internal.hpp"

#include <sys/mman.h>

#include <unordered_map>

namespace cudacpu {

namespace {

constexpr size_t heap_bytes = size_t{1} << 30,
                 behind = 16;  // bytes, and those that show whether the end was passed
constexpr char mark = '\xa5';
char* heap;
size_t heap_used;
std::vector<char*> given_back[31] CUDACPU_LASTING;  // by powers of 2
std::unordered_map<char*, size_t> sizes CUDACPU_LASTING;

}  // namespace

extern "C" void* cudacpu_malloc(size_t bytes) noexcept {
    if (!in_kernel() || !plain_build) return malloc(bytes);
    if (!heap) {
        void* const p =
            mmap(nullptr, heap_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) return nullptr;
        heap = static_cast<char*>(p);
    }
    const size_t power = bytes < heap_bytes ? std::bit_width(bytes + behind + 16) : 31;
    const bool again = power < 31 && !given_back[power].empty();
    if (power > 30 || (!again && heap_used + (size_t{1} << power) > heap_bytes)) return nullptr;
    char* const p = again ? given_back[power].back() : heap + heap_used;
    if (again) given_back[power].pop_back();
    else heap_used += size_t{1} << power;
    sizes[p] = bytes;
    memset(p, 0xff, bytes);
    memset(p + bytes, mark, behind);
    return p;
}

extern "C" void cudacpu_free(void* memory) noexcept {
    char* const p = static_cast<char*>(memory);
    if (!heap || size_t(p - heap) >= heap_bytes) return free(memory);
    const auto block = sizes.find(p);
    if (block == sizes.end())
        return bug("what a kernel gives back it has not got from malloc(), or given back before",
                   "call free() once", "");
    const size_t bytes = block->second;
    const auto is_mark = [](char c) { return c == mark; };
    if (!std::all_of(p + bytes, p + bytes + behind, is_mark))
        bug(text("a kernel wrote beyond the %zu bytes that malloc() gave it", bytes), "--hazards names the line",
            "");
    sizes.erase(block);
    given_back[std::bit_width(bytes + behind + 16)].push_back(p);
}

}  // namespace cudacpu

#if !defined(CUDACPU_HAZARDS) && !defined(CUDACPU_COUNTERS) && !defined(CUDACPU_ASAN)
void operator delete(void* p) noexcept { cudacpu::cudacpu_free(p); }  // which some write behind malloc()
void operator delete(void* p, size_t) noexcept { cudacpu::cudacpu_free(p); }
void operator delete[](void* p) noexcept { cudacpu::cudacpu_free(p); }
void operator delete[](void* p, size_t) noexcept { cudacpu::cudacpu_free(p); }
#endif
