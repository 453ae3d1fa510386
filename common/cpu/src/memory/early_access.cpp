// early_access.cpp - accesses of the host to memory that queued work still uses: managed and pinned memory.
//
// The pages are closed while the work is queued. The first accesses to each page are recorded, with the value that
// the host saw. If the work changes the value, the host was too early.
#include "memory/early_access.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "engine/build.hpp"
#include "engine/reporting.hpp"
#include "engine/scheduler.hpp"
#include "engine/text.hpp"
#include "memory/address_space.hpp"
#include "memory/upcalls.hpp"

namespace cudacpu {

namespace {

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
thread_local char* page_to_close;
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
}  // namespace

cudaError_t await_copy(const void* to, size_t bytes) {
    const Region* r = find(to);
    if (r && r->kind == Kind::pinned) await_last_work(to, bytes);
    return cudaSuccess;
}

void await_kernel(const void* argument) {
    const Region* const r = find(argument);
    if (r && r->kind == Kind::pinned && !r->freed) await_last_work(r->start, r->bytes);
}

bool is_awaited(const char* at) {
    return std::ranges::any_of(awaited, [&](const Awaited& a) { return size_t(at - a.pages) < a.bytes; });
}

void protect_awaited_pages(bool closed) {
    std::erase_if(awaited, [](const Awaited& a) { return !work_is_queued(a.work); });
    for (const Awaited& a : awaited) mprotect(a.pages, a.bytes, closed ? PROT_NONE : PROT_READ | PROT_WRITE);
}

void close_touched_page() {
    const std::lock_guard lock(touches_change);
    char* const at = std::exchange(page_to_close, nullptr);
    if (at && !device_has_memory() && (device_has_managed_memory() || is_awaited(at)))
        mprotect(at, page, PROT_NONE);
}

std::atomic<unsigned long> early_touches;

bool touched_early(const void* address, bool writes, const void* pc, unsigned bytes) {
    const Region* const r = used_by_both(address);
    const char* const at = static_cast<const char*>(address);
    if (!r) return false;
    const std::lock_guard lock(touches_change);
    mprotect(page_of(at), page, PROT_READ | PROT_WRITE);
    bytes = std::min(bytes, 1u << std::min(std::countr_zero(uintptr_t(at)), 3));
    Touch t{at, pc, last_work(), writes, told_not_ready >= last_work(), bytes, 0, 0};
    if (at + t.bytes > r->start + r->bytes) t.bytes = 1;
    memcpy(&t.value, at, t.bytes);
    t.before = t.value;
    if (!pc || runs_works) return true;  // a callback waits for the earlier work of its stream
    touches.push_back(t);
    ++early_touches;
    if (++times_touched[page_of(at)] < most_touches) page_to_close = page_of(at);
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
            report_bug(say(t.writes ? Sentence{"the host wrote memory too early, the device had yet to write %s",
                                               "主机写入内存过早，设备还没有写 %s"}
                                    : Sentence{"the host read memory too early, the device had yet to write %s",
                                               "主机读取内存过早，设备还没有写 %s"},
                           explain(t.address, t.bytes)),
                       say({"wait first, for the kernel or the copy: cudaDeviceSynchronize()",
                            "先等待核函数或复制完成：cudaDeviceSynchronize()"}),
                       line_of_touch(t.pc), "early-host-access");
        return true;
    });
    if (touches.empty()) times_touched.clear();
}

}  // namespace cudacpu
