// address_space.cpp - the address space: which memory the device and the host may touch.
#include "memory/address_space.hpp"

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "engine/build.hpp"
#include "engine/fiber.hpp"
#include "engine/reporting.hpp"
#include "engine/text.hpp"
#include "memory/canaries.hpp"
#include "memory/device_heap.hpp"
#include "memory/early_access.hpp"
#include "memory/observer.hpp"
#include "memory/upcalls.hpp"

extern "C" char __start_cudacpu_managed, __stop_cudacpu_managed;  // from the linker: the __managed__ variables

// The linker places sections in the order in which it meets them. If the managed variables come last, no mapping is
// split when they are closed.
asm(".section cudacpu_builtin,\"aw\"\n.previous");

namespace cudacpu {

// Each of these has pages of its own (see cudacpu): this one begins at a page boundary and is linked last.
alignas(largest_page) static char last_page[largest_page] __attribute__((section("cudacpu_managed"), used));

size_t bytes_in_use;

namespace {

constexpr int private_pages = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
bool device_has_it, managed_taken;

// Regions by their end, including the inaccessible page that follows. Never destroyed, because exit handlers use
// it.
std::map<const char*, Region>& regions() {
    static auto& r = *new std::map<const char*, Region>;
    return r;
}

constexpr int open_pages = PROT_READ | PROT_WRITE;
void protect(Kind kind, bool accessible) {
    for (auto& [end, r] : regions())
        if (r.kind == kind && !r.freed) mprotect(r.base, r.pages, accessible ? open_pages : PROT_NONE);
}

// If there are few pieces of device memory, all are opened when the device takes over. Otherwise each is
// opened when it is touched: a fault costs less than opening and closing pieces that the launch never touches.
constexpr size_t few_pieces = 4;
size_t pieces;
bool opens_on_demand;
std::vector<const Region*> opened CUDACPU_LASTING;

Region variables{
    &__start_cudacpu_managed, size_t(&__stop_cudacpu_managed - &__start_cudacpu_managed), Kind::managed,
    &__start_cudacpu_managed, size_t(&__stop_cudacpu_managed - &__start_cudacpu_managed), {"", 0}};
}  // namespace

Region* find(const void* address) {
    const auto it = regions().upper_bound(static_cast<const char*>(address));
    if (it == regions().end()) return nullptr;
    Region& r = it->second;
    return address < r.base - (r.kind == Kind::registered ? 0 : guard_before) ? nullptr : &r;
}

Space space_of(const void* p) {
    if (is_shared(find(p))) return Space::shared;
    return on_own_stack(p) ? Space::local : Space::global;
}

const Module* Module::last;

Module::Module(const char* start_, const char* zeros_, const char* end_)
    // cppcheck-suppress [noCopyConstructor, noOperatorEq, noDestructor]
    : start(start_), zeros(zeros_), end(end_), before(last) {
    if (!module_of(start)) last = this;  // otherwise another unit has registered it
}
const Module* module_of(const void* p) {
    const Module* m = Module::last;
    while (m && (p < m->start || p >= m->end)) m = m->before;
    return m;
}

// Allocates pages such that the memory ends at an inaccessible page. CUDA aligns allocations to 256 bytes; here
// only sizes that are multiples of 256 give such addresses.
char* map_before_guard(size_t bytes, size_t alignment, char** base, size_t* pages) {
    const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    *pages = (rounded + page - 1) / page * page;
    void* p = mmap(nullptr, guard_before + *pages + guard, PROT_NONE, private_pages, -1, 0);
    if (p == MAP_FAILED) return nullptr;
    *base = static_cast<char*>(p) + guard_before;
    mprotect(*base, *pages, PROT_READ | PROT_WRITE);
    return *base + *pages - rounded;
}

Region* add_region(const Region& region) {
    Region& r = regions()[region.base + region.pages + guard] = region;
    ASAN_POISON_MEMORY_REGION(r.base, r.start - r.base);
    ASAN_POISON_MEMORY_REGION(r.start + r.bytes, r.base + r.pages - r.start - r.bytes);
    region_observer.added(r);
    return &r;
}

void device_takes_over(bool device) {
    if (device == device_has_it) return;
    if ((device_has_it = device)) opens_on_demand = pieces > few_pieces;
    if (!opens_on_demand) protect(Kind::device, device);
    for (const Region* r : std::exchange(opened, {})) mprotect(r->base, r->pages, PROT_NONE);
    heap_in_use(device);
    for (HostsCopy* c = HostsCopy::last; c; c = c->before)
        std::swap_ranges(c->start, c->start + c->bytes, c->other);
    if (device) managed_in_use(false);
    protect_awaited_pages(!device);
}

const Region* used_by_both(const void* address) {  // memory that both the host and the device may use
    const char* const at = static_cast<const char*>(address);
    const Region* const r = is_global(at) ? &variables : find(at);
    const bool both = r && !r->freed && (r->kind == Kind::managed || r->kind == Kind::pinned);
    return both && at >= r->start && at < r->start + r->bytes ? r : nullptr;
}

bool device_has_memory() { return device_has_it; }
bool device_has_managed_memory() { return managed_taken; }

bool open_on_demand(const void* address) {
    const Region* const r = device_has_it && opens_on_demand ? find(address) : nullptr;
    if (!r || r->kind != Kind::device || r->freed || address < r->base || address >= r->base + r->pages)
        return false;
    opened.push_back(r);
    return !mprotect(r->base, r->pages, open_pages);
}

void managed_in_use(bool by_device) {
    if (managed_taken == by_device) return;
    protect(Kind::managed, !(managed_taken = by_device));
    mprotect(variables.base, variables.pages, by_device ? PROT_NONE : open_pages);
}

void check_all_canaries() {
    for (const auto& [end, r] : regions())
        if (!r.freed && r.kind <= Kind::pinned && !mprotect(r.base, r.pages, open_pages)) check_canaries(r);
}

void report_leaks() {
    size_t count = 0;
    const Region* first = nullptr;
    for (const auto& [end, r] : regions())
        if (!r.freed && r.kind <= Kind::pinned && (!count++ || r.number < first->number)) first = &r;
    if (!count) return;
    const std::string what = say(count > 1 ? Sentence{"notice: %zu allocations, %zu bytes, never freed",
                                                      "notice: %zu 次分配（共 %zu 字节）没有释放"}
                                           : Sentence{"notice: %zu allocation, %zu bytes, never freed",
                                                      "notice: %zu 次分配（%zu 字节）没有释放"},
                                 count, bytes_in_use),
                      place = source_line(first->where);
    print_report(Report{opening(what + say({"; the first at %s", "；第一次在 %s"}, place)),
                        {"leak", what, {{place, say({"the first", "第一次"})}}, ""}});
}

size_t available_memory() {  // the lower of the system's figure and the container's limit
    static const size_t bytes = [] {
        size_t kilobytes = 0, limit = 0;
        std::ifstream info("/proc/meminfo");
        for (std::string word; word != "MemAvailable:" && info >> word;) {}
        info >> kilobytes;
        std::ifstream("/sys/fs/cgroup/memory.max") >> limit;
        return limit ? std::min(kilobytes << 10, limit) : kilobytes << 10;
    }();
    return bytes;
}

cudaError_t allocate(void* pointer_to_set, size_t bytes, Kind kind, Where where) {
    void** p = static_cast<void**>(pointer_to_set);
    if (auto e = give(p, nullptr)) return e;
    if (!bytes) return cudaSuccess;
    static unsigned long allocations;
    Region r{nullptr, bytes, kind, nullptr, 0, where};
    r.number = ++allocations;
    if (bytes <= available_memory() - bytes_in_use) r.start = map_before_guard(bytes, 16, &r.base, &r.pages);
    if (!r.start) return failed(cudaErrorMemoryAllocation);
    // Large pages, because the memory is filled now, and protected and opened again at each launch.
    if (kind == Kind::device && r.pages >= 2 << 20) madvise(r.base, r.pages, MADV_HUGEPAGE);
    // Not 0, so that a program sees that it forgot to initialize its memory. Managed memory does begin as 0.
    if (kind == Kind::device) memset(r.start, 0xff, std::min<size_t>(bytes, 1 << 30));
    write_canaries(r);
    add_region(r);
    bytes_in_use += bytes;
    pieces += kind == Kind::device;
    if (kind == Kind::device || (kind == Kind::managed && managed_taken)) mprotect(r.base, r.pages, PROT_NONE);
    return give(p, r.start);
}

cudaError_t register_host(void* p, size_t bytes, Where where) {
    char* start = static_cast<char*>(p);
    if (auto e = check(p && bytes)) return e;
    if (find(start) || find(start + bytes - 1)) return failed(cudaErrorHostMemoryAlreadyRegistered);
    region_observer.added(regions()[start + bytes] = {start, bytes, Kind::registered, start, bytes, where});
    return cudaSuccess;
}

cudaError_t release(void* p, Kind kind) {
    if (auto e = finish_all()) return e;
    if (!p && kind != Kind::registered) return cudaSuccess;
    Region* r = find(p);
    const bool of_kind = r && (r->kind == kind || (r->kind == Kind::managed && kind == Kind::device));
    if (r && r->freed)
        report_misuse(
            say({"%s: this memory was freed before: %s", "%s：这块内存已经释放过：%s"}, api_function, explain(p)));
    if (!of_kind || r->start != p || r->freed)
        return failed(kind == Kind::registered ? cudaErrorHostMemoryNotRegistered : cudaErrorInvalidValue);
    region_observer.gone(*r);
    if (kind == Kind::registered) return regions().erase(r->start + r->bytes), cudaSuccess;
    if (!mprotect(r->base, r->pages, open_pages)) check_canaries(*r);
    bytes_in_use -= r->bytes;
    pieces -= r->kind == Kind::device;
    // The addresses are never reused, so that a use after free is detected. Reports explain the most recently freed
    // ones.
    const void* gone = mmap(r->base, r->pages + guard, PROT_NONE, private_pages | MAP_FIXED, -1, 0);
    if (gone == MAP_FAILED) return failed(cudaErrorMemoryAllocation);
    r->freed = true, r->freed_by = callers(12);
    static auto& freed = *new std::queue<const char*>;
    freed.push(r->base + r->pages + guard);
    if (freed.size() > 200) regions().erase(freed.front()), freed.pop();
    return cudaSuccess;
}

cudaError_t release_all() {
    std::vector<std::pair<void*, Kind>> all;
    for (const auto& [end, r] : regions())
        if (!r.freed && r.kind <= Kind::registered) all.emplace_back(r.start, r.kind);
    for (const auto& [p, kind] : all)
        if (auto e = release(p, kind)) return e;
    return cudaSuccess;
}

cudaPointerAttributes attributes_of(const void* p) {
    const Region* r = find(p);
    void* q = const_cast<void*>(p);
    if (!r || r->freed) return {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, q};
    if (r->kind == Kind::device) return {cudaMemoryTypeDevice, 0, q, nullptr};
    return {r->kind == Kind::managed ? cudaMemoryTypeManaged : cudaMemoryTypeHost, 0, q, q};
}

}  // namespace cudacpu
