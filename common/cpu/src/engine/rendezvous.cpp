// rendezvous.cpp - rendezvous of threads: block barriers, warp collectives and `__activemask()`.
//
// Threads join() a Rendezvous and show each other a value. When no thread can run, every rendezvous at which all
// its threads have arrived is complete, and its threads resume. If no rendezvous is complete, the threads wait for
// each other, which scheduler.cpp reports.
#include "engine/observer.hpp"
#include "engine/rendezvous.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <string>

#include "engine/build.hpp"
#include "engine/reporting.hpp"
#include "engine/scheduler.hpp"
#include "engine/text.hpp"
#include "engine/upcalls.hpp"
#include "engine/watchdog.hpp"

namespace cudacpu {

std::vector<Rendezvous*> open_rendezvous[33] CUDACPU_LASTING;
Rendezvous* last_joined;
unsigned long syncs[33];
Where last_met[33];

namespace {

std::vector<Rendezvous*> free_rendezvous CUDACPU_LASTING;  // for reuse

unsigned lanes_of_block(unsigned warp) {
    return running_block.size - 32 * warp < 32 ? (1u << running_block.size % 32) - 1 : ~0u;
}

bool is_noted(Where where) {
    static auto& noted = *new std::set<std::string>;  // lines
    static Where last{};                              // saves a search of the set
    if (last == where) return true;
    last = where;
    return !noted.insert(source_line(where)).second;
}
void note_once(const std::string& what, const std::string& mend, Where where) {
    if (!is_noted(where)) print_report(compose_report(what, mend, source_line(where)));
}

bool is_syncwarp(const Rendezvous& e) { return e.kind == Rendezvous::at_warp && !strcmp(e.what, "__syncwarp()"); }

void note_absent_lanes(const Rendezvous& e, unsigned ended, unsigned diverged) {
    if (is_noted(e.where)) return;
    std::string all =
        strstr(e.what, "_down") || strstr(e.what, "_up") || strstr(e.what, "_xor") || strstr(e.what, "reduce")
            ? say({"let all lanes come here, with a value that changes nothing where one has no element; or name "
                   "those that do: ask __ballot_sync() for them before the branch",
                   "让所有通道都到这里，没有元素的通道用不改变结果的值；或者只写出会到这里的通道：在分支之前用 "
                   "__ballot_sync() 求出它们"})
            : say({"name the lanes that come: ask __ballot_sync() for them before the branch; or let all lanes "
                   "come here, move it out of the branch",
                   "只写出会到这里的通道：在分支之前用 __ballot_sync() 求出它们；或者让所有通道都到这里，"
                   "把它移到分支之外"});
    let_all_come(e, false, all);
    const std::string line = source_line(e.where);
    if (diverged)
        report_bug(say({"hazard: %s names lanes that took another path and do not come: 0x%08x",
                        "hazard: %s 的掩码中有走了另一条路径、不会到来的通道：0x%08x"},
                       e.what, diverged),
                   all, line, "absent-lanes");
    else
        print_report(compose_report(
            say({"note: %s names lanes that have ended: 0x%08x", "note: %s 的掩码中有已结束的通道：0x%08x"}, e.what,
                ended),
            all, line));
}

void on_complete(const Rendezvous& e, unsigned warp) {
    if (seconds_in_block >= 2 * patience)  // a loop around a barrier is not a spin
        note_once(say({"notice: this block has run for %d seconds, and meets here again and again",
                       "notice: 这个线程块已运行 %d 秒，一再到达这里"},
                      2 * patience),
                  say({"if it does not end, check what ends the loop around this line; Ctrl-C ends the program",
                       "如果它不结束，检查这一行外面的循环怎样结束；Ctrl-C 结束程序"}),
                  e.where);
    lockstep_observer.rendezvous_passed(e, warp);
    for (unsigned w = 0; w < 32; ++w) syncs[w] += warp == w || warp == 32;
    if (is_syncwarp(e)) last_met[warp] = e.where, race_observer.lanes_met(32 * warp, e.arrived);
    if (e.kind == Rendezvous::at_warp) {
        const unsigned ended = e.mask & lanes_of_block(warp) & ~e.arrived;
        const unsigned diverged = race_observer.warp_operation_passed(e, ended);
        if (diverged || (ended && !is_syncwarp(e))) note_absent_lanes(e, ended, diverged);
    }
    if (e.kind != Rendezvous::at_barrier) return;
    std::fill(std::begin(last_met), std::end(last_met), e.where);
    race_observer.barrier_passed();
    if (!running_block.ended() || is_noted(e.where)) return;
    std::string all =
        say({"let all threads reach it, guard the work with if", "让所有线程都到达它，用 if 保护其中的工作"});
    let_all_come(e, false, all);
    report_missed_barrier(
        compose_report(say({"note: a barrier that threads of the block never reach, as they have ended",
                            "note: 线程块中有线程已结束，不会到达这个同步点"}),
                       who_waits_where() + "\n" +
                           say({"GPUs since Volta go on without them, older ones may not: ",
                                "Volta 及以后的 GPU 不等它们，更早的可能会等："}) +
                           all,
                       source_line(e.where)),
        e.where);
}

// Of two `__activemask()` calls completes the one that comes first in the source: its threads may still reach the
// other one.
const Rendezvous* first_activemask(unsigned warp) {
    const Rendezvous* first = nullptr;
    for (const Rendezvous* e : open_rendezvous[warp])
        if (e->kind == Rendezvous::at_activemask &&
            (!first || (!strcmp(e->where.file, first->where.file) && e->where.line < first->where.line)))
            first = e;
    return first;
}

}  // namespace

bool complete_rendezvous(bool nobody_can_run) {
    bool any = false;
    for (unsigned warp = 0; warp < 33; ++warp) {
        const Rendezvous* const activemask = nobody_can_run ? first_activemask(warp) : nullptr;
        std::erase_if(open_rendezvous[warp], [&](Rendezvous* e) {
            e->complete = e->kind == Rendezvous::at_barrier ? e->count + running_block.ended() == running_block.size
                          : e->kind == Rendezvous::at_warp  ? !(e->mask & running_block.lanes(warp) & ~e->arrived)
                                                            : e == activemask;
            if (e->complete) {
                any = true;
                on_complete(*e, warp);
                if (warp == 32) std::fill(std::begin(idle_threads), std::end(idle_threads), false);
                else std::fill_n(idle_threads + size_t{32} * warp, 32, false);
            }
            return e->complete;
        });
    }
    if (any) ++progress, last_joined = nullptr;
    return any;
}

Rendezvous* join(Rendezvous::Kind kind, const char* what, unsigned mask, Where where) {
    if (!in_kernel())
        fault(cudaErrorNotSupported, say({"%s is for kernels", "%s 只能在核函数中使用"}, what),
              say({"the host cannot call it", "主机不能调用它"}), &where);
    if (kind == Rendezvous::at_warp && !(mask >> lane() & 1))
        fault(cudaErrorLaunchFailure,
              (hazard_build ? "hazard: " : "") +
                  say({"%s: lane %u is not in its own mask 0x%08x", "%s：通道 %u 不在自己的掩码 0x%08x 中"}, what,
                      lane(), mask),
              say({"name in the mask all lanes that come here (0xffffffff: a whole warp), or let only those come",
                   "掩码要包含到这里的所有通道（0xffffffff：整个线程束），或者只让掩码中的通道到这里"}),
              &where);
    auto& list = open_rendezvous[kind == Rendezvous::at_barrier ? 32 : rank / 32];
    for (Rendezvous* e : list)
        if (e->kind == kind &&
            (kind == Rendezvous::at_warp ? e->mask == mask && !strcmp(e->what, what) : e->where == where))
            return last_joined = e;
    if (free_rendezvous.empty()) free_rendezvous.push_back(new Rendezvous);
    Rendezvous* const e = free_rendezvous.back();
    free_rendezvous.pop_back();
    e->kind = kind, e->what = what, e->mask = mask, e->warp = rank / 32, e->where = where;
    e->count = e->arrived = 0, e->votes = 0, e->complete = false;
    list.push_back(e);
    return last_joined = e;
}

void await_slowly(Rendezvous* e, Where where) {
    Thread* const me = self;
    me->at = e;
    me->where = where;
    waits_in_a_row = 0;
    bool& mine = idle_threads[rank];
    mine = !e->complete;
    preempt();
    mine = false;
    me->at = nullptr;
}

void close(Rendezvous* e) { free_rendezvous.push_back(e); }

void lane_is_absent(Rendezvous* e, int from) {
    memset(e->value[from], 0xff, sizeof e->value[from]);  // not 0, so that it shows in a sum
    const bool named = e->mask >> from & 1, exists = lanes_of_block(rank / 32) >> from & 1;
    const Sentence ended{"%s takes the value of lane %d, which has ended", "%s 取通道 %d 的值，但该通道已结束"},
        missing{"%s takes the value of lane %d, which the block does not have",
                "%s 取通道 %d 的值，但线程块没有该通道"},
        unnamed{"note: %s takes the value of lane %d, which is not in the mask",
                "note: %s 取通道 %d 的值，但掩码中没有该通道"},
        let_come{
            "the value is undefined: let all lanes come here, with a value that changes nothing where one has "
            "no element",
            "这个值没有定义：让所有通道都到这里，没有元素的通道用不改变结果的值"},
        read_named{"the value is undefined: name in the mask the lanes that take part, and read from these alone",
                   "这个值没有定义：掩码要包含参与的通道，并且只读取它们的值"};
    const std::string what = say(!named   ? unnamed
                                 : exists ? ended
                                          : missing,
                                 e->what, from),
                      mend = say(named && exists ? let_come : read_named);
    if (named) report_bug(what, mend, source_line(self->where));
    else note_once(what, mend, self->where);
}

unsigned active_lanes(Where where) {
    return Lanes("__activemask()", 0, 0, where, Rendezvous::at_activemask).present();
}

#ifndef CUDACPU_INSTRUMENTED  // nothing is counted or drawn
void took(const void*, unsigned, int) {}
#endif

}  // namespace cudacpu
