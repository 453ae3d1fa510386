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
    std::string all = std::string("let all lanes come here, ") +
                      (is_syncwarp(e) ? "move it out of the branch"
                                      : "with a value that changes nothing where one has no element") +
                      "; or name those that do: ask __ballot_sync() for them before the branch";
    let_lanes_come(e.where, e.what, all);
    const std::string line = source_line(e.where);
    if (diverged)
        report_bug(text("hazard: %s names lanes that took another path and do not come: 0x%08x", e.what, diverged),
                   all, line, "absent-lanes");
    else
        print_report(
            compose_report(text("note: %s names lanes that have ended: 0x%08x", e.what, ended), all, line));
}

void on_complete(const Rendezvous& e, unsigned warp) {
    if (seconds_in_block >= 2 * patience)  // a loop around a barrier is not a spin
        note_once(text("notice: this block has run for %d seconds, and meets here again and again", 2 * patience),
                  "if it does not end, check what ends the loop around this line; Ctrl-C ends the program",
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
    std::string all = "let all threads reach it, guard the work with if";
    let_all_come(e.where, false, all);
    print_report(
        compose_report("note: a barrier that threads of the block never reach, as they have ended",
                       "GPUs since Volta go on without them, older ones may not: " + all + who_waits_where(),
                       source_line(e.where)));
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
        fault(cudaErrorNotSupported, std::string(what) + " is for kernels", "the host cannot call it", &where);
    if (kind == Rendezvous::at_warp && !(mask >> lane() & 1))
        fault(
            cudaErrorLaunchFailure,
            text("%s%s: lane %u is not in its own mask 0x%08x", hazard_build ? "hazard: " : "", what, lane(), mask),
            "name in the mask all lanes that come here (0xffffffff: a whole warp), or let only those come", &where);
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
    const std::string what = text("%s takes the value of lane %d, which ", e->what, from);
    const char* const mend =
        named && exists
            ? "the value is undefined: let all lanes come here, with a value that changes nothing where one has no "
              "element"
            : "the value is undefined: name in the mask the lanes that take part, and read from these alone";
    if (named)
        report_bug(what + (exists ? "has ended" : "the block does not have"), mend, source_line(self->where));
    else note_once("note: " + what + "is not in the mask", mend, self->where);
}

unsigned active_lanes(Where where) {
    return Lanes("__activemask()", 0, 0, where, Rendezvous::at_activemask).present();
}

#ifndef CUDACPU_INSTRUMENTED  // nothing is counted or drawn
void took(const void*, unsigned, int) {}
#endif

}  // namespace cudacpu
