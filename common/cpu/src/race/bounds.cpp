// bounds.cpp - bounds checking in the hazard build: the red zones around the memory of kernels, and around what
// they get from new and malloc().
//
// An access out of bounds is reported and the kernel continues, so that its races are found as well. Each region is
// surrounded by inaccessible pages. Pages that are touched become readable and writable until the launch ends.
#include "race/bounds.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "engine/build.hpp"
#include "engine/fiber.hpp"
#include "engine/reporting.hpp"
#include "engine/source_lines.hpp"
#include "engine/text.hpp"
#include "memory/address_space.hpp"
#include "memory/device_heap.hpp"
#include "race/access_check.hpp"
#include "race/race.hpp"
#include "race/volatile_data.hpp"
#include "race/thread_replay.hpp"
#include "race/upcalls.hpp"

namespace cudacpu::race {

namespace {

// The compiler's description of an index that its array does not have.
struct UbsanBounds {
    Where where;
    const char *array, *index;  // types: a kind and its info, of 16 bits each, then the name
};
const UbsanBounds* bad_bounds;
long bad_index;
std::vector<char*> opened CUDACPU_LASTING;  // pages
}  // namespace

void heap_given(void* start, size_t bytes) {
    if (!heap_region.shadow) region_added(heap_region);
    const char* const p = static_cast<char*>(start);
    forget_accesses(heap_region, p - heap_region.start, bytes);
    forget_releases(p, bytes);
}
void heap_taken(void*) { restore_shown_value(); }

// Which kinds of arrays the line with the bad index indexes.
static unsigned arrays_indexed() {
    return facts_of(bad_bounds->where) & (SourceLine::indexes_member | SourceLine::indexes_shared |
                                          SourceLine::indexes_local | SourceLine::indexes_global);
}

// The array may be a row of a matrix whose rows the program uses as one array; such an index is not reported.
static bool index_is_bad() {
    const Where& where = bad_bounds->where;
    const char* const type = bad_bounds->array + 4;
    const bool is_matrix = std::string_view(type).find("][") != std::string_view::npos;
    if ((facts_of(where) & SourceLine::indexes_row) && !is_matrix) return false;
    report_bug(say({"hazard: an access out of bounds: element %ld of an array %s",
                    "hazard: 越界访问：数组 %2$s 的元素 %1$ld"},
                   bad_index, type),
               say({"check the index against the array's size", "把下标与数组大小相比较"}), source_line(where),
               "out-of-bounds");
    return true;
}

void past_local_array(char* address, size_t bytes, bool write) {
    if (arrays_indexed() == SourceLine::indexes_shared) return;
    state.index_too_large = false;
    // A write must have no effect, because the memory there belongs to another object.
    if (index_is_bad() && write && bytes <= 8) show_old_value(address, bytes);
}

Mistake stranger(const char* address) {
    const HeapBlock* const block = nearest_heap_block(address);
    if (block && block->freed && block->contains(address)) return Mistake::freed;
    if (on_heap(address)) return Mistake::past_heap;
    return on_a_stack(address) ? Mistake::others_stack : Mistake::foreign;
}

std::string place_in_heap(const char* address) {
    const HeapBlock& block = *nearest_heap_block(address);
    return text("byte %td of the %zu bytes", address - block.start, block.bytes);
}

void open_red_zone(const Region& r, char* address, size_t bytes, bool reading) {
    if (r.kind == Kind::registered) return;  // the memory around it belongs to the program
    const auto from = uintptr_t(address) / page * page;
    for (uintptr_t p = from; p < uintptr_t(address) + bytes; p += page) {
        char* const at = reinterpret_cast<char*>(p);
        if ((at >= r.base && at < r.base + r.pages) || std::count(opened.begin(), opened.end(), at)) continue;
        if (mprotect(at, page, PROT_READ | PROT_WRITE)) return;
        opened.push_back(at);
    }
    for (char* p = address; reading && p < address + bytes; ++p)
        if (p < r.start || p >= r.start + r.bytes) *p = 0;
}

void close_red_zones() {
    for (char* p : opened) mprotect(p, page, PROT_NONE);
    opened.clear();
}

}  // namespace cudacpu::race

using namespace cudacpu::race;

extern "C" {
// The compiler calls this before an access with an index that its array does not have. It checks arrays on the
// stack, and named arrays of a thread or of the program. The former are accessed without another call if no pointer
// to them exists; after one of the latter comes the next variable. Other memory is checked by its own size, because
// rows of a matrix are often used as one array.
void __ubsan_handle_out_of_bounds(const UbsanBounds* b, uintptr_t index) {
    if (!cudacpu::in_kernel()) return;
    stop_if_following();
    bad_bounds = b;
    bad_index = long(index);
    state.index_too_large = true;
    static auto& known = *new std::set<const UbsanBounds*>;
    if (!known.insert(b).second) return;
    const unsigned arrays = arrays_indexed();
    if (arrays && !(arrays & ~(cudacpu::SourceLine::indexes_local | cudacpu::SourceLine::indexes_global)))
        index_is_bad();
}
}
