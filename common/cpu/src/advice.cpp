// advice.cpp - how the hazard build words what it has seen, and what it advises.
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "hazards.hpp"

namespace cudacpu::hazards {

namespace {

const std::string& line_of(uint64_t site) {
    static std::map<uint64_t, std::string> known;
    std::string& s = known[site];
    const char* at = reinterpret_cast<char*>(site & ~0ul >> 16);
    if (s.empty()) s = site >> 48 ? text("%s:%d", at, int(site >> 48)) : source_line(at - 1);
    if (s.empty()) s = "a line that is not known";
    return s;
}

std::string index(uint64_t i, dim3 n) {
    return text("(%u,%u,%u)", unsigned(i % n.x), unsigned(i / n.x % n.y), unsigned(i / n.x / n.y));
}

std::string who(const Party& p) {
    const char* does = p.access & atomic ? "does an atomic" : p.access & writes ? "writes" : "reads";
    return "block " + index(p.block, launch->grid) + ", thread " + index(p.rank, launch->block) + " " + does +
           " at " + line_of(p.site);
}

void report(const std::string& what, const char* address, const std::string& mend, const Party& mine,
            const Party& other) {
    static std::set<std::string> reported;
    const auto& [a, b] = std::minmax(line_of(mine.site), line_of(other.site));
    exit_status = 1;
    if (!reported.insert(what + a + b).second) return;
    std::string place = explain(address);
    if (place.empty()) place = is_global(address) ? "a variable of the program" : text("address %p", address);
    std::string s = "cudacpu: hazard: " + what + place + "\n  in kernel " + launch->kernel->name + ", ";
    if (&mine != &other) s += who(other) + ",\n  and ";
    s += who(mine) + (&mine != &other ? ", and nothing orders the two\n  " : "\n  ") + mend;
    char folder[4096];  // lines are easier to read with paths from here
    if (getcwd(folder, sizeof folder - 1))
        for (size_t i, n = strlen(strcat(folder, "/")); (i = s.find(folder)) != s.npos;) s.erase(i, n);
    say(s);
}

}  // namespace

int distance(const Race& r) {
    return r.before.block != r.after.block ? 2 : r.before.rank / 32 != r.after.rank / 32;
}

void report(const Race& race) {
    const auto& [before, after, address, bytes, adds] = race;
    const bool swapped = after.step < before.step;  // the preempted thread's comes first in the program
    const std::string &a = line_of((swapped ? after : before).site), &b = line_of((swapped ? before : after).site);
    const std::string put = distance(race) ? "put __syncthreads() " : "put __syncwarp() ";
    std::string mend = a == b ? put + "into the loop around " + a : put + "between " + a + " and " + b;
    if ((before.access | after.access) & atomic)
        mend = "make both accesses atomic, or order them: by a barrier, between blocks by a second kernel";
    else if (adds || (a == b && before.access & after.access & writes))
        mend = "use an atomic (atomicAdd, ...) if all add to the same place; else let one thread write";
    else if (distance(race) == 2)
        mend =
            "blocks cannot wait for each other: use an atomic, or a second kernel; if the last block reads what\n"
            "  all have written, they need __threadfence() before the atomic that counts them";
    report("a race on ", address, mend, after, before);
}

void report(Mistake what, const char* address, size_t, const Party& who) {
    switch (what) {
        case Mistake::foreign:
            return report("an access to memory that is not the device's: ", address,
                          "give the kernel memory from cudaMalloc or cudaMallocManaged", who, who);
        case Mistake::out_of_bounds:
            return report("an access out of bounds: ", address, "check the index against the size: if (i < n)", who,
                          who);
        case Mistake::unwritten:
            return report("a value is used that nobody has written: ", address,
                          is_shared(find(address)) ? "write it first, and put a barrier between"
                                                   : "set the memory first: cudaMemset, cudaMemcpy or a kernel",
                          who, who);
    }
}

}  // namespace cudacpu::hazards
