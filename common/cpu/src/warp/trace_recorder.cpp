// trace_recorder.cpp - the trace recorder: records the operations of a few warps as they happen. trace_page.cpp
// makes a page of them.
#include "warp/trace_recorder.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <set>
#include <utility>

#include "api/runtime_options.hpp"
#include "api/upcalls.hpp"
#include "engine/build.hpp"
#include "engine/launch.hpp"
#include "engine/reporting.hpp"
#include "engine/scheduler.hpp"
#include "engine/text.hpp"
#include "engine/upcalls.hpp"
#include "memory/address_space.hpp"
#include "warp/lockstep.hpp"
#include "warp/memory_counters.hpp"
#include "warp/trace_page.hpp"

namespace cudacpu::warp {

bool drawing_launch, drawing;

namespace {

constexpr size_t most_cells = 20'000, most_cells_of_all = 100'000;  // a cell: one lane's part of an event
constexpr unsigned warps_shown = 4, blocks_shown = 8;

std::vector<Drawn> launches CUDACPU_LASTING;
std::map<std::string, unsigned> numbers CUDACPU_LASTING;  // how often each kernel was launched
size_t cells, cells_before;                               // cells_before: of the earlier launches
struct Now {
    size_t event = 0;
    unsigned cell = 0;
    bool any = false;
    const char* pending = nullptr;  // the address of its write, whose value is stored when it stops next
};
struct OfBlock {
    bool is_drawn;
    int column_of[32];  // of each warp
    Now now[1024];      // of each thread
} of_block;
auto& [is_drawn, column_of, now] = of_block;

Cell* cell_of(unsigned thread) {
    const Now& n = now[thread];
    return n.any ? &launches.back().events[n.event].cells[n.cell] : nullptr;
}

const char* address_of(const LanePosition& s) { return static_cast<char*>(const_cast<void*>(s.address)); }

bool readable(const char* p, size_t bytes) {
    const Region* r = find(p);
    return r ? !r->freed && p >= r->start && p + bytes <= r->start + r->bytes : is_global(p);
}

int array_of(const char* address, unsigned bytes) {
    Drawn& d = launches.back();
    const Place place = place_of(address);
    const Element e = element_at(address, bytes);
    const char* const start = e.start ? e.start : address;
    for (size_t i = 0; i < d.arrays.size(); ++i) {
        Array& a = d.arrays[i];
        if (a.region != place.region || a.start != start) continue;
        a.element = std::min(a.element, bytes);
        return int(i);
    }
    size_t offset = 0;
    for (const Array& a : d.arrays)
        if (a.space == shared_memory) offset = std::max(offset, (a.offset + a.bytes + 15) / 16 * 16);
    const size_t size = place.region ? size_t(place.region->start + place.region->bytes - start) : 0;
    if (place.space != shared_memory) offset = 0;
    d.arrays.push_back({place.region, e.name, place.space, size, start, offset, bytes});
    return int(d.arrays.size()) - 1;
}

void add(const WarpInstruction& o, unsigned row, int column) {
    Drawn& d = launches.back();
    if (d.full) return;
    Event e{row, unsigned(column), o.kind, o.site, o.mask, o.what};
    const bool access = o.kind == load || o.kind == store || o.kind == atomic;
    const unsigned lanes = unsigned(std::popcount(o.mask));
    cells += lanes;
    const size_t shown = std::min<size_t>(d.columns.size(), asked.blocks ? blocks_shown : warps_shown);
    const size_t of_shown = cells * shown / d.columns.size();
    d.full = of_shown > most_cells || of_shown + cells_before > most_cells_of_all;
    if (access) {
        const LanePosition& s = o.first();
        e.bytes = unsigned(std::min<size_t>(s.bytes, 16));
        e.array = array_of(address_of(s), s.piece < 16 ? unsigned(s.piece) : 4);
        const Array& a = d.arrays[size_t(e.array)];
        for (unsigned i = 0; i < s.bytes; i += unsigned(s.piece))
            if (a.space == global_memory) e.sectors += sectors(request_of(o, i));
            else if (a.space == shared_memory) e.conflicts += extra_wavefronts(request_of(o, i));
    }
    if (access || o.kind == shuffle || o.kind == vote)
        for_lanes(o.mask, [&](unsigned l) {
            now[32 * o.warp + l] = {d.events.size(), unsigned(e.cells.size()), true, nullptr};
            e.cells.emplace_back();
            if (access) e.cells.back().offset = address_of(o.position(l)) - d.arrays[size_t(e.array)].start;
        });
    d.events.push_back(e);
}

DrawnRace& race_of(const Part& a, const Part& b) {
    return launches.back()
        .races.try_emplace(std::minmax(a.site, b.site), DrawnRace{a, b, {}, "", ""})
        .first->second;
}

// Keeps the warps of a block that race, and then the first ones. The others were recorded because the races were
// not yet known.
void keep_what_is_shown() {
    Drawn& d = launches.back();
    if (asked.blocks || d.columns.size() <= warps_shown) return;
    std::set<unsigned> shown;
    const auto show = [&](unsigned column) {
        if (shown.size() < warps_shown) shown.insert(column);
    };
    for (const auto& [sites, race] : d.races) {
        if (!race.events || race.words.empty()) continue;
        show(d.events[race.events->first].column);
        show(d.events[race.events->second].column);
    }
    for (unsigned c = 0; c < d.columns.size(); ++c) show(c);
    std::vector<Column> columns;
    columns.reserve(shown.size());
    std::vector<Event> events;
    std::vector<size_t> place(d.events.size(), ~size_t{0});
    for (size_t i = 0; i < d.events.size(); ++i) {
        Event& e = d.events[i];
        if (!shown.contains(e.column)) continue;
        place[i] = events.size();
        e.column = unsigned(std::distance(shown.begin(), shown.find(e.column)));
        events.push_back(std::move(e));
    }
    for (const unsigned c : shown) columns.push_back(d.columns[c]);
    for (auto& [sites, race] : d.races) {
        if (!race.events) continue;
        const auto [first, second] = *race.events;
        race.events = {place[first], place[second]};
        if (!~place[first] || !~place[second]) race.events.reset();
    }
    cells = cells * columns.size() / d.columns.size();
    d.columns = std::move(columns);
    d.events = std::move(events);
}

}  // namespace

void draw_launch() {
    drawing = drawing_launch = false;
    if (asked.trace.empty()) return;
    const std::string kernel = kernel_name();
    const unsigned number = ++numbers[kernel];
    const std::string plain = launch->kernel->name;
    if (number != asked.launch || (!asked.kernel.empty() && asked.kernel != kernel && asked.kernel != plain))
        return;
    if (cells) keep_what_is_shown();
    cells_before += std::exchange(cells, 0);
    if (cells_before >= most_cells_of_all) return;
    drawing_launch = true;
    launches.push_back({kernel, number, launch->where, launch->grid, launch->block, {}, {}, {}, {}});
}

void draw_block() {
    drawing = false;
    if (!drawing_launch) return;
    Drawn& d = launches.back();
    const unsigned warps = (running_block.size + 31) / 32;
    const uint64_t blocks = uint64_t(d.grid.x) * d.grid.y * d.grid.z;
    const uint64_t first = std::min(asked.block, blocks - 1);
    if (d.full || block_number < first || block_number >= first + (asked.blocks ? blocks_shown : 1)) return;
    drawing = true;
    std::fill(std::begin(column_of), std::end(column_of), -1);
    std::fill(std::begin(now), std::end(now), Now{});
    // Which warps race is known only later.
    const unsigned most = asked.blocks ? 1 : counters_build || asked.warp ? warps_shown : warps;
    const unsigned from = std::min(asked.warp.value_or(0), warps - 1);
    for (unsigned w = from; w < std::min(warps, from + most); ++w) {
        column_of[w] = int(d.columns.size());
        d.columns.push_back({block_number, w, std::min(32u, running_block.size - 32 * w), 0});
    }
}

std::shared_ptr<void> keep_drawing() {
    is_drawn = drawing;
    return drawing_launch ? std::make_shared<OfBlock>(of_block) : nullptr;
}
void resume_drawing(const std::shared_ptr<void>& kept) {
    if (!kept) return;
    of_block = *static_cast<const OfBlock*>(kept.get());
    drawing = is_drawn;
}

void draw_barrier() {
    auto& columns = launches.back().columns;
    unsigned row = 0;
    for (const Column& c : columns)
        if (c.block == block_number) row = std::max(row, c.row);
    for (Column& c : columns)
        if (c.block == block_number) c.row = row;
}

void draw(const WarpInstruction& o) {
    if (column_of[o.warp] < 0 || o.kind == diverges) return;
    auto& columns = launches.back().columns;
    add(o, columns[size_t(column_of[o.warp])].row++, column_of[o.warp]);
}

void note_before(unsigned thread) {
    Cell* const c = cell_of(thread);
    if (!c) return;
    const Event& e = launches.back().events[now[thread].event];
    const char* const address = address_of(lane_positions[thread]);
    if (!readable(address, e.bytes)) return;
    memcpy(c->old, address, e.bytes);
    memcpy(c->value, address, e.bytes);
    c->has_value = true;
    now[thread].pending = e.kind != load ? address : nullptr;
}

void note_after(unsigned thread) {
    // The hazard build also lets others run right before an access, which is then not done yet.
    if (!running_block.threads[thread].at && !running_block.has_ended[thread]) return;
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

void draw_conflict(const Part& a, const Part& b, const char* address, size_t bytes) {
    Drawn& d = launches.back();
    DrawnRace& race = race_of(a, b);
    const auto across = [](const Part& x, const Part& y) { return x.thread / 32 != y.thread / 32; };
    if (race.events && (across(race.a, race.b) || !across(a, b))) return;  // two warps are easier to distinguish
    const auto find_event = [&](const Part& p) {
        for (size_t i = d.events.size(); i-- > 0 && column_of[p.thread / 32] >= 0;) {
            const Event& e = d.events[i];
            const Column& c = d.columns[e.column];
            if (e.site != p.site || c.block != p.block || c.warp != p.thread / 32 || !(e.mask >> p.thread % 32 & 1))
                continue;
            const unsigned cell = unsigned(std::popcount(e.mask & ((1u << p.thread % 32) - 1)));
            if (e.array >= 0 && d.arrays[size_t(e.array)].start + e.cells[cell].offset == address) return i;
        }
        return d.events.size();
    };
    const size_t first = find_event(a), second = find_event(b);
    if (first == d.events.size() || second == d.events.size()) return;
    race = {a, b, {{first, second}}, race.words, element_at(address, bytes).words};
}

void draw_race(const Part& a, const Part& b, const std::string& words, const std::string& where) {
    DrawnRace& race = race_of(a, b);
    race.words = words;
    if (!race.events) race.where = where;
}

void stopped(const char* why) {
    if (drawing_launch && runs_works) launches.back().stopped = why;
}

bool nothing_is_drawn() { return launches.empty(); }

std::string kernels_that_ran() {
    std::string all;
    for (const auto& [kernel, times] : numbers) all += (all.empty() ? "" : ", ") + kernel + text(" (%u)", times);
    return all;
}

std::string trace_page() {
    if (!launches.empty()) keep_what_is_shown();
    return page_of(launches);
}

}  // namespace cudacpu::warp
