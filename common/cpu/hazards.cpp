// hazards.cpp - the hazard build: what the compiler calls before each access of the program.
//
// `g++ -fsanitize=thread` inserts the calls; ThreadSanitizer itself is not linked, the functions are here.
// Before an access to shared or global memory the thread may be stopped and another one run, so that a
// missing atomic loses updates. Then the access is compared with what is noted about those bytes: who wrote and
// read them last. Two accesses of different threads, one of them a write, are a race if nothing orders them:
//   another launch                                         ordered
//   the same block, with a barrier between                 ordered
//   the same warp, with __syncwarp() between               ordered (a shuffle orders no memory)
//   fence, then atomic on X; later an atomic on X          ordered, for all that the first thread knew
#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "internal.hpp"

extern "C" char __executable_start, __data_start, _end;

namespace cudacpu::hazards {

struct Record {  // one access; serial 0: none
    uint32_t serial, site;
    uint16_t rank, epoch, clock;
    uint8_t bytes, access;
};
struct Cell {
    Record write, read[2];
};  // of four bytes; two readers, so that one is not the writer itself
struct Shadow {
    Cell* cells;
    uint8_t* written;
    size_t bytes;
};

namespace {

enum Access : uint8_t { reads = 0, writes = 1, atomic = 2, flag = 4 };  // flag: volatile, in global memory

// What a thread knows of others: of (block << 16 | thread) all accesses with a smaller clock, of
// (block << 16 | 0xffff) all with a smaller epoch. Sorted.
struct Knowledge {
    uint32_t everything_before = 0;  // when the facts become too many: may hide a race, never invents one
    std::vector<std::pair<uint64_t, uint16_t>> facts;
};
using Known = std::shared_ptr<const Knowledge>;

struct ThreadNotes {
    uint16_t clock = 0;
    Known inherited, at_fence;
    const Knowledge* last_joined = nullptr;
    std::pair<const void*, uint32_t> last_reads[4];  // address and line
    unsigned n_reads = 0;
};
struct WarpNotes {
    uint16_t seen[32][32];
};  // [me][other]: the other's clock, as of the last __syncwarp()

std::vector<ThreadNotes> notes;
std::vector<WarpNotes> warps;
bool warps_used, knowledge_used;
Known block_inherited;
std::unordered_map<void*, Known> published;
std::vector<uint64_t> blocks;  // by serial, from first_serial on
uint32_t first_serial;
uint16_t epoch;
std::vector<Where> places;  // of atomics: they bring a line, plain accesses an address of the code
std::set<std::pair<uint32_t, uint32_t>> reported;
Region globals;

struct Suspicion {  // a race only if ...
    bool waiting = false;
    char* address;
    unsigned size;
    unsigned char before[16];  // ... the value that is now written differs from the one that is there
    Record other, mine;
} same_value;
// ... the line that reads is one that a CAS on the same address follows: the CAS sees whether the value still
// holds, and a thread that goes without it has decided on an old one
struct PlainRead {
    char* address;
    Record read, other;
};
std::map<std::pair<uint32_t, uint32_t>, PlainRead> plain_reads;  // by the lines
std::set<uint32_t> before_cas;                                   // such lines

Known join(const Known& a, const Known& b) {
    if (!a || a == b) return b;
    if (!b) return a;
    auto k = std::make_shared<Knowledge>();
    k->everything_before = std::max(a->everything_before, b->everything_before);
    std::merge(a->facts.begin(), a->facts.end(), b->facts.begin(), b->facts.end(),
               std::back_inserter(k->facts));
    size_t kept = 0;
    for (auto& f : k->facts)
        if (kept && k->facts[kept - 1].first == f.first)
            k->facts[kept - 1].second = std::max(k->facts[kept - 1].second, f.second);
        else
            k->facts[kept++] = f;
    k->facts.resize(kept);
    if (kept > 4000) k->everything_before = block_serial + 1, k->facts.clear();
    return k;
}

bool knows(const Known& k, const Record& r) {
    if (!k) return false;
    if (r.serial < k->everything_before) return true;
    auto has = [&](uint64_t who, uint16_t time) {
        const uint64_t key = uint64_t(r.serial) << 16 | who;
        auto f = std::lower_bound(k->facts.begin(), k->facts.end(), std::pair<uint64_t, uint16_t>(key, 0));
        return f != k->facts.end() && f->first == key && f->second > time;
    };
    return has(r.rank, r.clock) || has(0xffff, r.epoch);
}

bool ordered(const Record& r) {  // does r come before what the running thread does now?
    if (r.serial < first_serial) return true;
    if (r.serial == block_serial) {
        if (r.rank == rank || r.epoch != epoch) return true;
        if (warps_used && r.rank / 32 == rank / 32 && warps[rank / 32].seen[lane][r.rank % 32] > r.clock)
            return true;
    }
    return knowledge_used && (knows(notes[rank].inherited, r) || knows(block_inherited, r));
}

// ---- reports ---------------------------------------------------------------------------------------------

uint32_t site_of(Where where) {
    for (size_t i = places.size(); i-- > 0;)
        if (places[i].file == where.file && places[i].line == where.line) return i | 1u << 31;
    places.push_back(where);
    return (places.size() - 1) | 1u << 31;
}
uint32_t site_of(const void* pc) { return static_cast<const char*>(pc) - &__executable_start; }

std::string line_of(uint32_t site) {
    if (site >> 31) return text("%s:%d", places[site & ~(1u << 31)].file, places[site & ~(1u << 31)].line);
    const std::string line = source_line(&__executable_start + site - 1);
    return line.empty() ? "a line that is not known" : line;
}

std::string who(const Record& r) {
    const uint64_t b = blocks[r.serial - first_serial];
    const dim3 g = launch->grid, t = launch->block;
    return text("block (%u,%u,%u), thread (%u,%u,%u) %s", unsigned(b % g.x), unsigned(b / g.x % g.y),
                unsigned(b / g.x / g.y), r.rank % t.x, r.rank / t.x % t.y, r.rank / t.x / t.y,
                r.access & atomic   ? "does an atomic"
                : r.access & writes ? "writes"
                                    : "reads");
}

bool first_time(uint32_t a, uint32_t b) {
    exit_status = 1;
    return reported.insert({std::min(a, b), std::max(a, b)}).second;
}

bool is_argument(const char* p) {  // the kernel's own copy of its arguments
    const char* closure = static_cast<char*>(launch->body.closure);
    return p >= closure && p < closure + launch->body.bytes;
}

std::string where_is(const void* p) {
    const std::string s = explain(p);
    return s.empty() ? "a variable of the program" : s;
}

// The linker may have taken the program's instrumented copy of std::string for the engine: not to be noted.
bool reporting;
struct Reporting {
    Reporting() { reporting = true; }
    ~Reporting() { reporting = false; }
};

void report_race(const void* address, const Record& other, const Record& mine) {
    if (!first_time(other.site, mine.site)) return;
    const Reporting now;
    const std::string a = line_of(other.site), b = line_of(mine.site);
    static std::set<std::pair<std::string, std::string>> lines;
    if (!lines.insert(std::minmax(a, b)).second) return;
    std::string mend;
    if ((other.access | mine.access) & atomic)
        mend = "make both accesses atomic, or order them with a barrier";
    else if (const Region* r = find(address);  // a tree in shared memory wants a barrier, a sum an atomic
             a == b && (mine.access & writes || !r || (r->kind != Kind::shared && r->kind != Kind::dynamic)))
        mend = "if the line adds to what is there, use an atomic (atomicAdd, ...); else let one thread write";
    else if (other.serial != mine.serial)
        mend = "blocks cannot wait for each other: use an atomic, or a second kernel";
    else
        mend = a == b ? "put __syncthreads() into the loop around " + a
                      : "put __syncthreads() between " + a + " and " + b +
                            " (__syncwarp() is enough within a warp)";
    say("cudacpu: hazard: a race on " + where_is(address) + "\n  in kernel " + launch->kernel->name + ", " +
        who(other) + " at " + a + ",\n  and " + who(mine) + " at " + b + ", and nothing orders the two\n  " +
        mend);
}

void report_one(const void* address, uint32_t site, const std::string& what, const std::string& mend) {
    if (!first_time(site, site)) return;
    const Reporting now;
    say("cudacpu: hazard: " + what + ": " + where_is(address) + "\n  in kernel " + launch->kernel->name +
        ", " + thread_name() + ", at " + line_of(site) + "\n  " + mend);
}

void settle() {  // the write of the last call has been done
    if (!same_value.waiting) return;
    same_value.waiting = false;
    if (memcmp(same_value.address, same_value.before, same_value.size))
        report_race(same_value.address, same_value.other, same_value.mine);
}

void settle_reads() {
    for (auto& [sites, r] : plain_reads)
        if (!before_cas.count(r.read.site)) report_race(r.address, r.other, r.read);
    plain_reads.clear();
}

// ---- one access ------------------------------------------------------------------------------------------

void check_cell(Cell& c, char* address, unsigned size, const Record& now, bool shared) {
    const bool writing = now.access & writes;
    auto conflicts = [&](const Record& r) {
        const bool both_atomic = r.access & (atomic | flag) && now.access & (atomic | flag);
        return r.bytes & now.bytes && !both_atomic && !(shared && r.serial != now.serial) && !ordered(r);
    };
    if (conflicts(c.write)) {
        if (writing && !(now.access & atomic) && !(c.write.access & atomic) && size <= 16) {
            same_value = {true, address, size, {}, c.write, now};
            memcpy(same_value.before, address, size);
        } else if (!writing && c.write.access & atomic) {
            plain_reads.insert({{now.site, c.write.site}, {address, now, c.write}});
        } else {
            report_race(address, c.write, now);
        }
    }
    if (writing)
        for (const Record& r : c.read)
            if (conflicts(r)) {
                if (now.access & atomic)
                    plain_reads.insert({{r.site, now.site}, {address, r, now}});
                else
                    report_race(address, r, now);
            }
    if (writing) {
        c.write = now;
    } else {
        const bool first =
            c.read[0].serial != now.serial || c.read[0].epoch != now.epoch || c.read[0].rank == now.rank;
        c.read[!first] = now;
    }
}

void synchronise(void* address);

void access(void* where, size_t size, uint8_t kind, uint32_t site) {
    char* address = static_cast<char*>(where);
    if (reporting || on_own_stack(address)) return;
    settle();
    static Region* last = nullptr;
    Region* r = last && address >= last->start && address < last->start + last->bytes ? last : find(address);
    if (!r && address >= globals.start && address < globals.start + globals.bytes) r = &globals;
    if (!r) {
        if (is_global(address) || is_argument(address)) return;
        return report_one(address, site, text("an access to memory that is not the device's, at %p", where),
                          "give the kernel memory from cudaMalloc or cudaMallocManaged");
    }
    if (r->freed || address >= r->base + r->pages) return;  // not accessible: it will be reported as a fault
    if (address < r->start || address + size > r->start + r->bytes)
        return report_one(address, site, "an access out of bounds", "check the index against the size");
    if (r != &globals) last = r;
    if (!(kind & (atomic | flag)) && random_number() % 16 == 0) preempt();
    const bool is_shared = r->kind == Kind::shared || r->kind == Kind::dynamic;
    if (is_shared) kind &= ~flag;  // there, volatile orders nothing
    Shadow* shadow = r->shadow;
    if (!shadow) return;
    const size_t offset = address - r->start;
    bool unwritten = false;
    for (size_t i = offset; i < offset + size; ++i) {
        const uint8_t bit = 1 << i % 8;
        if (kind & writes && !(kind & atomic))
            shadow->written[i / 8] |= bit;
        else
            unwritten |= !(shadow->written[i / 8] & bit);
    }
    if (unwritten && (r->kind == Kind::device || is_shared)) {
        report_one(address, site, "a value is used that nobody has written",
                   r->kind == Kind::device ? "set the memory first: cudaMemset, cudaMemcpy or a kernel"
                                           : "write it first, and put a barrier between");
        bytes_written(*r, offset, size);
    }
    if (!kind) notes[rank].last_reads[notes[rank].n_reads++ % 4] = {address, site};
    Record now{uint32_t(block_serial), site, uint16_t(rank), epoch, notes[rank].clock, 0, kind};
    for (size_t i = offset; i < offset + size;) {
        const size_t end = std::min(offset + size, (i / 4 + 1) * 4);
        now.bytes = ((1u << (end - i)) - 1) << i % 4;
        check_cell(shadow->cells[i / 4], address, size, now, is_shared);
        i = end;
    }
    if (kind & flag) synchronise(where);
}

void synchronise(void* address) {  // an atomic, or a volatile flag, hands on what was known at the last fence
    if (!knowledge_used) return;
    ThreadNotes& me = notes[rank];
    Known& here = published[address];
    if (here && here.get() != me.last_joined) {
        me.last_joined = here.get();
        me.inherited = join(me.inherited, here);
    }
    if (me.at_fence) here = join(here, me.at_fence);
}

}  // namespace

// ---- what the engine tells -------------------------------------------------------------------------------

void launch_begins() {
    if (!globals.start) {
        globals = {&__data_start, size_t(&_end - &__data_start), Kind::registered,
                   &__data_start, size_t(&_end - &__data_start), {"", 0}};
        region_added(globals);
    }
    first_serial = block_serial + 1;
    blocks.clear();
    published.clear();
    knowledge_used = false;
    notes.assign(threads_in_block(), {});
    warps.assign((threads_in_block() + 31) / 32, {});
    warps_used = false;
}

void block_begins() {
    settle();
    blocks.push_back(block_number);
    epoch = 0;
    block_inherited = nullptr;
    if (warps_used || knowledge_used) std::fill(notes.begin(), notes.end(), ThreadNotes{});
    if (warps_used) std::fill(warps.begin(), warps.end(), WarpNotes{});
    warps_used = false;
}

void launch_ends() {
    settle();
    settle_reads();
}

void barrier_passed() {
    settle();
    ++epoch;
    if (!knowledge_used) return;
    for (ThreadNotes& t : notes) {
        if (t.inherited && t.inherited != block_inherited)
            block_inherited = join(block_inherited, t.inherited);
        t.inherited = nullptr;
        t.last_joined = nullptr;
    }
}

void lanes_met(unsigned first, unsigned lanes) {
    settle();
    WarpNotes& w = warps[first / 32];
    uint16_t all[32] = {};
    Known together;
    warps_used = true;
    for (unsigned i = 0; i < 32; ++i) {
        if (!(lanes >> i & 1)) continue;
        w.seen[i][i] = ++notes[first + i].clock;
        for (unsigned j = 0; j < 32; ++j) all[j] = std::max(all[j], w.seen[i][j]);
        together = join(together, notes[first + i].inherited);
    }
    for (unsigned i = 0; i < 32; ++i)
        if (lanes >> i & 1) {
            memcpy(w.seen[i], all, sizeof all);
            notes[first + i].inherited = together;
        }
}

void at_fence() {
    if (!in_kernel()) return;
    settle();
    knowledge_used = true;
    ThreadNotes& me = notes[rank];
    auto k = std::make_shared<Knowledge>();
    const uint64_t block = uint64_t(block_serial) << 16;
    for (unsigned i = 0; i < 32 && warps_used; ++i)
        if (i != lane && warps[rank / 32].seen[lane][i])
            k->facts.push_back({block | ((rank & ~31u) + i), warps[rank / 32].seen[lane][i]});
    k->facts.push_back({block | rank, ++me.clock});
    k->facts.push_back({block | 0xffff, epoch});
    std::sort(k->facts.begin(), k->facts.end());
    me.at_fence = join(join(k, me.inherited), block_inherited);
}

void at_atomic(void* address, unsigned bytes, bool compare, Where where) {
    access(address, bytes, writes | atomic, site_of(where));
    synchronise(address);
    if (!compare) return;
    for (auto& [read, site] : notes[rank].last_reads)
        if (read == address) before_cas.insert(site);
}

void region_added(Region& r) {
    auto map = [](size_t bytes) {
        return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                    0);
    };
    const size_t bytes = r.bytes + 16;
    r.shadow = new Shadow{static_cast<Cell*>(map(bytes / 4 * sizeof(Cell))),
                          static_cast<uint8_t*>(map(bytes / 8 + 1)), bytes};
}
void region_fresh(Region& r) {
    if (r.shadow) memset(r.shadow->written, 0, r.bytes / 8 + 1);
}
void bytes_written(Region& r, size_t offset, size_t bytes) {
    if (!r.shadow) return;
    for (; bytes && offset % 8; ++offset, --bytes) r.shadow->written[offset / 8] |= 1 << offset % 8;
    memset(r.shadow->written + offset / 8, 0xff, bytes / 8);
    for (offset += bytes / 8 * 8, bytes %= 8; bytes; ++offset, --bytes)
        r.shadow->written[offset / 8] |= 1 << offset % 8;
}
void region_gone(Region& r) {
    if (!r.shadow) return;
    munmap(r.shadow->cells, r.shadow->bytes / 4 * sizeof(Cell));
    munmap(r.shadow->written, r.shadow->bytes / 8 + 1);
    delete std::exchange(r.shadow, nullptr);
}

}  // namespace cudacpu::hazards

// ---- what the compiler calls -----------------------------------------------------------------------------

using namespace cudacpu::hazards;

namespace {
void hook(void* address, size_t bytes, uint8_t kind, void* pc) {
    if (cudacpu::in_kernel()) access(address, bytes, kind, site_of(pc));
}
}  // namespace

#define CUDACPU_HOOK(name, bytes, kind) \
    void __tsan_##name(void* p) { hook(p, bytes, kind, __builtin_return_address(0)); }
#define CUDACPU_HOOKS(n) \
    CUDACPU_HOOK(read##n, n, reads) \
    CUDACPU_HOOK(write##n, n, writes) CUDACPU_HOOK(unaligned_read##n, n, reads) \
        CUDACPU_HOOK(unaligned_write##n, n, writes) CUDACPU_HOOK(volatile_read##n, n, flag) \
            CUDACPU_HOOK(volatile_write##n, n, flag | writes) \
                CUDACPU_HOOK(unaligned_volatile_read##n, n, flag) \
                    CUDACPU_HOOK(unaligned_volatile_write##n, n, flag | writes)

// std::atomic and what the compiler makes of it. One thread runs at a time, so that plain code is atomic.
#define CUDACPU_RMW(bits, T, name, expression) \
    T __tsan_atomic##bits##_##name(T* p, T v, int) { \
        hook(p, sizeof(T), writes | atomic, __builtin_return_address(0)); \
        const T old = *p; \
        *p = T(expression); \
        return old; \
    }
#define CUDACPU_ATOMICS(bits, T) \
    T __tsan_atomic##bits##_load(const T* p, int) { \
        hook(const_cast<T*>(p), sizeof(T), atomic, __builtin_return_address(0)); \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST); \
    } \
    void __tsan_atomic##bits##_store(T* p, T v, int) { \
        hook(p, sizeof(T), writes | atomic, __builtin_return_address(0)); \
        __atomic_store_n(p, v, __ATOMIC_SEQ_CST); \
    } \
    int __tsan_atomic##bits##_compare_exchange_strong(T* p, T* expected, T v, int, int) { \
        hook(p, sizeof(T), writes | atomic, __builtin_return_address(0)); \
        return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    } \
    int __tsan_atomic##bits##_compare_exchange_weak(T* p, T* expected, T v, int a, int b) { \
        return __tsan_atomic##bits##_compare_exchange_strong(p, expected, v, a, b); \
    } \
    CUDACPU_RMW(bits, T, exchange, ((void)old, v)) \
    CUDACPU_RMW(bits, T, fetch_add, old + v) CUDACPU_RMW(bits, T, fetch_sub, old - v) \
        CUDACPU_RMW(bits, T, fetch_and, old& v) CUDACPU_RMW(bits, T, fetch_or, old | v) \
            CUDACPU_RMW(bits, T, fetch_xor, old ^ v)

extern "C" {
CUDACPU_HOOKS(1)
CUDACPU_HOOKS(2) CUDACPU_HOOKS(4) CUDACPU_HOOKS(8)
    CUDACPU_HOOKS(16) void __tsan_read_range(void* p, size_t n) {
    hook(p, n, reads, __builtin_return_address(0));
}
void __tsan_write_range(void* p, size_t n) { hook(p, n, writes, __builtin_return_address(0)); }
void __tsan_vptr_update(void** p, void*) { hook(p, 8, writes, __builtin_return_address(0)); }
void __tsan_vptr_read(void** p) { hook(p, 8, reads, __builtin_return_address(0)); }
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_init() {}
void __tsan_atomic_thread_fence(int) { cudacpu::fence(); }
void __tsan_atomic_signal_fence(int) {}
CUDACPU_ATOMICS(8, uint8_t)
CUDACPU_ATOMICS(16, uint16_t)
CUDACPU_ATOMICS(32, uint32_t)
CUDACPU_ATOMICS(64, uint64_t)
}  // extern "C"
