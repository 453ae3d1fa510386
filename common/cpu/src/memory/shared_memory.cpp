// shared_memory.cpp - __shared__ memory: each object has its own pages and ends at an inaccessible page.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/build.hpp"
#include "engine/launch.hpp"
#include "engine/reporting.hpp"
#include "engine/text.hpp"
#include "engine/upcalls.hpp"
#include "memory/address_space.hpp"
#include "memory/observer.hpp"

namespace cudacpu {

unsigned long block_serial = 1;
size_t limit_of_all = 48 << 10;

namespace {

std::vector<SharedObject*> everywhere CUDACPU_LASTING;  // shared memory declared outside of functions
std::vector<SharedObject*> in_use CUDACPU_LASTING;      // by the running block
size_t bytes_of_block;                                  // total so far
unsigned long last_serial = 1, arena_serial;  // serial number of the block that last used the dynamic shared memory

Region* map_shared(size_t bytes, size_t alignment, Kind kind, Where where, const char* name) {
    Region r{nullptr, bytes, kind, nullptr, 0, where};
    r.name = name;
    r.start = map_before_guard(bytes, alignment, &r.base, &r.pages);
    if (!r.start)
        fault(cudaErrorMemoryAllocation, say({"no memory is left", "没有内存了"}),
              say({"end other programs, or use less", "结束别的程序，或者少用一些"}), &where);
    return add_region(r);
}
Region& arena() {
    static Region& r = *map_shared(228 << 10, page, Kind::dynamic, {"", 0}, "");
    return r;
}

struct PausedMemory {  // of a paused block
    unsigned long serial;
    size_t bytes;
    std::vector<SharedObject*> objects;
    char* dynamic;  // nullptr: it has used none
    std::string contents;
    std::vector<race::Shadow*> notes;  // shadow memory of each of these
};

// The __shared__ variables in functions, by their types; registered before main() begins.
std::vector<std::pair<std::string_view, size_t>> declared CUDACPU_LASTING;

}  // namespace

bool note_shared(const char* type, size_t bytes) {
    declared.emplace_back(type, bytes);
    return true;
}

void foresee_shared(Kernel& k, const char* closure) {
    // The closure of k(int*) is Z1kPiEUlvE_, and declarations in its call operator begin with ZZ1kPiENUlvE_clEvE.
    constexpr std::string_view lambda = "UlvE_";
    const std::string_view name = closure;
    if (!name.ends_with(lambda)) return;
    const std::string within = text("Z%.*sN%sclEvE", int(name.size() - lambda.size()), closure, lambda.data());
    size_t bytes = 0;
    for (const auto& [type, size] : declared)
        if (type.find(within) != std::string::npos) bytes += size;
    k.static_bytes = std::max(k.static_bytes, bytes);
}

void constructed(const SharedObject& s) {
    print_report(compose_report(say({"note: no constructor runs for the __shared__ variable %s, as nvcc warns",
                                     "note: __shared__ 变量 %s 的构造函数不会运行，nvcc 也会警告"},
                                    s.name),
                                say({"leave it empty; let one thread set the variable, and then __syncthreads()",
                                     "让构造函数为空；由一个线程设置这个变量，然后 __syncthreads()"}),
                                source_line(s.where)));
}

char* fresh(SharedObject& s) {
    if (!launch)
        fault(cudaErrorNotSupported, say({"__shared__ memory is for kernels", "__shared__ 内存只能在核函数中使用"}),
              say({"the host has none", "主机没有这种内存"}), &s.where);
    Kernel& k = *launch->kernel;
    bytes_of_block += s.bytes;
    k.static_bytes = std::max(k.static_bytes, bytes_of_block - launch->dynamic_bytes);
    const size_t limit = std::max(limit_of_all, k.dynamic_limit);
    if (bytes_of_block > limit)
        fault(cudaErrorInvalidValue,
              say({"%zu bytes of shared memory with %s, the limit is %zu",
                   "加上 %2$s 共用 %1$zu 字节共享内存，上限是 %3$zu"},
                  bytes_of_block, s.name, limit),
              say({"use less, or raise the limit for the dynamic part with cudaFuncSetAttribute",
                   "少用一些，或者用 cudaFuncSetAttribute 提高动态部分的上限"}),
              &s.where);
    if (!s.address) {
        Region* const r = map_shared(s.bytes, s.alignment, Kind::shared, s.where, s.name);
        r->columns = s.columns;
        s.address = r->start;
    }
    s.serial = block_serial;
    in_use.push_back(&s);
    region_observer.fresh(*find(s.address));
    return static_cast<char*>(memset(s.address, 0xff, s.bytes));  // not 0, because on a GPU it holds any value
}

char* at_namespace_scope(SharedObject& s) {
    everywhere.push_back(&s);
    return s.address = map_shared(s.bytes, s.alignment, Kind::shared, s.where, s.name)->start;
}

void* dynamic_arena(const char* name, size_t alignment, bool fixed_start) {
    Region& arena = cudacpu::arena();
    arena.name = name;
    // An `extern __shared__` outside of functions needs an address that never changes. So the end of the memory is
    // at an inaccessible page only if the size is a whole number of pages.
    static bool fixed;
    fixed |= fixed_start;
    if (!launch || arena_serial == block_serial) return arena.start;
    arena_serial = block_serial;
    alignment = std::max<size_t>(alignment, 16);
    char* end = arena.base + arena.pages;
    arena.bytes = launch->dynamic_bytes;
    arena.start = fixed ? arena.base : end - (arena.bytes + alignment - 1) / alignment * alignment;
    if (fixed) {
        char* after = arena.base + (arena.bytes + page - 1) / page * page;
        mprotect(arena.base, arena.pages, PROT_READ | PROT_WRITE);
        mprotect(after, end - after, PROT_NONE);
    }
    add_region(arena);
    return memset(arena.start, 0xff, arena.bytes);
}

void begin_shared_memory(size_t dynamic_bytes) {
    block_serial = ++last_serial;
    bytes_of_block = dynamic_bytes;
    in_use.clear();
    for (SharedObject* s : everywhere) fresh(*s);
}

std::shared_ptr<void> keep_shared_memory() {
    const bool dynamic = arena_serial == block_serial;
    const auto all = std::make_shared<PausedMemory>(
        PausedMemory{block_serial, bytes_of_block, in_use, dynamic ? arena().start : nullptr, "", {}});
    PausedMemory& kept = *all;
    const auto keep = [&](Region& r) {
        kept.contents.append(r.start, r.bytes);
        region_observer.kept(r, kept.notes.emplace_back());
    };
    for (const SharedObject* s : in_use) keep(*find(s->address));
    if (dynamic) keep(arena());
    return all;
}

void restore_shared_memory(const std::shared_ptr<void>& all) {
    const PausedMemory& kept = *static_cast<const PausedMemory*>(all.get());
    block_serial = kept.serial;
    bytes_of_block = kept.bytes;
    in_use = kept.objects;
    const char* from = kept.contents.data();
    auto notes = kept.notes.begin();
    const auto restore = [&](Region& r) {
        memcpy(r.start, from, r.bytes);
        from += r.bytes;
        region_observer.restored(r, *notes++);
    };
    for (SharedObject* s : in_use) {
        s->serial = kept.serial;
        restore(*find(s->address));
    }
    if (!kept.dynamic) return;
    arena_serial = kept.serial;
    arena().start = kept.dynamic;
    restore(arena());
}

}  // namespace cudacpu
