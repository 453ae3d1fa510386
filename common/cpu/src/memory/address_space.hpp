// address_space.hpp - which memory the device and the host may touch.
#pragma once
#include <vector>

#include "cuda_runtime.h"
#include "engine/build.hpp"

namespace cudacpu {

namespace race {
struct Shadow;
}

constexpr size_t guard = hazard_build ? 1 << 20 : largest_page;  // inaccessible memory after each region
constexpr size_t guard_before = hazard_build ? 64 << 10 : 0;

struct Region {  // memory that the device may use
    char* start;
    size_t bytes;
    Kind kind;
    char* base;    // the pages that hold it ...
    size_t pages;  // ... in bytes, without the inaccessible page that follows
    Where where;
    bool freed = false;
    std::vector<void*> freed_by{};   // the call stack of cudaFree
    race::Shadow* shadow = nullptr;  // shadow memory of the hazard build
    const char* name = "";           // of a __shared__ variable
    size_t columns = 0;              // of a two-dimensional __shared__ array
    unsigned long number = 0;        // allocations are numbered from 1
};
inline bool is_shared(const Region* r) { return r && (r->kind == Kind::shared || r->kind == Kind::dynamic); }
Region* find(const void* address);  // the region, or the region before the inaccessible page
char* map_before_guard(size_t bytes, size_t alignment, char** base, size_t* pages);
Region* add_region(const Region& region);
inline bool is_global(const void* address) { return module_of(address); }  // a variable of the program
const Region* used_by_both(const void* address);  // memory that both the host and the device may use; or nullptr
void device_takes_over(bool device);              // whether device memory may be touched
bool device_has_memory();                         // whether device memory is open, because works run
bool open_on_demand(const void* address);         // the device touched memory that is opened on demand
void managed_in_use(bool by_device);              // whether the host may touch managed memory
bool device_has_managed_memory();
void check_all_canaries();
void report_leaks();

}  // namespace cudacpu
