// counters.cpp - what NVIDIA's ncu counts on a GPU, counted from the operations of the warps.
//
// A request is one operation of a warp on memory. It takes sectors of 32 bytes of global memory; shared memory has
// 32 banks of 4 bytes, and each further word of a bank costs a wavefront. Of 8 bytes a lane half a warp is served
// at a time, of 16 bytes a quarter.
#include <algorithm>
#include <map>

#include "record.hpp"

extern "C" char __data_start;  // from the linker: what lies before it is constant

namespace cudacpu::steps {

namespace {

struct Totals {
    uint64_t requests = 0, lanes = 0, sectors = 0, conflicts = 0, addresses = 0;
    void add(const Totals& t) {
        requests += t.requests, lanes += t.lanes, sectors += t.sectors, conflicts += t.conflicts;
        addresses += t.addresses;
    }
};
struct What {  // in the order of the table
    Kind kind;
    bool shared;
    auto operator<=>(const What&) const = default;
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
std::vector<std::pair<Shape, Counted>> all CUDACPU_LASTING;  // in the order in which they came
Counted* counted;
struct {
    uint64_t site;
    What what;
    Totals* totals;
} near[256];  // saves most looks into the map

Totals& totals_of(uint64_t site, What what) {
    auto& n = near[(site ^ site >> 8) % std::size(near)];
    if (!n.totals || n.site != site || n.what != what) n = {site, what, &counted->sites[{site, what}]};
    return *n.totals;
}

unsigned distinct(uint64_t* begin, uint64_t* end) {
    if (!std::is_sorted(begin, end)) std::sort(begin, end);
    return unsigned(std::unique(begin, end) - begin);
}

}  // namespace

Place place_of(const char* address) {
    static const Region* last;
    const Region* r = last;
    if (!r || address < r->start || address >= r->start + r->bytes) r = last = find(address);
    if (!r) return {false, !is_global(address) || address >= &__data_start, nullptr, uint64_t(address)};
    const bool shared = r->kind == cudacpu::Kind::shared || r->kind == cudacpu::Kind::dynamic;
    const uint64_t begin = r->kind == cudacpu::Kind::registered ? uint64_t(r->start) : uint64_t(r->start) & ~255ul;
    return {shared, true, r, uint64_t(address - r->start) + begin};
}

unsigned sectors(const Operation& o, unsigned behind) {
    uint64_t all[64];
    unsigned n = 0;
    for_lanes(o.mask, [&](unsigned l) {
        const uint64_t at = place_of(o.stop(l).address).address + behind;
        all[n++] = at / 32;
        if ((at + o.first().piece - 1) / 32 != at / 32) all[n++] = at / 32 + 1;
    });
    return distinct(all, all + n);
}

unsigned extra_wavefronts(const Operation& o, unsigned behind) {
    const unsigned piece = o.first().piece, lanes_at_once = std::min(32u, 128 / piece);
    unsigned extra = 0;
    for (unsigned from = 0; from < 32; from += lanes_at_once) {
        uint64_t words[32][32];
        unsigned count[32] = {}, most = 1;
        const unsigned part = unsigned((1ul << lanes_at_once) - 1) << from;
        for_lanes(o.mask & part, [&](unsigned l) {
            const uint64_t at = place_of(o.stop(l).address).address + behind;
            for (uint64_t word = at / 4; word <= (at + piece - 1) / 4; ++word) {
                uint64_t* const bank = words[word % 32];
                unsigned& n = count[word % 32];
                if (std::find(bank, bank + n, word) == bank + n) bank[n++] = word;
                most = std::max(most, n);
            }
        });
        extra += most - 1;
    }
    return extra;
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

void count(const Operation& o) {
    const bool access = o.kind == load || o.kind == store || o.kind == atomic;
    if (o.kind == leaves) return;
    const Place place = access ? place_of(o.first().address) : Place{};
    if (access && !place.counts) return;
    Totals& t = totals_of(o.site, {o.kind, place.shared});
    const unsigned lanes = unsigned(std::popcount(o.mask)), pieces = access ? o.first().bytes / o.first().piece : 1;
    t.requests += pieces;
    t.lanes += pieces * lanes;
    for (unsigned i = 0; i < pieces && access; ++i) {
        if (place.shared) t.conflicts += o.kind == atomic ? 0 : extra_wavefronts(o, i * o.first().piece);
        else t.sectors += sectors(o, i * o.first().piece);
    }
    if (o.kind != atomic) return;
    uint64_t addresses[32], *end = addresses;
    for_lanes(o.mask, [&](unsigned l) { *end++ = uint64_t(o.stop(l).address); });
    t.addresses += distinct(addresses, end);
}

// ---- what is printed -------------------------------------------------------------------------------------

namespace {

std::string words_of(What w) {
    const char* const names[] = {"",         "load",    "store", "atomic", "barrier",
                                 "syncwarp", "shuffle", "vote",  "",       "divergence"};
    const bool access = w.kind == load || w.kind == store || w.kind == atomic;
    return (access ? w.shared ? "shared " : "global " : "") + std::string(names[w.kind]);
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

using Lines = std::map<std::tuple<std::string, int, What>, Totals>;  // by file, line and what is done there
std::vector<Lines> lines_of_all() {
    std::vector<uint64_t> sites;
    for (const auto& [shape, c] : all)
        for (const auto& [key, totals] : c.sites) sites.push_back(key.first);
    const auto names = places(sites);
    std::vector<Lines> result;
    size_t i = 0;
    for (const auto& [shape, c] : all) {
        Lines& lines = result.emplace_back();
        for (const auto& [key, totals] : c.sites) {
            const std::string& place = names[i++];
            const size_t colon = std::min(place.rfind(':'), place.size());
            const int number = colon < place.size() ? atoi(place.c_str() + colon + 1) : 0;
            lines[{place.substr(0, colon), number, key.second}].add(totals);
        }
    }
    return result;
}

std::string ratio(uint64_t a, uint64_t b) { return b ? text("%.2f", double(a) / double(b)) : ""; }

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
            if (file != file_before || number != line_before)
                s += listing({{text("%s:%d", file.c_str(), number), ""}}).substr(1) + "\n";
            file_before = file, line_before = number;
            const bool global = what.kind <= atomic && !what.shared,
                       counts_banks = what.shared && what.kind != atomic;
            s += text("          %-12s %12s %7s %13s %10s %10s", words_of(what).c_str(),
                      with_commas(t.requests).c_str(), text("%.1f", double(t.lanes) / double(t.requests)).c_str(),
                      global ? with_commas(t.sectors).c_str() : "",
                      global ? ratio(t.sectors, t.requests).c_str() : "",
                      counts_banks ? with_commas(t.conflicts).c_str() : "");
            s.erase(s.find_last_not_of(' ') + 1);
            if (what.kind == atomic) s += "\n            lanes on one address: " + ratio(t.lanes, t.addresses);
            s += "\n";
        }
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

}  // namespace cudacpu::steps
