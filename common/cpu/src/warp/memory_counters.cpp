// memory_counters.cpp - memory counters: what NVIDIA's ncu counts on a GPU, computed from the memory operations of
// warps.
//
// A request is one memory operation of a warp. In global memory it costs sectors of 32 bytes. Shared memory has 32
// banks of 4 bytes, and each further word of a bank costs a wavefront. Accesses of 8 bytes are served a half warp
// at a time, those of 16 bytes a quarter warp at a time. Constant memory has its own cache and costs no sectors.
#include "warp/memory_counters.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "api/upcalls.hpp"
#include "engine/build.hpp"
#include "engine/launch.hpp"
#include "engine/reporting.hpp"
#include "engine/text.hpp"
#include "memory/address_space.hpp"
#include "warp/lockstep.hpp"

// From the linker: what is below it is constant. A shared library does not have it.
extern "C" __attribute__((weak)) char __data_start;

namespace cudacpu::warp {

namespace {

struct Totals {
    uint64_t requests = 0, lanes = 0, sectors = 0, enough = 0, conflicts = 0, addresses = 0;
    void add(const Totals& t) {
        requests += t.requests, lanes += t.lanes, sectors += t.sectors, enough += t.enough;
        conflicts += t.conflicts, addresses += t.addresses;
    }
};
struct What {  // in the order of the table
    Kind kind;
    Space space;
    auto operator<=>(const What&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14's own mistake
};
struct Counted {
    uint64_t launches = 0, blocks = 0, warps = 0;
    std::map<std::pair<uint64_t, What>, Totals> sites;
};
struct Shape {
    std::string kernel;
    dim3 grid, block;
    bool operator==(const Shape& s) const {
        return kernel == s.kernel && !memcmp(&grid, &s.grid, sizeof grid) &&
               !memcmp(&block, &s.block, sizeof block);
    }
};
std::vector<std::pair<Shape, Counted>> all CUDACPU_LASTING;  // in order of appearance
Counted* counted;
struct {
    uint64_t site;
    What what;
    Totals* totals;
} near[256];  // a cache in front of the map

Totals& totals_of(uint64_t site, What what) {
    auto& n = near[(site ^ site >> 8) % std::size(near)];
    if (!n.totals || n.site != site || n.what != what) n = {site, what, &counted->sites[{site, what}]};
    return *n.totals;
}

unsigned distinct(uint64_t* begin, uint64_t* end) {
    if (!std::is_sorted(begin, end)) std::sort(begin, end);
    return unsigned(std::unique(begin, end) - begin);
}

bool is_constant(const char* address) {
    for (const Constant* c = Constant::last; c; c = c->before)
        if (size_t(address - static_cast<const char*>(c->start)) < c->bytes) return true;
    return false;
}

}  // namespace

Place place_of(const volatile void* of) {
    const char* const address = static_cast<char*>(const_cast<void*>(of));
    static const Region* last;
    const Region* r = last;
    if (!r || address < r->start || address >= r->start + r->bytes) r = last = find(address);
    if (!r && is_constant(address)) return {constant_memory, true, nullptr, uint64_t(address)};
    if (!r) return {global_memory, !is_global(address) || address >= &__data_start, nullptr, uint64_t(address)};
    const uint64_t begin = r->kind == cudacpu::Kind::registered ? uint64_t(r->start) : uint64_t(r->start) & ~255ul;
    return {is_shared(r) ? shared_memory : global_memory, true, r, uint64_t(address - r->start) + begin};
}

Request request_of(const WarpInstruction& o, unsigned behind) {
    const LanePosition& s = o.first();
    Request r{o.site, o.kind, o.mask, unsigned(s.piece), place_of(s.address).space, s.base, s.place, s.round, {}};
    for_lanes(o.mask, [&](unsigned l) { r.at[l] = place_of(o.position(l).address).address + behind; });
    return r;
}

unsigned sectors(const Request& r) {
    uint64_t numbers[64];
    unsigned n = 0;
    for_lanes(r.mask, [&](unsigned l) {
        numbers[n++] = r.at[l] / 32;
        if ((r.at[l] + r.bytes - 1) / 32 != r.at[l] / 32) numbers[n++] = r.at[l] / 32 + 1;
    });
    return distinct(numbers, numbers + n);
}

unsigned extra_wavefronts(const Request& r) {
    const unsigned lanes_at_once = std::min(32u, 128 / r.bytes);
    unsigned wavefronts = 0;
    for (unsigned from = 0; from < 32; from += lanes_at_once) {
        uint64_t words[32][32];
        unsigned number[32] = {}, most = 0;
        const unsigned part = unsigned((1ul << lanes_at_once) - 1) << from;
        for_lanes(r.mask & part, [&](unsigned l) {
            for (uint64_t word = r.at[l] / 4; word <= (r.at[l] + r.bytes - 1) / 4; ++word) {
                uint64_t* const bank = words[word % 32];
                unsigned& n = number[word % 32];
                if (std::find(bank, bank + n, word) == bank + n) bank[n++] = word;
                most = std::max(most, n);
            }
        });
        wavefronts += most;
    }
    return wavefronts - (unsigned(std::popcount(r.mask)) + lanes_at_once - 1) / lanes_at_once;
}

namespace {

// nvcc merges accesses to the members of a float4 into one if no other access separates them, because a float4 is
// aligned to 16 bytes. It also merges shared memory accesses of several loop iterations. An access is therefore
// pending until the warp leaves the basic block. Shared memory and other memory are kept apart, because neither can
// change the other. A merged group is all loads or all stores.
std::vector<Request> waiting[32][2] CUDACPU_LASTING;

unsigned addresses_of(const Request& r) {
    uint64_t addresses[32], *end = addresses;
    for_lanes(r.mask, [&](unsigned l) { *end++ = r.at[l]; });
    return distinct(addresses, end);
}

void count_request(const Request& r) {
    Totals& t = totals_of(r.site, {r.kind, r.space});
    ++t.requests;
    t.lanes += unsigned(std::popcount(r.mask));
    if (r.space == global_memory) t.sectors += sectors(r), t.enough += (addresses_of(r) * r.bytes + 31) / 32;
    else if (r.space == shared_memory) t.conflicts += extra_wavefronts(r);
}

bool all_lanes(const Request& r, auto condition) {
    bool yes = true;
    for_lanes(r.mask, [&](unsigned l) { yes &= condition(l); });
    return yes;
}

// Merges the accesses that begin with this one and fill this many bytes, if all are present.
bool merge(std::vector<Request>& list, size_t first, unsigned bytes) {
    Request& r = list[first];
    const auto together = [&](const Request& other) {
        if (r.space == shared_memory && ((r.place && r.place == other.place) || (r.round && other.round)))
            return true;
        return (r.space == shared_memory || launch->kernel->names_vectors) && r.base && r.base == other.base;
    };
    if (r.bytes < 4 || r.bytes >= bytes || (r.round > 4 && bytes > 8) ||
        !all_lanes(r, [&](unsigned l) { return r.at[l] % bytes == 0; }))
        return false;
    std::vector<size_t> parts;
    for (unsigned behind = r.bytes; behind < bytes; behind += r.bytes) {
        const auto next = std::find_if(list.begin(), list.end(), [&](const Request& other) {
            return other.mask == r.mask && other.bytes == r.bytes && together(other) &&
                   all_lanes(r, [&](unsigned l) { return other.at[l] == r.at[l] + behind; });
        });
        if (next == list.end()) return false;
        parts.push_back(size_t(next - list.begin()));
    }
    const auto [least, greatest] = std::minmax_element(parts.begin(), parts.end());
    if (r.kind == store && std::max(first, *greatest) - std::min(first, *least) != parts.size()) return false;
    r.bytes = bytes;
    for (const size_t part : parts) list[part].mask = 0;
    return true;
}

void count_list(std::vector<Request>& list) {
    for (const unsigned bytes : {16u, 8u})
        for (size_t i = 0; list.size() > 1 && i < list.size(); ++i)
            if (list[i].mask) merge(list, i, bytes);
    for (const Request& r : list)
        if (r.mask) count_request(r);
    list.clear();
}

}  // namespace

void count_waiting(unsigned warp, unsigned round) {
    for (auto& list : waiting[warp])
        if (!list.empty() && (!round || !list.back().round || (round % 4 == 1 && list.back().round % 4 != 1)))
            count_list(list);
}

void count_launch() {
    const Shape shape{kernel_name(), launch->grid, launch->block};
    auto found = std::find_if(all.begin(), all.end(), [&](const auto& known) { return known.first == shape; });
    if (found == all.end()) found = all.insert(all.end(), {shape, {}});
    counted = &found->second;
    memset(static_cast<void*>(near), 0, sizeof near);
    const uint64_t blocks = uint64_t(shape.grid.x) * shape.grid.y * shape.grid.z;
    ++counted->launches;
    counted->blocks += blocks;
    counted->warps += blocks * ((running_block.size + 31) / 32);
}

void count_instruction(const WarpInstruction& o) {
    if (o.kind == leaves) return;
    const bool access = o.kind == load || o.kind == store;
    if (!access) count_waiting(o.warp);
    if (!access && o.kind != atomic) {
        Totals& t = totals_of(o.site, {o.kind, global_memory});
        ++t.requests;
        t.lanes += unsigned(std::popcount(o.mask));
        return;
    }
    const Place place = place_of(o.first().address);
    if (!place.counts) return;
    auto& list = waiting[o.warp][place.space == shared_memory];
    if (!list.empty() && list[0].kind != o.kind) count_list(list);
    for (unsigned i = 0; i < o.first().bytes; i += unsigned(o.first().piece)) list.push_back(request_of(o, i));
    if (access) return;
    const Request r = list[0];
    count_list(list);
    totals_of(o.site, {atomic, r.space}).addresses += addresses_of(r);
}

// ---- output ----------------------------------------------------------------------------------------------

namespace {

std::string words_of(What w) {
    const bool access = w.kind == load || w.kind == store || w.kind == atomic;
    return (access ? names_of_spaces[w.space] + std::string(" ") : "") + names_of_kinds[w.kind];
}

std::string with_commas(uint64_t n) {
    std::string s = std::to_string(n);
    for (int i = int(s.size()) - 3; i > 0; i -= 3) s.insert(size_t(i), ",");
    return s;
}

std::string size_of(dim3 d) {
    std::string s = std::to_string(d.x);
    if (d.y > 1 || d.z > 1) s += text(" x %u", d.y);
    if (d.z > 1) s += text(" x %u", d.z);
    return s;
}

using Lines = std::map<std::tuple<std::string, int, What>, Totals>;  // by file, line and kind of operation
std::vector<Lines> lines_of_all() {
    std::set<uint64_t> sites;
    for (const auto& [shape, c] : all)
        for (const auto& [key, totals] : c.sites) sites.insert(key.first);
    const auto names = source_places(sites);
    std::vector<Lines> result;
    for (const auto& [shape, c] : all) {
        Lines lines;
        for (const auto& [key, totals] : c.sites) {
            const std::string& place = names.at(key.first);
            const size_t colon = std::min(place.rfind(':'), place.size());
            const int number = colon < place.size() ? atoi(place.c_str() + colon + 1) : 0;
            lines[{place.substr(0, colon), number, key.second}].add(totals);
        }
        result.push_back(std::move(lines));
    }
    return result;
}

std::string ratio(uint64_t a, uint64_t b) { return b ? text("%.2f", double(a) / double(b)) : ""; }

// The most expensive line of a kernel, if it costs at least twice what is necessary, and how to improve it.
std::string most_lost(const Lines& lines) {
    std::string s;
    const auto add = [&](auto lost, auto words) {
        const auto most = std::max_element(lines.begin(), lines.end(), [&](const auto& a, const auto& b) {
            return lost(a.second) < lost(b.second);
        });
        if (most == lines.end() || !lost(most->second)) return;
        const auto& [file, number, what] = most->first;
        s += wrapped(text("line %d, %s: ", number, words_of(what).c_str()) + words(most->second));
    };
    add([](const Totals& t) { return t.sectors < 2 * t.enough ? 0 : t.sectors - t.enough; },
        [](const Totals& t) {
            return with_commas(t.sectors) + " sectors where " + with_commas(t.enough) +
                   " would do: let neighbouring lanes touch neighbouring words";
        });
    add([](const Totals& t) { return t.conflicts < t.requests ? 0 : t.conflicts; },
        [](const Totals& t) {
            return "bank conflicts add " + with_commas(t.conflicts) + " wavefronts to " + with_commas(t.requests) +
                   (t.requests > 1 ? " requests" : " request") +
                   ": let lanes want words of different banks (for columns of a tile: rows one word longer)";
        });
    add([](const Totals& t) { return !t.addresses || t.lanes < 2 * t.addresses ? 0 : t.lanes - t.addresses; },
        [](const Totals& t) {
            return ratio(t.lanes, t.addresses) +
                   " lanes change one word, one after the other: add up in the warp or in the block first";
        });
    return s.empty() ? s : s.substr(1) + "\n";
}

}  // namespace

std::string table() {
    std::string s;
    const auto lines_of = lines_of_all();
    for (size_t i = 0; i < all.size(); ++i) {
        const auto& [shape, c] = all[i];
        std::string file_before = lines_of[i].empty() ? "" : std::get<0>(lines_of[i].begin()->first);
        const bool several = uint64_t(shape.grid.x) * shape.grid.y * shape.grid.z > 1;
        const std::string head =
            shape.kernel +
            text(": %s %s of ", with_commas(c.launches).c_str(), c.launches > 1 ? "launches" : "launch") +
            size_of(shape.grid) + (several ? " blocks, " : " block, ") + size_of(shape.block) +
            " threads each, in " + file_before;
        s += "\n" + wrapped(head).substr(3) + "\n";
        s += text("%22s %12s %7s %13s %10s %10s\n", "", "requests", "lanes", "sectors", "a request", "conflicts");
        int line_before = 0;
        for (const auto& [key, t] : lines_of[i]) {
            const auto& [file, number, what] = key;
            if (file != file_before) s += "  " + from_here(file) + "\n";
            if (file != file_before || number != line_before) {
                const std::string shown = listing({{text("%s:%d", file.c_str(), number), ""}});
                s += (shown.empty() ? text("  %5d |", number) : shown.substr(1)) + "\n";
            }
            file_before = file, line_before = number;
            const bool global = what.kind <= atomic && what.space == global_memory,
                       counts_banks = what.kind <= atomic && what.space == shared_memory;
            s += text("          %-13s %11s %7s %13s %10s %10s", words_of(what).c_str(),
                      with_commas(t.requests).c_str(), text("%.1f", double(t.lanes) / double(t.requests)).c_str(),
                      global ? with_commas(t.sectors).c_str() : "",
                      global ? ratio(t.sectors, t.requests).c_str() : "",
                      counts_banks ? with_commas(t.conflicts).c_str() : "");
            s.erase(s.find_last_not_of(' ') + 1);
            if (what.kind == atomic) s += "\n            lanes on one address: " + ratio(t.lanes, t.addresses);
            s += "\n";
        }
        s += most_lost(lines_of[i]);
    }
    return s;
}

std::string csv() {
    std::string s =
        "kernel,launches,grid,block,warps,file,line,what,requests,lanes,sectors,bank_conflicts,sharing_lanes\n";
    const auto lines_of = lines_of_all();
    const auto quoted = [](std::string field) {
        for (size_t i = 0; (i = field.find('"', i)) != field.npos; i += 2) field.insert(i, "\"");
        return field.find_first_of(",\"") == field.npos ? field : '"' + field + '"';
    };
    for (size_t i = 0; i < all.size(); ++i) {
        const auto& [shape, c] = all[i];
        for (const auto& [key, t] : lines_of[i]) {
            const auto& [file, number, what] = key;
            s += quoted(shape.kernel) +
                 text(",%lu,%s,%s,%lu,", c.launches, size_of(shape.grid).c_str(), size_of(shape.block).c_str(),
                      c.warps) +
                 quoted(from_here(file)) +
                 text(",%d,%s,%lu,%lu,%lu,%lu,%s\n", number, words_of(what).c_str(), t.requests, t.lanes, t.sectors,
                      t.conflicts, ratio(t.lanes, t.addresses).c_str());
        }
    }
    return s;
}

}  // namespace cudacpu::warp
