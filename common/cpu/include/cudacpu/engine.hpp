// engine.hpp - what the translated program, the headers and the parts of the engine say to each other.
//
// A CUDA thread is a fiber. One OS thread runs the fibers of one block until all have ended, then the
// next block. A fiber runs until it waits (barrier, warp operation) or ends; README.md tells the story.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <type_traits>

#include "../vector_types.h"

// The hazard build instruments every access of the program. Functions that belong to the engine, although
// they live in headers, must be left out, or the engine would report itself.
#define CUDACPU_QUIET __attribute__((no_sanitize("thread")))
#define CUDACPU_HERE ::cudacpu::Where where = ::cudacpu::Where::here()

enum cudaError : int;
struct CUstream_st;

namespace cudacpu {

struct Where {  // std::source_location, as clang 14 lacks it
    const char* file;
    int line;
    static constexpr Where here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        return {file, line};
    }
};

// ---- launches: `k<<<grid, block>>>(a, b)` becomes `(configure(grid, block), k(a, b))` --------------------

struct Kernel {
    const char* name;
    const char* parameters;           // their names, with commas between
    unsigned max_threads;             // of __launch_bounds__
    size_t dynamic_limit = 48 << 10;  // cudaFuncSetAttribute raises it
    size_t static_bytes = 0;          // what its threads were seen to use
};
struct Body {  // a kernel with its arguments
    void* closure;
    size_t bytes;
    void (*run)(const void* closure);
};
/// Notes how the kernel that is called next is launched.
void configure(dim3 grid, dim3 block, size_t dynamic_bytes = 0, CUstream_st* stream = nullptr, CUDACPU_HERE);
/// Checks the launch and queues it. The closure, from `new`, belongs to the queue from now on. `arguments`: the
/// pointers among them, nullptr for the others.
void enqueue_kernel(Kernel& kernel, const Body& body, std::initializer_list<const void*> arguments);
extern Kernel** probe;  // not null: a kernel that is called leaves its Kernel here, and does not run

// As on a GPU, each thread has the arguments' bytes: nothing is copied by a constructor, nothing is destroyed.
template <class F> CUDACPU_QUIET void run_closure(const void* closure) {
    alignas(F) char mine[sizeof(F)];
    memcpy(mine, closure, sizeof mine);
    (*reinterpret_cast<F*>(mine))();
}
template <class T> const void* pointer_in(const T&) { return nullptr; }
template <class T> const void* pointer_in(T* argument) { return (const void*)argument; }
/// The body of every kernel is a call of this: the closure holds the arguments by value. A program has many kernels,
/// so there is as little here as can be.
template <class F, class... Arguments> void enter_kernel(Kernel& kernel, F* closure, const Arguments&... a) {
    enqueue_kernel(kernel, {closure, sizeof(F), run_closure<F>}, {pointer_in(a)...});
}

// ---- shared memory: each object has pages of its own and ends where an inaccessible page begins ----------

struct SharedObject {
    size_t bytes, alignment;
    const char* name;
    Where where = Where::here();
    char* address = nullptr;
    unsigned long serial = 0;  // of the block that last used it
};
extern unsigned long block_serial;
char* fresh(SharedObject& object);  // poisoned, for the block that now runs
char* at_namespace_scope(SharedObject& object);
void* dynamic_arena(size_t alignment, bool fixed_start);

template <class S> CUDACPU_QUIET S& shared(SharedObject& object) {
    static_assert(sizeof(S) <= 48 << 10, "more than 48 KB of static shared memory: CUDA refuses it");
    return *reinterpret_cast<S*>(object.serial == block_serial ? object.address : fresh(object));
}
template <class S> S& shared_at_namespace_scope(SharedObject& object) {
    return *reinterpret_cast<S*>(at_namespace_scope(object));
}
template <class T> T* dynamic_shared() { return static_cast<T*>(dynamic_arena(alignof(T), false)); }
template <class T> auto dynamic_at_namespace_scope() -> T (&)[] {
    return *static_cast<T(*)[]>(dynamic_arena(alignof(T), true));
}

// ---- what threads wait for -------------------------------------------------------------------------------

struct Exchange {  // threads that wait for each other, and what they show each other
    enum Kind { at_barrier, at_warp, at_activemask } kind;
    const char* what;
    unsigned mask;
    Where where;                    // of the first that came
    unsigned count = 0;             // who came and has not left
    unsigned arrived = 0;           // the lanes
    int votes = 0;                  // their sum
    bool complete = false;          // all have come
    unsigned char value[32][32]{};  // of each lane
};
/// Returns when all have come; then each must leave().
Exchange* meet(Exchange::Kind kind, const char* what, unsigned mask, const void* value, size_t bytes, Where where);
void leave(Exchange* exchange);
int barrier(const char* what, int vote, Where where);  // the sum of the votes
unsigned active_lanes(Where where);

class Lanes {  // one warp operation, seen by one lane
    Exchange* exchange;

public:
    template <class T> CUDACPU_QUIET Lanes(const char* what, unsigned mask, const T& value, Where where,
                                           Exchange::Kind kind = Exchange::at_warp)
        : exchange(meet(kind, what, mask, &value, sizeof(T), where)) {
        static_assert(sizeof(T) <= 32 && std::is_trivially_copyable_v<T>);
    }
    CUDACPU_QUIET ~Lanes() { leave(exchange); }
    CUDACPU_QUIET unsigned present() const { return exchange->arrived; }
    int votes() const { return exchange->votes; }
    template <class T> CUDACPU_QUIET T get(int lane) const {  // of an absent lane: CUDA leaves it open
        T value;
        memcpy(&value, exchange->value[lane], sizeof(T));
        return value;
    }
};

extern unsigned rank, lane;  // of the thread that now runs, in its block and in its warp
bool in_kernel();
void about_to_do_atomic(void* address, unsigned bytes, bool compare, Where where);  // may let others run
void fence();
void give_way();
long long clock_ticks();
unsigned long long special_register(const char* name);
[[noreturn]] void trap(const char* what, Where where);

}  // namespace cudacpu
