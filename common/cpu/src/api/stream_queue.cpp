// stream_queue.cpp - the queue of all streams, and events.
//
// Work is deferred until the host waits for it. A program that forgets to wait therefore always reads old values.
#include "api/stream_queue.hpp"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "api/errors.hpp"
#include "api/observer.hpp"
#include "api/upcalls.hpp"
#include "engine/scheduler.hpp"
#include "memory/address_space.hpp"
#include "memory/early_access.hpp"
#include "memory/upcalls.hpp"

using Numbers = std::set<unsigned long>;  // of works
struct CUstream_st {
    bool blocking;  // it and the default stream wait for each other
    Numbers after;  // the works that its next work waits for
    int priority = 0;
    unsigned long asked = 0;  // the last work that cudaStreamQuery() has reported as not ready
};
struct CUevent_st {
    bool timed;
    unsigned long record = 0;  // the last work that records it
    unsigned long asked = 0;
    std::chrono::steady_clock::time_point time{};
};

namespace cudacpu {

bool stream_0_is_per_thread, kernel_ran;
std::atomic<bool> works_run;
unsigned long told_not_ready;
pthread_t runner;

namespace {

struct Work {
    std::function<cudaError_t()> run;
    bool is_kernel;
    Numbers after;                           // works that it waits for; those no longer queued have run
    bool is_event = false, is_call = false;  // is_call: of a host function
};
struct Queue {  // Destroyed streams and events are not deleted, because works may still refer to them.
    std::map<unsigned long, Work> works;
    unsigned long number = 0;  // of the last work
    CUstream_st default_stream{true, {}};
    std::set<cudaStream_t> streams{&default_stream};
    std::set<cudaEvent_t> events;
};
Queue& queue() {  // never destroyed, because destructors of the program may use it
    static auto& q = *new Queue;
    return q;
}
cudaStream_t named(cudaStream_t s) {
    thread_local cudaStream_t per_thread;
    if (s == cudaStreamPerThread || (!s && stream_0_is_per_thread)) {
        if (!per_thread) per_thread = new CUstream_st{true, {}};
        queue().streams.insert(s = per_thread);  // again after a reset
    }
    return s && s != cudaStreamLegacy ? s : &queue().default_stream;
}
std::atomic<bool> works_wait;
bool host_waits = true;  // for the works that run
bool host_asks;          // it does not wait, but asks whether they are done

// Held by each function of the API, and by the helper thread that runs works for a host that waits without the API.
std::recursive_mutex one_call;

// A host that polls memory until a kernel or a callback changes it makes no calls. After a second without a call,
// the helper runs everything that is queued. It does not if the host keeps touching new memory: then the host is
// not waiting, and reads too early.
void run_helper() {
    prepare_thread();
    unsigned long seen = 0;
    for (int tenths = 0;; ++tenths) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        const unsigned long now = api_calls + early_touches;
        if (!works_wait || seen != now) tenths = 0;
        seen = now;
        if (tenths < 10 || !one_call.try_lock()) continue;
        host_waits = false;
        finish_all();
        host_waits = true;
        one_call.unlock();
    }
}
bool start_helper() {  // this thread receives no signal of the program
    sigset_t others, before;
    sigfillset(&others);
    for (int s : {SIGSEGV, SIGBUS, SIGFPE, SIGVTALRM}) sigdelset(&others, s);
    pthread_sigmask(SIG_SETMASK, &others, &before);
    std::thread(run_helper).detach();
    return !pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool queued(const Numbers& numbers) {
    return std::any_of(numbers.begin(), numbers.end(), [](auto n) { return queue().works.count(n); });
}

// Runs these works, after the works that they wait for. An event that waits for nothing is already complete.
cudaError_t run_works(Numbers needed) {
    auto& works = queue().works;
    for (const auto& [number, work] : works)
        if (work.is_event && !queued(work.after)) needed.insert(number);
    for (auto w = works.rbegin(); w != works.rend(); ++w)
        if (needed.count(w->first)) needed.insert(w->second.after.begin(), w->second.after.end());
    prepare_thread();
    runner = pthread_self();
    works_run = runs_works = true;
    device_takes_over(true);
    note_touches();
    work_observer.host_waits(true);
    for (const unsigned long number : needed) {
        const auto w = works.find(number);
        if (w == works.end()) continue;
        compare_touches(number, host_waits, host_asks);
        device_takes_over(true);  // a callback of the host ran
        work_observer.begins(number);
        kernel_ran |= w->second.is_kernel;
        sticky_error = failed(w->second.run());
        if (sticky_error && sticky_error != cudaErrorAssert) untold = sticky_error;  // an assert may be expected
        work_observer.ended();
        works.erase(w);
        if (sticky_error) works.clear();
    }
    compare_touches(~0ul, host_waits, host_asks);
    works_run = runs_works = false;
    work_observer.host_waits(false);
    works_wait = !works.empty();
    device_takes_over(false);
    for (const auto& [number, work] : works)
        if (work.is_kernel) managed_in_use(true);
    return failed(sticky_error);
}

constexpr cudaError_t not_known = cudaErrorInvalidResourceHandle;
cudaError_t known(cudaEvent_t event) { return check(queue().events.count(event), not_known); }
cudaError_t no_work() { return cudaSuccess; }

}  // namespace

bool OneCall::lock() { return !in_kernel() && (one_call.lock(), true); }
OneCall::~OneCall() {
    if (locked) one_call.unlock();
}

UnfinishedWork unfinished_work() {
    UnfinishedWork all;
    for (const auto& [number, work] : queue().works) {
        all.kernels += work.is_kernel;
        all.functions += work.is_call;
    }
    return all;
}

cudaError_t reset(cudaError_t passed) {
    if (passed != sticky_error) return passed;
    finish_all();
    auto& [works, number, default_stream, streams, events] = queue();
    streams = {&default_stream};
    events.clear();
    last_error = sticky_error = cudaSuccess;
    begin_anew();
    return release_all();
}

cudaError_t enqueue(cudaStream_t stream, std::function<cudaError_t()> run, bool is_kernel, bool early) {
    auto& [works, number, default_stream, streams, events] = queue();
    stream = named(stream);
    if (!streams.count(stream)) return failed(not_known);
    Numbers after = std::exchange(stream->after, {++number});
    const auto ahead = early && after.size() == 1 ? works.find(*after.begin()) : works.end();
    for (const cudaStream_t s : streams)
        if (stream->blocking && s->blocking && s != stream && (stream == &default_stream || s == &default_stream))
            after.insert(s->after.begin(), s->after.end());
    work_observer.queued(number, stream, after, is_kernel ? "a kernel" : api_function);
    if (ahead != works.end() && ahead->second.is_kernel) work_observer.is_secondary(ahead->first);
    works[number] = {std::move(run), is_kernel, std::move(after)};
    [[maybe_unused]] static const bool has_helper = start_helper();
    works_wait = true;
    if (is_kernel) managed_in_use(true);
    return cudaSuccess;
}
static cudaError_t enqueue_function(cudaStream_t stream, const std::function<void()>& f) {
    const auto work = [=] { return device_takes_over(false), f(), cudaSuccess; };
    if (const auto e = enqueue(stream, work)) return e;
    queue().works.rbegin()->second.is_call = true;
    return cudaSuccess;
}
cudaError_t enqueue_call(cudaStream_t stream, cudaHostFn_t f, void* data) {
    return enqueue_function(stream, [=] { f(data); });
}
cudaError_t enqueue_call(cudaStream_t stream, cudaStreamCallback_t f, void* data) {
    return enqueue_function(stream, [=] { f(stream, cudaSuccess, data); });
}

cudaError_t finish(cudaStream_t stream) {
    return cudaError_t(enqueue(stream, no_work) ?: run_works({queue().number}));
}
cudaError_t finish(cudaEvent_t event) { return cudaError_t(known(event) ?: run_works({event->record})); }
// As on a GPU, work that has just been queued is not ready. A second query waits for it, so that it is done.
static cudaError_t not_ready() {
    told_not_ready = queue().number;
    return failed(cudaErrorNotReady);
}
static cudaError_t run_asked(const Numbers& works) {
    host_asks = true;
    const cudaError_t e = run_works(works);
    host_asks = false;
    return e;
}
cudaError_t query(cudaStream_t stream) {
    if (const auto e = enqueue(stream, no_work)) return e;
    const unsigned long last = queue().number, asked = std::exchange(named(stream)->asked, last);
    const Numbers after = queue().works[last].after;
    const cudaError_t e = queued(after) && work_is_queued(asked) ? run_asked({asked}) : cudaSuccess;
    return cudaError_t(e ?: queued(after) ? not_ready() : run_asked({last}));
}
cudaError_t query(cudaEvent_t event) {
    if (const auto e = known(event)) return e;
    const auto work = queue().works.find(event->record);
    const bool ready = work == queue().works.end() || !queued(work->second.after);
    if (!ready && std::exchange(event->asked, event->record) != event->record) return not_ready();
    return run_asked({event->record});
}
cudaError_t finish_all() {
    Numbers all;
    for (const auto& [number, work] : queue().works) all.insert(number);
    return run_works(all);
}
unsigned long last_work() { return queue().number; }
bool work_is_queued(unsigned long number) { return queue().works.count(number); }

StreamProperties properties_of(cudaStream_t stream) {
    stream = named(stream);
    if (!queue().streams.count(stream)) return {};
    return {stream->blocking ? cudaStreamDefault : cudaStreamNonBlocking, stream->priority, uintptr_t(stream)};
}
cudaError_t create(cudaStream_t* stream, unsigned flags, int priority) {
    if (flags > cudaStreamNonBlocking) return failed(cudaErrorInvalidValue);
    priority = std::clamp(priority, highest_priority, 0);
    return give(stream, *queue().streams.insert(new CUstream_st{!flags, {}, priority}).first);
}
cudaError_t create(cudaEvent_t* event, unsigned flags) {
    return give(event, *queue().events.insert(new CUevent_st{!(flags & cudaEventDisableTiming)}).first);
}
cudaError_t destroy(cudaStream_t stream) {
    if (!queue().streams.erase(stream)) return failed(not_known);
    if (stream->blocking) queue().default_stream.after.merge(stream->after);  // which still waits for these
    return cudaSuccess;
}
cudaError_t destroy(cudaEvent_t event) { return check(queue().events.erase(event), not_known); }
cudaError_t record(cudaEvent_t event, cudaStream_t stream) {
    const auto work = [=] { return event->time = std::chrono::steady_clock::now(), cudaSuccess; };
    if (cudaError_t e{known(event) ?: enqueue(stream, work)}) return e;
    event->record = queue().number;
    queue().works[event->record].is_event = true;
    return cudaSuccess;
}
cudaError_t wait_for(cudaEvent_t event, cudaStream_t stream) {
    if (cudaError_t e{known(event) ?: enqueue(stream, no_work)}) return e;
    queue().works.rbegin()->second.after.insert(event->record);
    work_observer.waits(queue().number, event->record);
    return cudaSuccess;
}
cudaError_t elapsed(float* ms, cudaEvent_t start, cudaEvent_t stop) {
    if (cudaError_t e{known(start) ?: known(stop)}) return e;
    if (!start->timed || !stop->timed || !start->record || !stop->record) return failed(not_known);
    if (queue().works.count(start->record) || queue().works.count(stop->record)) return failed(cudaErrorNotReady);
    return give(ms, std::chrono::duration<float, std::milli>(stop->time - start->time).count());
}

}  // namespace cudacpu
