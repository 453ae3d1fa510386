// shadows.cpp - the hazard build: where it keeps its notes about each region of memory.
#include <sys/mman.h>
#include <unistd.h>

#include <map>

#include "detect.hpp"

namespace cudacpu::hazards {

namespace {

std::multimap<const char*, Shadow*> spare_notes CUDACPU_LASTING;  // about shared memory, by its pages

size_t cells(const Region& r) { return (r.kind == Kind::dynamic ? r.pages : r.bytes) / 4 + 2; }

void* pages_for(size_t bytes) {  // costs only the pages that are used
    void* const p =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) say("cudacpu: no memory for the notes about so much memory"), _exit(3);
    return p;
}

}  // namespace

void region_added(Region& r) {
    forget_pages();
    const auto spare = spare_notes.find(r.base);
    if (!r.shadow && spare != spare_notes.end()) r.shadow = spare->second, spare_notes.erase(spare);
    if (!r.shadow) {
        r.shadow = new Shadow{};
        r.shadow->cells = static_cast<Cell*>(pages_for(cells(r) * sizeof(Cell)));
        r.shadow->rare = static_cast<Rare*>(pages_for(cells(r) * sizeof(Rare)));
        r.shadow->written = static_cast<uint8_t*>(pages_for(cells(r) * 4));
        r.shadow->all_written = r.kind != Kind::device && !is_shared(&r);
    } else {
        memset(r.shadow->written, 0, r.bytes);
    }
    r.shadow->since = ++now;
}
void region_fresh(Region& r) {  // what was noted in another block is older: no race
    if (!r.shadow) return region_added(r);
    memset(r.shadow->written, 0, r.bytes);
    r.shadow->since = ++now;
}
void region_kept(Region& r, Shadow*& notes) {
    forget_pages();
    notes = std::exchange(r.shadow, nullptr);
}
void region_restored(Region& r, Shadow* notes) {
    forget_pages();
    if (r.shadow) spare_notes.emplace(r.base, r.shadow);
    r.shadow = notes;
}
void bytes_written(Region& r, size_t offset, size_t bytes) {
    if (!r.shadow) return;
    memset(r.shadow->written + offset, 1, bytes);
    if (!offset && bytes == r.bytes) r.shadow->all_written = true;
}
void region_gone(Region& r) {
    forget_pages();
    if (!r.shadow) return;
    munmap(r.shadow->cells, cells(r) * sizeof(Cell));
    munmap(r.shadow->rare, cells(r) * sizeof(Rare));
    munmap(r.shadow->written, cells(r) * 4);
    delete std::exchange(r.shadow, nullptr);
}

}  // namespace cudacpu::hazards
