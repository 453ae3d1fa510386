// copy.cpp - cudaMemcpy and cudaMemset: checks the addresses and the direction, and queues the work.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "api/fault_injection.hpp"
#include "api/observer.hpp"
#include "api/stream_queue.hpp"
#include "api/upcalls.hpp"
#include "engine/reporting.hpp"
#include "engine/text.hpp"
#include "memory/address_space.hpp"
#include "memory/canaries.hpp"
#include "memory/device_heap.hpp"
#include "memory/early_access.hpp"
#include "memory/upcalls.hpp"

namespace cudacpu {

namespace {

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
    const auto work = [=] {
        for (size_t y = 0; y < height; ++y) {
            char* row = static_cast<char*>(to) + y * pitch;
            work_observer.touches(row, width, true);
            write(row, y);
            if (Region* r = find(row)) work_observer.bytes_written(*r, row - r->start, width);
        }
        if (const Region* r = find(to)) check_canaries(*r);
        return cudaSuccess;
    };
    if (const cudaError_t error = enqueue(stream, work)) return error;
    work_observer.will_write(to, (height - 1) * pitch + width);
    return cudaSuccess;
}

void report_beyond(size_t bytes, const void* p) {
    const Region* r = find(p);
    report_misuse(say({"%s of %zu bytes goes beyond its memory: %s", "%s 的 %zu 字节超出了内存：%s"}, api_function,
                      bytes, explain(p)),
                  r && r->freed ? say({"free it after its last use", "在最后一次使用之后再释放"})
                                : say({"a size counts bytes: n * sizeof(int)", "大小以字节计：n * sizeof(int)"}));
}

}  // namespace

bool is_managed(const void* p, size_t bytes) { return bytes && side_of(p, bytes) == either; }

cudaError_t copy(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                 cudaMemcpyKind kind, cudaStream_t stream, bool wait) {
    if (!width || !height) return cudaSuccess;
    if (kind < 0 || kind > cudaMemcpyDefault) return failed(cudaErrorInvalidMemcpyDirection);
    if (height > 1 && (to_pitch < width || from_pitch < width)) return failed(cudaErrorInvalidPitchValue);
    if (!to || !from) {
        if (!strstr(api_function, "Symbol"))
            report_misuse(say(to ? Sentence{"%s: the source is a null pointer", "%s：源是空指针"}
                                 : Sentence{"%s: the target is a null pointer", "%s：目标是空指针"},
                              api_function));
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
    const Sentence names[] = {on_heap(from) ? Sentence{"a kernel's own", "核函数自己的"} : Sentence{"host", "主机"},
                              {"device", "设备"},
                              {"managed", "托管"}};
    if (target == outside || source == outside) report_beyond(width * height, target == outside ? to : from);
    else if (misdirected || odd)
        report_misuse(say({"%s%s: the direction is wrong: the target is %s memory, the source %s memory",
                           "%s%s：方向不对：目标是%s内存，源是%s内存"},
                          misdirected ? "" : "notice: ", api_function, say(names[target]), say(names[source])),
                      misdirected
                          ? say({"cudaMemcpyDefault takes the right one", "cudaMemcpyDefault 会选择正确的方向"})
                          : say({"CUDA goes by the addresses and copies", "CUDA 按地址判断，仍然复制"}));
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
    const std::string* const what = to_host && height == 1 ? injected_flip() : nullptr;
    const auto write = [=, keep = staged](char* row, size_t y) {
        if (to_host && !y) work_observer.host_gets(from, from_pitch, width, height);
        work_observer.touches(rows + y * from_pitch, width, false);
        memmove(row, rows + y * from_pitch, width);
        if (const Region* r = find(rows); r && !y) check_canaries(*r);
        if (what) corrupt(*what, row, width, from);
    };
    if (auto e = write_rows(to, to_pitch, width, height, stream, write)) return e;
    if (!wait && !stage) work_observer.host_must_keep(from, from_pitch, width, height);
    return wait ? finish(stream) : await_copy(to, to_pitch * (height - 1) + width);
}

// The memory is freed in the order of the stream, which the race detector takes for a write to all of it. Here it
// is freed when all works have ended.
cudaError_t release_in_order(void* p, cudaStream_t stream) {
    const Region* const r = find(p);
    const size_t bytes = r && r->start == p && !r->freed ? r->bytes : 0;
    const auto frees = [=] { return work_observer.touches(p, bytes, true), cudaSuccess; };
    return cudaError_t(enqueue(stream, frees) ?: release(p, Kind::device));
}

cudaError_t set(void* p, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream, bool wait) {
    if (!width || !height) return cudaSuccess;
    const Side side = side_of(p, pitch * (height - 1) + width);
    if (side == outside) report_beyond(width * height, p);
    const bool ordinary = side == host_only && !find(p);
    if (ordinary)
        report_misuse(say(
            {"%s: the memory is the host's own, and none of the device's", "%s：这是主机自己的内存，不是设备内存"},
            api_function));
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
