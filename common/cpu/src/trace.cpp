// trace.cpp - the operations of a few warps, row by row, as a page: trace.html with what record.hpp says in it.
#include <errno.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "record.hpp"

// The page, as it was when this was compiled.
asm(".section .rodata\n.global cudacpu_page\ncudacpu_page:\n.incbin \"" CUDACPU_FOLDER
    "/src/trace.html\"\n.byte 0\n.previous");
extern "C" const char cudacpu_page[];

namespace cudacpu::steps {

bool drawing;

namespace {

constexpr size_t most_cells = 20'000, most_cells_of_all = 100'000;  // one lane's part in one event

struct Cell {
    int64_t offset = 0;
    unsigned char value[16] = {}, old[16] = {};
    int from = -1;
    bool has_value = false;
};
struct Event {
    unsigned row, column;
    Kind kind;
    uint64_t site;
    unsigned mask;
    std::string what;
    unsigned bytes = 0, taken = 0, sectors = 0, conflicts = 0;  // taken: bytes of a shuffle's value
    int array = -1;
    std::vector<Cell> cells{};
};
struct Array {
    const Region* region;
    std::string name;
    bool shared;
    size_t bytes;
    const char* start;
    size_t offset;
    unsigned element = 16;
};
struct Column {
    uint64_t block;
    unsigned warp, lanes, row;
};
struct DrawnRace {
    std::pair<size_t, unsigned> a, b;
    std::string words;
};
struct Drawn {
    std::string kernel;
    unsigned number;
    Where where;
    dim3 grid, block;
    std::vector<Column> columns;
    std::vector<Array> arrays;
    std::vector<Event> events;
    std::vector<DrawnRace> races;
    bool full = false;
};
std::vector<Drawn> launches CUDACPU_LASTING;
std::map<std::string, unsigned> numbers CUDACPU_LASTING;  // how often each kernel was launched
size_t cells, cells_before;                               // of the launches before this one
bool of_launch;
int column_of[32];  // of each warp of the block
struct Now {
    size_t event = 0;
    unsigned cell = 0;
    bool any = false;
    const char* pending = nullptr;  // what it writes is there when it stops next
} now[1024];
struct Kept {
    bool drawing;
    int column_of[32];
    Now now[1024];
};

Cell* cell_of(unsigned thread) {
    const Now& n = now[thread];
    return n.any ? &launches.back().events[n.event].cells[n.cell] : nullptr;
}

const char* address_of(const Stop& s) { return static_cast<char*>(const_cast<void*>(s.address)); }

bool readable(const char* p, size_t bytes) {
    const Region* r = find(p);
    return r ? !r->freed && p >= r->start && p + bytes <= r->start + r->bytes : is_global(p);
}

int array_of(const char* address, unsigned bytes) {
    Drawn& d = launches.back();
    const Place place = place_of(address);
    std::string name;
    const std::string words = name_of(address, 1, &name);
    size_t element = 0;
    sscanf(words.c_str(), "element %zu", &element);
    const char* const start = words.starts_with("element ") ? address - element : address;
    for (size_t i = 0; i < d.arrays.size(); ++i) {
        Array& a = d.arrays[i];
        if (a.region != place.region || a.start != start) continue;
        a.element = std::min(a.element, bytes);
        return int(i);
    }
    size_t offset = 0;
    for (const Array& a : d.arrays)
        if (a.shared) offset = std::max(offset, (a.offset + a.bytes + 15) / 16 * 16);
    const size_t size = place.region ? size_t(place.region->start + place.region->bytes - start) : 0;
    d.arrays.push_back({place.region, name, place.shared, size, start, place.shared ? offset : 0, bytes});
    return int(d.arrays.size()) - 1;
}

void add(const Operation& o, unsigned row, int column) {
    Drawn& d = launches.back();
    if (d.full) return;
    Event e{row, unsigned(column), o.kind, o.site, o.mask, o.what};
    const bool access = o.kind == load || o.kind == store || o.kind == atomic;
    const unsigned lanes = unsigned(std::popcount(o.mask));
    cells += lanes;
    d.full = cells > most_cells || cells + cells_before > most_cells_of_all;
    if (access) {
        const Stop& s = o.first();
        e.bytes = unsigned(std::min<size_t>(s.bytes, 16));
        e.array = array_of(address_of(s), s.piece < 16 ? unsigned(s.piece) : 4);
        const Array& a = d.arrays[size_t(e.array)];
        for (unsigned i = 0; i < s.bytes; i += unsigned(s.piece))
            if (!a.shared) e.sectors += sectors(request_of(o, i));
            else if (o.kind != atomic) e.conflicts += extra_wavefronts(request_of(o, i));
    }
    if (access || o.kind == shuffle || o.kind == vote)
        for_lanes(o.mask, [&](unsigned l) {
            now[32 * o.warp + l] = {d.events.size(), unsigned(e.cells.size()), true, nullptr};
            e.cells.emplace_back();
            if (access) e.cells.back().offset = address_of(o.stop(l)) - d.arrays[size_t(e.array)].start;
        });
    d.events.push_back(e);
}

// ---- JSON ------------------------------------------------------------------------------------------------

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
// Bits that are the float of a quantity in common use are hardly ever an index or a count.
bool looks_like_float(const unsigned char* p, unsigned bytes) {
    const double d = std::fabs(as_float(p, bytes));
    return d > 1e-9 && d < 1e15;
}
std::string number(const unsigned char* p, unsigned bytes, bool is_float) {
    if (!is_float) return std::to_string(as_int(p, bytes));
    return bytes == 4 ? text("%.7g", as_float(p, 4)) : text("%.16g", as_float(p, 8));
}
std::string value_text(const unsigned char* p, unsigned bytes, unsigned element, bool is_float) {
    std::string s;
    for (unsigned i = 0; i + element <= bytes; i += element) s += (i ? " " : "") + number(p + i, element, is_float);
    const bool plain = bytes == element && s.find_first_of("inf") == s.npos && s.size() < 17;
    return plain ? s : json_text(s);
}

class Files {  // that are named, and their numbers
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

// Which arrays hold floats. Those with few values are taken for what most others of this size are.
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

std::string json_of(const Drawn& d, Files& files) {
    std::vector<uint64_t> sites;
    for (const Event& e : d.events) sites.push_back(e.site);
    std::vector<uint64_t> known = sites;
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    const auto names = places(known);
    const auto place = [&](uint64_t site) {
        return names[size_t(std::lower_bound(known.begin(), known.end(), site) - known.begin())];
    };
    const std::vector<bool> floats = arrays_of_floats(d);
    unsigned rows = 0;
    for (const Event& e : d.events) rows = std::max(rows, e.row + 1);
    std::vector<size_t> order(d.events.size()), place_in_order(d.events.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return std::pair(d.events[a].row, d.events[a].column) < std::pair(d.events[b].row, d.events[b].column);
    });
    for (size_t i = 0; i < order.size(); ++i) place_in_order[order[i]] = i;

    std::vector<std::string> cut;
    const unsigned warps_of_block = (d.block.x * d.block.y * d.block.z + 31) / 32;
    const uint64_t blocks = uint64_t(d.grid.x) * d.grid.y * d.grid.z;
    uint64_t last_block = ~0ul, blocks_drawn = 0;
    for (const Column& c : d.columns) blocks_drawn += std::exchange(last_block, c.block) != c.block;
    const size_t warps_drawn = blocks_drawn ? d.columns.size() / blocks_drawn : 0;
    if (warps_of_block > warps_drawn)
        cut.push_back(text("%zu more warps of %s", warps_of_block - warps_drawn,
                           blocks_drawn == 1 ? text("block %lu", last_block).c_str() : "each block"));
    if (blocks > blocks_drawn) cut.push_back(text("%lu more blocks", blocks - blocks_drawn));
    if (d.full) cut.push_back(text("what comes after row %u", rows - 1));

    const auto event = [&](size_t i) {
        const Event& e = d.events[i];
        const char* const kinds[] = {"",         "load",    "store", "atomic", "barrier",
                                     "syncwarp", "shuffle", "vote",  "exit",   "diverge"};
        std::string s =
            text("{\"row\":%u,\"column\":%u,\"kind\":\"%s\",\"mask\":%u", e.row, e.column, kinds[e.kind], e.mask);
        if (e.kind != leaves) s += ",\"at\":" + files.at(place(e.site));
        if (!e.what.empty()) s += ",\"what\":" + json_text(e.what);
        unsigned element = e.taken == 8 ? 8 : 4, bytes = element;
        bool is_float = false;
        if (e.array >= 0) {
            const Array& a = d.arrays[size_t(e.array)];
            element = a.element, bytes = e.bytes, is_float = floats[size_t(e.array)];
            s += text(",\"array\":%d,\"bytes\":%u,\"elements\":", e.array, bytes) +
                 list(e.cells, [&](const Cell& c) { return std::to_string(c.offset / int64_t(element)); });
            s += a.shared ? text(",\"conflicts\":%u", e.conflicts) : text(",\"sectors\":%u", e.sectors);
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
                    a.shared ? "shared" : "global", a.bytes, a.element,
                    floats[size_t(&a - d.arrays.data())] ? "float" : "int", a.offset);
    };
    const auto race = [&](const DrawnRace& r) {
        return text("{\"a\":[%zu,%u],\"b\":[%zu,%u],\"text\":", place_in_order[r.a.first], r.a.second,
                    place_in_order[r.b.first], r.b.second) +
               json_text(r.words) + "}";
    };
    return "{\"kernel\":" + json_text(d.kernel) + text(",\"launch\":%u,\"at\":", d.number) +
           files.at(source_line(d.where)) + ",\"grid\":" + three(d.grid) + ",\"block\":" + three(d.block) +
           ",\"columns\":" +
           list(d.columns,
                [](const Column& c) {
                    return text("{\"block\":%lu,\"warp\":%u,\"lanes\":%u}", c.block, c.warp, c.lanes);
                }) +
           ",\"cut\":" + list(cut, json_text) + text(",\"rows\":%u,\"arrays\":", rows) + list(d.arrays, array) +
           ",\"events\":" + list(order, event) + ",\"races\":" + list(d.races, race) + "}";
}

}  // namespace

void draw_launch() {
    drawing = of_launch = false;
    if (asked.trace.empty()) return;
    const std::string kernel = kernel_name();
    const unsigned number = ++numbers[kernel];
    const std::string plain = launch->kernel->name;
    if (number != asked.launch || (!asked.kernel.empty() && asked.kernel != kernel && asked.kernel != plain))
        return;
    cells_before += std::exchange(cells, 0);
    if (cells_before >= most_cells_of_all) return;
    of_launch = true;
    launches.push_back({kernel, number, launch->where, launch->grid, launch->block, {}, {}, {}, {}});
}

void draw_block() {
    drawing = false;
    if (!of_launch) return;
    Drawn& d = launches.back();
    const unsigned warps = (running_block.size + 31) / 32;
    const uint64_t blocks = uint64_t(d.grid.x) * d.grid.y * d.grid.z;
    const uint64_t first = std::min(asked.block, blocks - 1);
    if (d.full || block_number < first || block_number >= first + (asked.blocks ? 8 : 1)) return;
    drawing = true;
    std::fill(std::begin(column_of), std::end(column_of), -1);
    std::fill(std::begin(now), std::end(now), Now{});
    const unsigned from = std::min(asked.warp, warps - 1);
    for (unsigned w = from; w < std::min(warps, from + (asked.blocks ? 1 : 4)); ++w) {
        column_of[w] = int(d.columns.size());
        d.columns.push_back({block_number, w, std::min(32u, running_block.size - 32 * w), 0});
    }
}

std::shared_ptr<void> keep_drawing() {
    if (!of_launch) return nullptr;
    const auto k = std::make_shared<Kept>();
    k->drawing = drawing;
    std::copy(std::begin(column_of), std::end(column_of), k->column_of);
    std::copy(std::begin(now), std::end(now), k->now);
    return k;
}
void go_on_drawing(const std::shared_ptr<void>& kept) {
    if (!kept) return;
    const auto* k = static_cast<const Kept*>(kept.get());
    drawing = k->drawing;
    std::copy(std::begin(k->column_of), std::end(k->column_of), column_of);
    std::copy(std::begin(k->now), std::end(k->now), now);
}

void draw_barrier() {
    auto& columns = launches.back().columns;
    unsigned row = 0;
    for (const Column& c : columns)
        if (c.block == block_number) row = std::max(row, c.row);
    for (Column& c : columns)
        if (c.block == block_number) c.row = row;
}

void draw(const Operation& o) {
    if (column_of[o.warp] < 0 || o.kind == diverges) return;
    auto& columns = launches.back().columns;
    add(o, columns[size_t(column_of[o.warp])].row++, column_of[o.warp]);
}

void note_before(unsigned thread) {
    Cell* const c = cell_of(thread);
    if (!c) return;
    const Event& e = launches.back().events[now[thread].event];
    const char* const address = address_of(stops[thread]);
    if (!readable(address, e.bytes)) return;
    memcpy(c->old, address, e.bytes);
    memcpy(c->value, address, e.bytes);
    c->has_value = true;
    now[thread].pending = e.kind != load ? address : nullptr;
}

void note_after(unsigned thread) {
    const char* const written = std::exchange(now[thread].pending, nullptr);
    if (written) memcpy(cell_of(thread)->value, written, launches.back().events[now[thread].event].bytes);
}

void note_taken(unsigned thread, const void* value, unsigned bytes, int from) {
    Cell* const c = cell_of(thread);
    if (!c || bytes > sizeof c->value) return;
    Event& e = launches.back().events[now[thread].event];
    if (e.kind != shuffle && e.kind != vote) return;
    e.taken = bytes;
    memcpy(c->value, value, bytes);
    c->from = from;
    c->has_value = true;
}

void draw_race(uint64_t block_a, unsigned a, uint64_t site_a, uint64_t block_b, unsigned b, uint64_t site_b,
               const char* address, const std::string& words) {
    if (launches.empty()) return;
    Drawn& d = launches.back();
    const auto find_event = [&](uint64_t block, unsigned thread, uint64_t site) {
        for (size_t i = d.events.size(); i-- > 0;) {
            const Event& e = d.events[i];
            const Column& c = d.columns[e.column];
            if (e.site != site || c.block != block || c.warp != thread / 32 || !(e.mask >> thread % 32 & 1))
                continue;
            const unsigned cell = unsigned(std::popcount(e.mask & ((1u << thread % 32) - 1)));
            if (e.array >= 0 && d.arrays[size_t(e.array)].start + e.cells[cell].offset == address) return i;
        }
        return d.events.size();
    };
    for (const DrawnRace& r : d.races)
        if (d.events[r.a.first].site == site_a && d.events[r.b.first].site == site_b) return;
    const size_t first = find_event(block_a, a, site_a), second = find_event(block_b, b, site_b);
    if (first < d.events.size() && second < d.events.size())
        d.races.push_back({{first, a % 32}, {second, b % 32}, words});
}

std::string page_of_launches() {
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

}  // namespace cudacpu::steps
