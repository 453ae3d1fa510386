// trace_page.cpp - writes the trace page: the page in trace/ with the recorded data in the format of record.hpp.
#include "warp/trace_page.hpp"

#include <errno.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include "api/upcalls.hpp"
#include "engine/build.hpp"
#include "engine/reporting.hpp"
#include "engine/text.hpp"
#include "warp/lockstep.hpp"
#include "warp/memory_counters.hpp"
#include "warp/trace_recorder.hpp"

// The page as it was when this file was compiled.
asm(".section .rodata\n.global cudacpu_page\ncudacpu_page:\n.incbin \"" CUDACPU_PAGE "\"\n.byte 0\n.previous");
extern "C" const char cudacpu_page[];

namespace cudacpu::warp {

namespace {

std::string json_text(const std::string& s) {
    std::string q = "\"";
    for (const char c : s)
        if (c == '"' || c == '\\') q += std::string("\\") + c;
        else if (c == '<' || uint8_t(c) < 32) q += text("\\u%04x", c);
        else q += c;
    return q + "\"";
}
template <class List, class F> std::string list(const List& items, F f) {
    std::string s;
    for (const auto& item : items) s += (s.empty() ? "" : ",") + f(item);
    return "[" + s + "]";
}
std::string three(dim3 d) { return text("[%u,%u,%u]", d.x, d.y, d.z); }

double as_float(const unsigned char* p, unsigned bytes) {
    float f = 0;
    double d = 0;
    if (bytes == 4) memcpy(&f, p, 4), d = f;
    else memcpy(&d, p, 8);
    return d;
}
int64_t as_int(const unsigned char* p, unsigned bytes) {
    uint64_t u = 0;
    memcpy(&u, p, bytes);
    const unsigned unused = 64 - 8 * bytes;
    return bytes < 4 ? int64_t(u) : int64_t(u << unused) >> unused;  // bytes and shorts are shown as unsigned
}
// A word that is a common float value is rarely an index or a count.
bool looks_like_float(const unsigned char* p, unsigned bytes) {
    const double d = std::fabs(as_float(p, bytes));
    return d > 1e-9 && d < 1e15;
}
std::string number(const unsigned char* p, unsigned bytes, bool is_float) {
    if (!is_float) return std::to_string(as_int(p, bytes));
    if (std::isnan(as_float(p, bytes))) return "nan";  // memory that is not yet written is also a nan, and negative
    return bytes == 4 ? text("%.7g", as_float(p, 4)) : text("%.16g", as_float(p, 8));
}
std::string value_text(const unsigned char* p, unsigned bytes, unsigned element, bool is_float) {
    std::string s;
    for (unsigned i = 0; i + element <= bytes; i += element) s += (i ? " " : "") + number(p + i, element, is_float);
    const bool plain = bytes == element && s.find_first_of("inf") == s.npos && s.size() < 17;
    return plain ? s : json_text(s);
}

class Files {  // the files that are named, and their numbers
    std::vector<std::string> names;

public:
    std::string at(const std::string& place) {
        const size_t colon = place.rfind(':');
        if (colon == place.npos) return "[-1,0]";
        const std::string file = std::filesystem::absolute(place.substr(0, colon));
        const auto i = std::find(names.begin(), names.end(), file) - names.begin();
        if (size_t(i) == names.size()) names.push_back(file);
        return text("[%td,%s]", i, place.c_str() + colon + 1);
    }
    std::string json() const {
        return list(names, [](const std::string& file) {
            return "{\"name\":" + json_text(from_here(file)) + ",\"lines\":" + list(source_text(file), json_text) +
                   "}";
        });
    }
};

// Decides which arrays hold floats. An array with few values gets the type of most others of its size.
std::vector<bool> arrays_of_floats(const Drawn& d) {
    constexpr long few = 16;
    std::vector<long> yes(d.arrays.size()), no(d.arrays.size());
    for (const Event& e : d.events)
        for (const Cell& c : e.cells) {
            if (e.array < 0 || !c.has_value) continue;
            const unsigned element = d.arrays[size_t(e.array)].element;
            const int64_t v = as_int(c.value, element);
            if (v && v != -1) ++(looks_like_float(c.value, element) ? yes : no)[size_t(e.array)];
        }
    std::vector<bool> floats;
    for (size_t i = 0; i < d.arrays.size(); ++i) {
        long of_all = 0;
        for (size_t k = 0; k < d.arrays.size() && yes[i] + no[i] < few; ++k)
            if (d.arrays[k].element == d.arrays[i].element) of_all += yes[k] - 9 * no[k];
        floats.push_back(d.arrays[i].element >= 4 && (of_all ? of_all > 0 : yes[i] > 9 * no[i]));
    }
    return floats;
}

std::string name_of_part(const Drawn& d, const Part& p) {
    const auto [x, y, z] = d.grid;
    const std::string block = y * z == 1 ? text("%lu", p.block)
                              : z == 1   ? text("(%lu,%lu)", p.block % x, p.block / x)
                                         : text("(%lu,%lu,%lu)", p.block % x, p.block / x % y, p.block / x / y);
    return "warp " + std::to_string(p.thread / 32) + " of block " + block;
}

std::string json_of(const Drawn& d, Files& files) {
    std::set<uint64_t> sites;
    for (const Event& e : d.events) sites.insert(e.site);
    const auto names = source_places(sites);
    const std::vector<bool> floats = arrays_of_floats(d);
    unsigned rows = 0;
    for (const Event& e : d.events) rows = std::max(rows, e.row + 1);
    std::vector<size_t> order(d.events.size()), place_in_order(d.events.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return std::pair(d.events[a].row, d.events[a].column) < std::pair(d.events[b].row, d.events[b].column);
    });
    for (size_t i = 0; i < order.size(); ++i) place_in_order[order[i]] = i;

    std::vector<std::string> cut;  // trace/steps.js translates these sentences into Chinese
    const auto more = [](uint64_t n, const char* what) {
        return text("%lu more %s%s", n, what, n == 1 ? "" : "s");
    };
    const unsigned warps_of_block = (d.block.x * d.block.y * d.block.z + 31) / 32;
    const uint64_t blocks = uint64_t(d.grid.x) * d.grid.y * d.grid.z;
    uint64_t last_block = ~0ul, blocks_drawn = 0;
    for (const Column& c : d.columns) blocks_drawn += std::exchange(last_block, c.block) != c.block;
    const size_t warps_drawn = blocks_drawn ? d.columns.size() / blocks_drawn : 0;
    if (warps_of_block > warps_drawn)
        cut.push_back(more(warps_of_block - warps_drawn, "warp") + " of " +
                      (blocks_drawn == 1 ? text("block %lu", last_block) : "each block"));
    if (blocks > blocks_drawn) cut.push_back(more(blocks - blocks_drawn, "block"));
    if (d.full) cut.push_back(text("what comes after row %u", rows - 1));
    else if (!d.stopped.empty()) cut.push_back(text("what comes after row %u: ", rows - 1) + d.stopped);

    const auto event = [&](size_t i) {
        const Event& e = d.events[i];
        std::string s = text("{\"row\":%u,\"column\":%u,\"kind\":\"%s\",\"mask\":%u", e.row, e.column,
                             names_of_kinds[e.kind], e.mask);
        if (e.kind != leaves) s += ",\"at\":" + files.at(names.at(e.site));
        if (!e.what.empty()) s += ",\"what\":" + json_text(e.what);
        unsigned element = e.taken == 8 ? 8 : 4, bytes = element;
        bool is_float = false;
        if (e.array >= 0) {
            const Array& a = d.arrays[size_t(e.array)];
            element = a.element, bytes = e.bytes, is_float = floats[size_t(e.array)];
            s += text(",\"array\":%d,\"bytes\":%u,\"elements\":", e.array, bytes) +
                 list(e.cells, [&](const Cell& c) { return std::to_string(c.offset / int64_t(element)); });
            if (a.space == shared_memory) s += text(",\"conflicts\":%u", e.conflicts);
            if (a.space == global_memory) s += text(",\"sectors\":%u", e.sectors);
        } else if (e.taken) {
            is_float = std::any_of(floats.begin(), floats.end(), [](bool f) { return f; }) && e.kind == shuffle;
            for (const Cell& c : e.cells)
                is_float &= !as_int(c.value, element) || looks_like_float(c.value, element);
        }
        if (e.array >= 0 || e.taken)
            s += ",\"values\":" + list(e.cells, [&](const Cell& c) {
                     return c.has_value ? value_text(c.value, bytes, element, is_float) : "null";
                 });
        if (e.kind == store || e.kind == atomic)
            s += ",\"olds\":" +
                 list(e.cells, [&](const Cell& c) { return value_text(c.old, bytes, element, is_float); });
        if (e.kind == shuffle && e.taken)
            s += ",\"from\":" + list(e.cells, [](const Cell& c) { return std::to_string(c.from); });
        return s + "}";
    };
    const auto array = [&](const Array& a) {
        return "{\"name\":" + json_text(a.name) +
               text(",\"space\":\"%s\",\"bytes\":%zu,\"element\":%u,\"type\":\"%s\",\"offset\":%zu}",
                    names_of_spaces[a.space], a.bytes, a.element,
                    floats[size_t(&a - d.arrays.data())] ? "float" : "int", a.offset);
    };
    std::vector<std::string> joined;
    for (const auto& [between, r] : d.races) {
        if (r.words.empty()) continue;
        if (r.events)
            joined.push_back(text("{\"a\":[%zu,%u],\"b\":[%zu,%u],\"text\":", place_in_order[r.events->first],
                                  r.a.thread % 32, place_in_order[r.events->second], r.b.thread % 32) +
                             json_text(from_here(r.words + r.where)) + "}");
        else
            cut.push_back(from_here(r.words + r.where) + ", by " + name_of_part(d, r.a) + " and " +
                          name_of_part(d, r.b));
    }
    return "{\"kernel\":" + json_text(d.kernel) + text(",\"launch\":%u,\"at\":", d.number) +
           files.at(source_line(d.where)) + ",\"grid\":" + three(d.grid) + ",\"block\":" + three(d.block) +
           ",\"columns\":" +
           list(d.columns,
                [](const Column& c) {
                    return text("{\"block\":%lu,\"warp\":%u,\"lanes\":%u}", c.block, c.warp, c.lanes);
                }) +
           ",\"cut\":" + list(cut, json_text) + text(",\"rows\":%u,\"arrays\":", rows) + list(d.arrays, array) +
           ",\"events\":" + list(order, event) +
           ",\"races\":" + list(joined, [](const std::string& s) { return s; }) + "}";
}

}  // namespace

std::string page_of(const std::vector<Drawn>& launches) {
    Files files;
    const std::string drawn = list(launches, [&](const Drawn& d) { return json_of(d, files); });
    const std::string json = "{\"format\":1,\"program\":" + json_text(program_invocation_short_name) +
                             ",\"build\":\"" + (counters_build ? "counters" : "hazards") +
                             "\",\"files\":" + files.json() + ",\"launches\":" + drawn + "}";
    std::string page = cudacpu_page;
    const std::string mark = "@trace@";
    page.replace(page.find(mark), mark.size(), json);
    return page;
}

}  // namespace cudacpu::warp
