// exchanges.cpp - what threads wait for: barriers, operations of the warp, and the question who is active.
//
// Threads meet() in an Exchange and show each other a value. When no thread can run, every exchange to which all
// have come is complete, and its threads go on. If none is, they wait for each other: threads.cpp reports it.
#include "internal.hpp"

#include <set>

namespace cudacpu {

std::vector<Exchange*> open_exchanges[33];
Where last_met[33];

namespace {

bool same_place(Where a, Where b) { return a.line == b.line && (a.file == b.file || !strcmp(a.file, b.file)); }

void passed(const Exchange& e, unsigned warp) {
    if (e.kind == Exchange::at_warp && !strcmp(e.what, "__syncwarp()")) {
        last_met[warp] = e.where;
        hazards::lanes_met(32 * warp, e.arrived);
    }
    if (e.kind != Exchange::at_barrier) return;
    std::fill(std::begin(last_met), std::end(last_met), e.where);
    hazards::barrier_passed();
    static std::set<std::string> noted;  // lines
    static Where last{};                 // saves the look into the set
    if (!running_block.ended || same_place(last, e.where)) return;
    last = e.where;
    if (!noted.insert(source_line(e.where)).second) return;
    say(compose_report("note: a barrier that threads of the block never reach, as they have ended",
                       "GPUs since Volta go on without them, older ones may not: let all threads reach it, guard "
                       "the work with if" +
                           who_waits_where(),
                       source_line(e.where)));
}

}  // namespace

bool complete_exchanges(bool nobody_can_run) {
    bool any = false;
    for (unsigned warp = 0; warp < 33; ++warp)
        std::erase_if(open_exchanges[warp], [&](Exchange* e) {
            e->complete = e->kind == Exchange::at_barrier ? e->count + running_block.ended == running_block.size
                          : e->kind == Exchange::at_warp  ? !(e->mask & running_block.lanes[warp] & ~e->arrived)
                                                          : nobody_can_run;
            if (e->complete) any = true, passed(*e, warp);
            return e->complete;
        });
    progress += any;
    return any;
}

Exchange* meet(Exchange::Kind kind, const char* what, unsigned mask, const void* value, size_t bytes, Where where) {
    if (!self)
        fault(cudaErrorNotSupported, std::string(what) + " is for kernels", "the host cannot call it", &where);
    if (kind == Exchange::at_warp && !(mask >> lane & 1))
        fault(cudaErrorLaunchFailure, text("%s: lane %u is not in its own mask 0x%08x", what, lane, mask),
              "a lane may only take part in an operation whose mask names it", &where);
    auto& list = open_exchanges[kind == Exchange::at_barrier ? 32 : rank / 32];
    auto found = std::find_if(list.begin(), list.end(), [&](const Exchange* e) {
        return e->kind == kind && (kind == Exchange::at_warp ? e->mask == mask && !strcmp(e->what, what)
                                                             : same_place(e->where, where));
    });
    if (found == list.end()) {
        found = list.insert(found, new Exchange{kind, what, mask, where});
        memset((*found)->value, 0xff, sizeof(*found)->value);  // not 0: so that a missing lane shows in a sum
    }
    Exchange* e = *found;
    ++e->count;
    e->arrived |= 1u << lane;
    memcpy(e->value[lane], value, bytes);
    if (kind == Exchange::at_barrier) e->votes += *static_cast<const int*>(value);
    self->at = e;
    self->where = where;
    atomics_in_a_row = 0;
    switch_to(next_fiber());
    self->at = nullptr;
    return e;
}

void leave(Exchange* e) {
    if (!--e->count) delete e;
}

int barrier(const char* what, int vote, Where where) {
    return Lanes(what, 0, vote, where, Exchange::at_barrier).votes();
}

unsigned active_lanes(Where where) {
    return Lanes("__activemask()", 0, 0, where, Exchange::at_activemask).present();
}

}  // namespace cudacpu
