// memory.cpp - what the device may touch, what the host may touch, and the copies between them.
#include <sys/mman.h>
#include <unistd.h>

#include <deque>
#include <map>

#include "internal.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)0)
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)0)
#endif

extern "C" char __executable_start, _end;  // from the linker: the program and its variables

namespace cudacpu {
namespace {

constexpr size_t page = 4096;
size_t round_up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

std::map<const char*, Region>& regions() {  // by the end of their pages; never destroyed: exit reports use it
    static auto& r = *new std::map<const char*, Region>;
    return r;
}
std::deque<const char*> freed;  // kept inaccessible for a while, so that a use after free is found
size_t bytes_in_use;
bool device_has_it, managed_taken;

void protect(Kind kind, int mode) {
    for (auto& [end, r] : regions())
        if (r.kind == kind && !r.freed) mprotect(r.base, r.pages, mode);
}

}  // namespace

Region* find(const void* address) {
    auto it = regions().upper_bound(static_cast<const char*>(address) - page);
    if (it == regions().end() || address < it->second.base) return nullptr;
    return &it->second;
}

// Pages such that the memory ends where an inaccessible page begins. CUDA's addresses are multiples of 256:
// here only those of memory whose size is one.
char* map_before_guard(size_t bytes, size_t alignment, char** base, size_t* pages) {
    const size_t rounded = round_up(bytes, alignment);
    *pages = round_up(rounded, page);
    void* p = mmap(nullptr, *pages + page, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return nullptr;
    *base = static_cast<char*>(p);
    mprotect(*base + *pages, page, PROT_NONE);
    return *base + *pages - rounded;
}

Region* add_region(const Region& region) {
    Region& r = regions()[region.base + region.pages] = region;
    ASAN_POISON_MEMORY_REGION(r.base, r.pages);
    ASAN_UNPOISON_MEMORY_REGION(r.start, r.bytes);
    hazards::region_added(r);
    return &r;
}

void device_takes_over(bool device) {
    if (device == device_has_it) return;
    device_has_it = device;
    protect(Kind::device, device ? PROT_READ | PROT_WRITE : PROT_NONE);
    if (device) managed_in_use(false);
}

void managed_in_use(bool by_device) {
    if (managed_taken == by_device) return;
    managed_taken = by_device;
    protect(Kind::managed, by_device ? PROT_NONE : PROT_READ | PROT_WRITE);
}

bool is_global(const void* p) { return p >= &__executable_start && p < &_end; }

std::string explain(const void* address) {
    const Region* r = find(address);
    if (!r) return "";
    const char* const kinds[] = {"allocated by cudaMalloc",    "allocated by cudaMallocManaged",
                                 "of pinned host memory",      "of registered host memory",
                                 "of the __shared__ variable", ""};
    const long offset = static_cast<const char*>(address) - r->start;
    if (r->kind == Kind::dynamic)
        return text("byte %ld of the %zu bytes of dynamic shared memory that the launch gave", offset,
                    r->bytes);
    return text("byte %ld of the %zu bytes %s at %s:%d%s", offset, r->bytes, kinds[int(r->kind)],
                r->where.file, r->where.line, r->freed ? ", freed since" : "");
}

void report_leaks() {
    size_t count = 0, bytes = 0;
    const Region* first = nullptr;
    for (auto& [end, r] : regions()) {
        if (r.freed || r.kind > Kind::pinned) continue;
        ++count, bytes += r.bytes;
        if (!first) first = &r;
    }
    if (count)
        say(text("cudacpu: notice: %zu allocation%s, %zu bytes, never freed; the first at %s:%d", count,
                 count > 1 ? "s" : "", bytes, first->where.file, first->where.line));
}

namespace {

size_t available_memory() {  // what the kernel says, and the limit of the container
    static const size_t bytes = [] {
        unsigned long long kb = 4 << 20, limit;
        if (FILE* f = fopen("/proc/meminfo", "r")) {
            char line[200];
            while (fgets(line, sizeof line, f) && sscanf(line, "MemAvailable: %llu", &kb) != 1) {}
            fclose(f);
        }
        size_t all = kb << 10;
        for (const char* name : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
            if (FILE* f = fopen(name, "r")) {
                if (fscanf(f, "%llu", &limit) == 1) all = std::min<size_t>(all, limit);
                fclose(f);
            }
        return all;
    }();
    return bytes;
}

cudaError_t allocate(const char* function, void** p, size_t bytes, Kind kind, Where where) {
    if (auto e = gate(function)) return e;
    if (!p) return failed(cudaErrorInvalidValue);
    *p = nullptr;
    if (!bytes) return kind == Kind::managed ? failed(cudaErrorInvalidValue) : cudaSuccess;
    if (bytes > available_memory() - std::min(available_memory(), bytes_in_use))
        return failed(cudaErrorMemoryAllocation);
    Region r{nullptr, bytes, kind, nullptr, 0, where};
    r.start = map_before_guard(bytes, 16, &r.base, &r.pages);
    if (!r.start) return failed(cudaErrorMemoryAllocation);
    // Not 0: a program that forgets to set its memory must see it. Managed memory does begin with 0.
    if (kind == Kind::device) memset(r.start, 0xff, std::min<size_t>(bytes, 1 << 30));
    add_region(r);
    bytes_in_use += bytes;
    if (kind == Kind::device && !device_has_it) mprotect(r.base, r.pages, PROT_NONE);
    if (kind == Kind::managed && managed_taken) mprotect(r.base, r.pages, PROT_NONE);
    *p = r.start;
    return cudaSuccess;
}

cudaError_t release(const char* function, void* p, bool pinned) {
    const auto waited = finish_all();
    if (auto e = gate(function)) return e;
    if (!p) return waited;
    Region* r = find(p);
    if (!r || r->start != p || r->freed || r->kind > Kind::pinned || (r->kind == Kind::pinned) != pinned)
        return failed(cudaErrorInvalidValue);
    bytes_in_use -= r->bytes;
    ASAN_UNPOISON_MEMORY_REGION(r->base, r->pages);
    hazards::region_gone(*r);
    mmap(r->base, r->pages, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    r->freed = true;
    freed.push_back(r->base + r->pages);
    if (freed.size() > 200) {
        auto it = regions().find(freed.front());
        freed.pop_front();
        munmap(it->second.base, it->second.pages + page);
        regions().erase(it);
    }
    return waited;
}

enum Side { host_only, device_only, either, outside };
Side side_of(const void* p, size_t bytes) {  // and whether all bytes lie within the memory
    const Region* r = find(p);
    if (!r) return is_global(p) ? either : host_only;
    const char* first = static_cast<const char*>(p);
    if (r->freed || first < r->start || first + bytes > r->start + r->bytes) return outside;
    return r->kind == Kind::device ? device_only : r->kind == Kind::managed ? either : host_only;
}

cudaError_t copy(const char* function, void* to, size_t to_pitch, const void* from, size_t from_pitch,
                 size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream, bool wait) {
    if (auto e = gate(function)) return e;
    if (!width || !height) return cudaSuccess;
    if (kind < 0 || kind > cudaMemcpyDefault) return failed(cudaErrorInvalidMemcpyDirection);
    if (height > 1 && (to_pitch < width || from_pitch < width)) return failed(cudaErrorInvalidPitchValue);
    const Side target = side_of(to, to_pitch * (height - 1) + width);
    const Side source = side_of(from, from_pitch * (height - 1) + width);
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (target == outside || source == outside || !to || !from) {
        say(text("cudacpu: %s of %zu bytes goes beyond its memory: %s", function, width * height,
                 explain(target == outside ? to : from).c_str()));
        return failed(cudaErrorInvalidValue);
    }
    if (kind != cudaMemcpyDefault && (target == (to_device ? host_only : device_only) ||
                                      source == (from_device ? host_only : device_only))) {
        say(text("cudacpu: %s: the direction is wrong: the target is %s memory, the source %s memory",
                 function, target == device_only ? "device" : "host",
                 source == device_only ? "device" : "host"));
        return failed(cudaErrorInvalidValue);
    }
    std::string staged;  // CUDA has taken an ordinary source when it returns; a pinned one it reads later
    if (!wait && source == host_only && !find(from)) {
        for (size_t y = 0; y < height; ++y)
            staged.append(static_cast<const char*>(from) + y * from_pitch, width);
        from_pitch = width;
    }
    wait |= target == host_only && !find(to);
    auto work = [=] {
        const char* source = staged.empty() ? static_cast<const char*>(from) : staged.data();
        for (size_t y = 0; y < height; ++y) {
            char* row = static_cast<char*>(to) + y * to_pitch;
            memmove(row, source + y * from_pitch, width);
            if (Region* r = find(row)) hazards::bytes_written(*r, row - r->start, width);
        }
        return cudaSuccess;
    };
    if (auto e = enqueue(stream, work)) return e;
    return wait ? finish(stream) : cudaSuccess;
}

cudaError_t set(const char* function, void* p, size_t pitch, int value, size_t width, size_t height,
                cudaStream_t stream) {
    if (auto e = gate(function)) return e;
    if (!width || !height) return cudaSuccess;
    const Side side = side_of(p, pitch * (height - 1) + width);
    if (side == outside || (side == host_only && !find(p))) return failed(cudaErrorInvalidValue);
    return enqueue(stream, [=] {
        for (size_t y = 0; y < height; ++y) {
            char* row = static_cast<char*>(p) + y * pitch;
            memset(row, value, width);
            if (Region* r = find(row)) hazards::bytes_written(*r, row - r->start, width);
        }
        return cudaSuccess;
    });
}

cudaError_t check_managed(const char* function, const void* p, size_t bytes) {
    if (auto e = gate(function)) return e;
    const Side side = bytes ? side_of(p, bytes) : outside;
    return side == either ? cudaSuccess : failed(cudaErrorInvalidValue);
}

}  // namespace

cudaError_t copy_symbol(void* symbol, size_t size, size_t offset, void* to, const void* from, size_t bytes,
                        cudaMemcpyKind kind, cudaStream_t stream, bool wait) {
    const bool forth = from != nullptr;
    if (offset > size || bytes > size - offset || kind == cudaMemcpyHostToHost ||
        kind == (forth ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice))
        return failed(cudaErrorInvalidValue);
    char* place = static_cast<char*>(symbol) + offset;
    return copy("a copy to or from a symbol", forth ? place : to, bytes, forth ? from : place, bytes, bytes,
                1, kind, stream, wait);
}

}  // namespace cudacpu

using namespace cudacpu;

cudaError_t cudaMalloc(void** p, size_t n, Where w) { return allocate("cudaMalloc", p, n, Kind::device, w); }
cudaError_t cudaMallocAsync(void** p, size_t n, cudaStream_t, Where w) {
    return allocate("cudaMallocAsync", p, n, Kind::device, w);
}
cudaError_t cudaMallocManaged(void** p, size_t n, unsigned flags, Where w) {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return failed(cudaErrorInvalidValue);
    return allocate("cudaMallocManaged", p, n, Kind::managed, w);
}
cudaError_t cudaMallocHost(void** p, size_t n, unsigned, Where w) {
    return allocate("cudaMallocHost", p, n, Kind::pinned, w);
}
cudaError_t cudaHostAlloc(void** p, size_t n, unsigned, Where w) {
    return allocate("cudaHostAlloc", p, n, Kind::pinned, w);
}
cudaError_t cudaMallocPitch(void** p, size_t* pitch, size_t width, size_t height, Where w) {
    *pitch = round_up(width, 512);
    return allocate("cudaMallocPitch", p, *pitch * height, Kind::device, w);
}
cudaError_t cudaFree(void* p) { return release("cudaFree", p, false); }
cudaError_t cudaFreeAsync(void* p, cudaStream_t) { return release("cudaFreeAsync", p, false); }
cudaError_t cudaFreeHost(void* p) { return release("cudaFreeHost", p, true); }

cudaError_t cudaHostRegister(void* p, size_t bytes, unsigned) {
    if (auto e = gate("cudaHostRegister")) return e;
    if (!p || !bytes) return failed(cudaErrorInvalidValue);
    char* start = static_cast<char*>(p);
    if (find(start) || find(start + bytes - 1)) return failed(cudaErrorHostMemoryAlreadyRegistered);
    Region r{start, bytes, Kind::registered, start, bytes, Where::here()};
    hazards::region_added(regions()[start + bytes] = r);
    return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* p) {
    const auto waited = finish_all();
    if (auto e = gate("cudaHostUnregister")) return e;
    Region* r = find(p);
    if (!r || r->kind != Kind::registered || r->start != p) return failed(cudaErrorHostMemoryNotRegistered);
    hazards::region_gone(*r);
    regions().erase(r->start + r->bytes);
    return waited;
}
cudaError_t cudaHostGetDevicePointer(void** p, void* host, unsigned) {
    if (auto e = gate("cudaHostGetDevicePointer")) return e;
    const Region* r = find(host);
    if (!r || (r->kind != Kind::pinned && r->kind != Kind::registered)) return failed(cudaErrorInvalidValue);
    *p = host;
    return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* a, const void* p) {
    if (auto e = gate("cudaPointerGetAttributes")) return e;
    const Region* r = find(p);
    if (r && r->freed) r = nullptr;
    void* q = const_cast<void*>(p);
    if (!r)
        *a = {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, q};
    else if (r->kind == Kind::device)
        *a = {cudaMemoryTypeDevice, 0, q, nullptr};
    else
        *a = {r->kind == Kind::managed ? cudaMemoryTypeManaged : cudaMemoryTypeHost, 0, q, q};
    return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
    if (auto e = gate("cudaMemGetInfo")) return e;
    *total = available_memory();
    *free = *total - std::min(*total, bytes_in_use);
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t n, cudaMemcpyKind kind) {
    return copy("cudaMemcpy", to, n, from, n, n, 1, kind, nullptr, true);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t n, cudaMemcpyKind kind, cudaStream_t stream) {
    return copy("cudaMemcpyAsync", to, n, from, n, n, 1, kind, stream, false);
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                         size_t height, cudaMemcpyKind kind) {
    return copy("cudaMemcpy2D", to, to_pitch, from, from_pitch, width, height, kind, nullptr, true);
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    return copy("cudaMemcpy2DAsync", to, to_pitch, from, from_pitch, width, height, kind, stream, false);
}
cudaError_t cudaMemset(void* p, int value, size_t n) { return set("cudaMemset", p, n, value, n, 1, nullptr); }
cudaError_t cudaMemsetAsync(void* p, int value, size_t n, cudaStream_t stream) {
    return set("cudaMemsetAsync", p, n, value, n, 1, stream);
}
cudaError_t cudaMemset2D(void* p, size_t pitch, int value, size_t width, size_t height) {
    return set("cudaMemset2D", p, pitch, value, width, height, nullptr);
}
cudaError_t cudaMemPrefetchAsync(const void* p, size_t n, cudaMemLocation, unsigned, cudaStream_t) {
    return check_managed("cudaMemPrefetchAsync", p, n);
}
cudaError_t cudaMemPrefetchAsync(const void* p, size_t n, int, cudaStream_t) {
    return check_managed("cudaMemPrefetchAsync", p, n);
}
cudaError_t cudaMemAdvise(const void* p, size_t n, cudaMemoryAdvise, cudaMemLocation) {
    return check_managed("cudaMemAdvise", p, n);
}
cudaError_t cudaMemAdvise(const void* p, size_t n, cudaMemoryAdvise, int) {
    return check_managed("cudaMemAdvise", p, n);
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void*, size_t, unsigned) {
    return gate("cudaStreamAttachMemAsync");
}
