// memory.cpp - the address space: which memory the device and the host may touch, and the copies between them.
#include "internal.hpp"

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

#include <fstream>
#include <map>
#include <mutex>
#include <queue>

// From the linker: the program, its variables and its __managed__ variables.
extern "C" char __executable_start, _end, __start_cudacpu_managed, __stop_cudacpu_managed;

namespace cudacpu {

// Each of these has pages of its own (see cudacpu): this one begins at a page boundary and is linked last.
alignas(page) static char last_page[page] __attribute__((section("cudacpu_managed"), used));

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

// If there are few pieces of device memory, all are opened when the device takes over. Otherwise each is opened
// when it is touched: a fault costs less than opening and closing pieces that the launch never touches.
constexpr size_t few = 4;
size_t pieces;
bool opens_late;
std::vector<const Region*> opened CUDACPU_LASTING;

Region variables{
    &__start_cudacpu_managed, size_t(&__stop_cudacpu_managed - &__start_cudacpu_managed), Kind::managed,
    &__start_cudacpu_managed, size_t(&__stop_cudacpu_managed - &__start_cudacpu_managed), {"", 0}};
const Region* used_by_both(const void* address) {  // memory that both the host and the device may use
    const char* const at = static_cast<const char*>(address);
    const Region* const r = is_global(at) ? &variables : find(at);
    const bool both = r && !r->freed && (r->kind == Kind::managed || r->kind == Kind::pinned);
    return both && at >= r->start && at < r->start + r->bytes ? r : nullptr;
}

struct Touch {  // an access of the host to memory that the device may still use: the first sixteen in each page
    const char* address;
    const void* pc;
    unsigned long work;  // the last work in the queue
    bool writes, looks;  // looks: the host was told that this work is not ready
    unsigned bytes;
    uint64_t value, before;  // what the host saw there, and what it found
};
constexpr unsigned most_touches = 16;
std::map<char*, unsigned> times_touched CUDACPU_LASTING;  // per page
thread_local char* page_to_shut;
std::vector<Touch> touches CUDACPU_LASTING;
std::mutex touches_change;

struct Awaited {  // pages of pinned memory that a queued copy or kernel may write
    char* pages;
    size_t bytes;
    unsigned long work;
};
std::vector<Awaited> awaited CUDACPU_LASTING;

char* page_of(const void* p) { return reinterpret_cast<char*>(uintptr_t(p) & ~(page - 1)); }

void await_last_work(const void* from, size_t bytes) {  // the host must not touch it before that work has run
    char* const first = page_of(from);
    awaited.push_back({first, size_t(static_cast<const char*>(from) + bytes - first), last_work()});
    mprotect(first, awaited.back().bytes, PROT_NONE);
}
cudaError_t await_copy(const void* to, size_t bytes) {
    const Region* r = find(to);
    if (r && r->kind == Kind::pinned) await_last_work(to, bytes);
    return cudaSuccess;
}

enum Side { host_only, device_only, either, outside };
Side side_of(const void* p, size_t bytes) {  // also checks that the memory holds all the bytes
    const Region* r = find(p);
    const HostsCopy* const copy = hosts_copy(p);
    const bool of_host = copy && !copy->address_asked && !strstr(api_function, "Symbol");
    if (!r) return is_global(p) && !of_host ? either : host_only;
    const char* first = static_cast<const char*>(p);
    if (r->freed || first < r->start || first + bytes > r->start + r->bytes) return outside;
    return r->kind == Kind::device ? device_only : r->kind == Kind::managed ? either : host_only;
}

cudaError_t write_rows(void* to, size_t pitch, size_t width, size_t height, cudaStream_t stream, auto write) {
    return enqueue(stream, [=] {
        for (size_t y = 0; y < height; ++y) {
            char* row = static_cast<char*>(to) + y * pitch;
            hazards::work_touches(row, width, true);
            write(row, y);
            if (Region* r = find(row)) hazards::bytes_written(*r, row - r->start, width);
        }
        if (const Region* r = find(to)) check_margins(*r);
        return cudaSuccess;
    });
}

}  // namespace

Region* find(const void* address) {
    const auto it = regions().upper_bound(static_cast<const char*>(address));
    if (it == regions().end()) return nullptr;
    Region& r = it->second;
    return address < r.base - (r.kind == Kind::registered ? 0 : guard_before) ? nullptr : &r;
}

bool is_global(const void* p) { return p >= &__executable_start && p < &_end; }
bool is_managed(const void* p, size_t bytes) { return bytes && side_of(p, bytes) == either; }

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
    hazards::region_added(r);
    return &r;
}

void device_takes_over(bool device) {
    if (device == device_has_it) return;
    if ((device_has_it = device)) opens_late = pieces > few;
    if (!opens_late) protect(Kind::device, device);
    for (const Region* r : std::exchange(opened, {})) mprotect(r->base, r->pages, PROT_NONE);
    heap_in_use(device);
    for (HostsCopy* c = HostsCopy::last; c; c = c->before)
        std::swap_ranges(c->start, c->start + c->bytes, c->other);
    if (device) managed_in_use(false);
    std::erase_if(awaited, [](const Awaited& a) { return !work_is_queued(a.work); });
    for (const Awaited& a : awaited) mprotect(a.pages, a.bytes, device ? open_pages : PROT_NONE);
}

bool opened_late(const void* address) {
    const Region* const r = device_has_it && opens_late ? find(address) : nullptr;
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

void await_kernel(const void* argument) {
    const Region* const r = find(argument);
    if (r && r->kind == Kind::pinned && !r->freed) await_last_work(r->start, r->bytes);
}

static bool is_awaited(const char* at) {
    return std::ranges::any_of(awaited, [&](const Awaited& a) { return size_t(at - a.pages) < a.bytes; });
}

void shut_again() {
    const std::lock_guard lock(touches_change);
    char* const at = std::exchange(page_to_shut, nullptr);
    if (at && !device_has_it && (managed_taken || is_awaited(at))) mprotect(at, page, PROT_NONE);
}

std::atomic<unsigned long> early_touches;

bool touched_early(const void* address, bool writes, const void* pc, unsigned bytes) {
    const Region* const r = used_by_both(address);
    const char* const at = static_cast<const char*>(address);
    if (!r) return false;
    const std::lock_guard lock(touches_change);
    mprotect(page_of(at), page, open_pages);
    bytes = std::min(bytes, 1u << std::min(std::countr_zero(uintptr_t(at)), 3));
    Touch t{at, pc, last_work(), writes, told_not_ready >= last_work(), bytes, 0, 0};
    if (at + t.bytes > r->start + r->bytes) t.bytes = 1;
    memcpy(&t.value, at, t.bytes);
    t.before = t.value;
    if (!pc || runs_works) return true;  // a callback waits for the earlier work of its stream
    touches.push_back(t);
    ++early_touches;
    if (++times_touched[page_of(at)] < most_touches) page_to_shut = page_of(at);
    return true;
}

const void* where_touched(const void* start, size_t bytes) {
    const std::lock_guard lock(touches_change);
    for (const Touch& t : touches)
        if (t.writes && size_t(t.address - static_cast<const char*>(start)) < bytes) return t.pc;
    return nullptr;
}

std::vector<std::pair<const char*, const void*>> written_since(unsigned long work) {
    const std::lock_guard lock(touches_change);
    std::vector<std::pair<const char*, const void*>> all;
    for (const Touch& t : touches)
        if (t.writes && t.value != t.before && t.work >= work) all.emplace_back(t.address, t.pc);
    return all;
}

void note_touches() {
    const std::lock_guard lock(touches_change);
    for (Touch& t : touches)  // the host may have written it since
        if (used_by_both(t.address)) memcpy(&t.value, t.address, t.bytes);
}

static const std::string& line_of_touch(const void* pc) {  // many thousands of touches have the same line
    static std::map<const void*, std::string> lines;
    const auto [known, fresh] = lines.try_emplace(pc);
    if (fresh) known->second = source_line(pc);
    return known->second;
}

void compare_touches(unsigned long work, bool waits, bool asks) {
    const std::lock_guard lock(touches_change);
    std::erase_if(touches, [&](const Touch& t) {
        if (t.work >= work) return false;
        if (waits && !(asks && t.looks) && used_by_both(t.address) && memcmp(&t.value, t.address, t.bytes) != 0)
            bug(text("the host %s memory too early, the device had yet to write ", t.writes ? "wrote" : "read") +
                    explain(t.address, t.bytes),
                "wait first, for the kernel or the copy: cudaDeviceSynchronize()", line_of_touch(t.pc));
        return true;
    });
    if (touches.empty()) times_touched.clear();
}

static void complain_beyond(size_t bytes, const void* p) {
    const Region* r = find(p);
    complain(text("%s of %zu bytes goes beyond its memory: %s", api_function, bytes, explain(p).c_str()),
             r && r->freed ? "free it behind its last use" : "a size counts bytes: n * sizeof(int)");
}

void check_all_margins() {
    for (const auto& [end, r] : regions())
        if (!r.freed && r.kind <= Kind::pinned && !mprotect(r.base, r.pages, open_pages)) check_margins(r);
}

void report_leaks() {
    size_t count = 0;
    const Region* first = nullptr;
    for (const auto& [end, r] : regions())
        if (!r.freed && r.kind <= Kind::pinned && (!count++ || r.number < first->number)) first = &r;
    if (count)
        say(opening(text("notice: %zu allocation%s, %zu bytes, never freed; the first at %s:%d", count,
                         count > 1 ? "s" : "", bytes_in_use, first->where.file, first->where.line)));
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
    mark_margins(r);
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
    hazards::region_added(regions()[start + bytes] = {start, bytes, Kind::registered, start, bytes, where});
    return cudaSuccess;
}

cudaError_t release(void* p, Kind kind) {
    if (auto e = finish_all()) return e;
    if (!p && kind != Kind::registered) return cudaSuccess;
    Region* r = find(p);
    const bool of_kind = r && (r->kind == kind || (r->kind == Kind::managed && kind == Kind::device));
    if (r && r->freed) complain(text("%s: this memory was freed before: %s", api_function, explain(p).c_str()));
    if (!of_kind || r->start != p || r->freed)
        return failed(kind == Kind::registered ? cudaErrorHostMemoryNotRegistered : cudaErrorInvalidValue);
    hazards::region_gone(*r);
    if (kind == Kind::registered) return regions().erase(r->start + r->bytes), cudaSuccess;
    if (!mprotect(r->base, r->pages, open_pages)) check_margins(*r);
    bytes_in_use -= r->bytes;
    pieces -= r->kind == Kind::device;
    // The addresses are never reused, so that a use after free is detected. Reports explain the most recently freed
    // ones.
    const void* gone = mmap(r->base, r->pages + guard, PROT_NONE, private_pages | MAP_FIXED, -1, 0);
    if (gone == MAP_FAILED) return failed(cudaErrorMemoryAllocation);
    r->freed = true;
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

cudaError_t copy(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                 cudaMemcpyKind kind, cudaStream_t stream, bool wait) {
    if (!width || !height) return cudaSuccess;
    if (kind < 0 || kind > cudaMemcpyDefault) return failed(cudaErrorInvalidMemcpyDirection);
    if (height > 1 && (to_pitch < width || from_pitch < width)) return failed(cudaErrorInvalidPitchValue);
    if (!to || !from) {
        if (!strstr(api_function, "Symbol"))
            complain(text("%s: the %s is a null pointer", api_function, to ? "source" : "target"));
        return untold = failed(cudaErrorInvalidValue);
    }
    const Side target = side_of(to, to_pitch * (height - 1) + width);
    const Side source = side_of(from, from_pitch * (height - 1) + width);
    // Measured on an H200 (waits_h200.txt): ordinary host memory belongs to no device. For all other memory the
    // addresses decide, not the kind.
    const auto ordinary = [](const void* p, Side side) { return side == host_only && !find(p); };
    const bool named = kind != cudaMemcpyDefault;
    const bool misdirected = named && ((kind & 1 && ordinary(to, target)) || (kind & 2 && ordinary(from, source)));
    const bool odd = named && ((!(kind & 1) && target == device_only) || (!(kind & 2) && source == device_only));
    const char* const names[] = {on_heap(from) ? "a kernel's own" : "host", "device", "managed"};
    if (target == outside || source == outside) complain_beyond(width * height, target == outside ? to : from);
    else if (misdirected || odd)
        complain(text("%s%s: the direction is wrong: the target is %s memory, the source %s memory",
                      misdirected ? "" : "notice: ", api_function, names[target], names[source]),
                 misdirected ? "cudaMemcpyDefault takes the right one" : "CUDA goes by the addresses and copies");
    if (target == outside || source == outside || misdirected) return untold = failed(cudaErrorInvalidValue);
    if (source == host_only && target != host_only && !is_awaited(static_cast<const char*>(from)))
        note_virtual_functions(from, width);

    // When the call returns, CUDA has read an ordinary source and filled an ordinary target, but may still use
    // pinned memory. A copy between two host buffers of any kind is synchronous; one between two device buffers is
    // asynchronous.
    const bool ordinary_source = !find(from) && (source == host_only || kind == cudaMemcpyHostToDevice);
    const bool ordinary_target = !find(to) && (target == host_only || kind == cudaMemcpyDeviceToHost);
    wait |= ordinary_target || (source == host_only && target == host_only);
    wait &= source != device_only || target != device_only;
    const bool stage = !wait && ordinary_source;
    const auto staged = std::make_shared<std::string>();
    const char* rows = static_cast<const char*>(from);
    for (size_t y = 0; stage && y < height; ++y) staged->append(rows + y * from_pitch, width);
    if (stage) rows = staged->data(), from_pitch = width;
    const bool to_host = kind == cudaMemcpyDeviceToHost || (target == host_only && source != host_only);
    const std::string* const what = to_host && height == 1 ? planned_flip() : nullptr;
    const auto write = [=, keep = staged](char* row, size_t y) {
        if (to_host && !y) hazards::host_gets(from, from_pitch, width, height);
        hazards::work_touches(rows + y * from_pitch, width, false);
        memmove(row, rows + y * from_pitch, width);
        if (const Region* r = find(rows); r && !y) check_margins(*r);
        if (what) falsify(*what, row, width, from);
    };
    if (auto e = write_rows(to, to_pitch, width, height, stream, write)) return e;
    if (!wait && !stage) hazards::host_must_keep(from, from_pitch, width, height);
    return wait ? finish(stream) : await_copy(to, to_pitch * (height - 1) + width);
}

cudaError_t set(void* p, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream, bool wait) {
    if (!width || !height) return cudaSuccess;
    const Side side = side_of(p, pitch * (height - 1) + width);
    if (side == outside) complain_beyond(width * height, p);
    const bool ordinary = side == host_only && !find(p);
    if (ordinary) complain(text("%s: the memory is the host's own, and none of the device's", api_function));
    if (side == outside || ordinary) return untold = failed(cudaErrorInvalidValue);
    const auto write = [=](char* row, size_t) { memset(row, value, width); };
    if (auto e = write_rows(p, pitch, width, height, stream, write)) return e;
    // As in CUDA, memory that the host can access is set at once.
    return wait && side != device_only ? finish(stream) : await_copy(p, pitch * (height - 1) + width);
}

namespace {

char* row_of(const cudaPitchedPtr& p, cudaPos at, size_t z) {
    return static_cast<char*>(p.ptr) + ((at.z + z) * p.ysize + at.y) * p.pitch + at.x;
}
// Slices that follow each other without a gap are treated as rows of one slice.
size_t slices_in_one(const cudaExtent& e, size_t rows_of_slice) { return e.height == rows_of_slice ? e.depth : 1; }

}  // namespace

cudaError_t copy_3d(const cudaMemcpy3DParms* p, cudaStream_t stream, bool wait) {
    if (!p || p->srcArray || p->dstArray) return failed(cudaErrorInvalidValue);
    const cudaExtent& e = p->extent;
    const size_t together = std::min(slices_in_one(e, p->srcPtr.ysize), slices_in_one(e, p->dstPtr.ysize));
    for (size_t z = 0; z < e.depth; z += together)
        if (auto error = copy(row_of(p->dstPtr, p->dstPos, z), p->dstPtr.pitch, row_of(p->srcPtr, p->srcPos, z),
                              p->srcPtr.pitch, e.width, e.height * together, p->kind, stream, wait))
            return error;
    return cudaSuccess;
}

cudaError_t set_3d(const cudaPitchedPtr& p, int value, const cudaExtent& e, cudaStream_t stream, bool wait) {
    const size_t together = slices_in_one(e, p.ysize);
    for (size_t z = 0; z < e.depth; z += together)
        if (auto error = set(row_of(p, {}, z), p.pitch, value, e.width, e.height * together, stream, wait))
            return error;
    return cudaSuccess;
}

}  // namespace cudacpu
