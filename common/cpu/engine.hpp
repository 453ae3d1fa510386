// engine.hpp - what the translated program, the headers and the parts of the engine say to each other.
//
// A CUDA thread is a fiber. One OS thread runs the fibers of one block until all have ended, then the
// next block. A fiber runs until it waits (barrier, warp operation) or ends; README.md tells the story.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "vector_types.h"

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
    void (*destroy)(void* closure);
};
void configure(dim3 grid, dim3 block, size_t dynamic_bytes = 0, CUstream_st* stream = nullptr, CUDACPU_HERE);
bool begin_launch(Kernel& kernel);
void check_argument(int number, const void* pointer);
void finish_launch(Kernel& kernel, Body body);
extern Kernel** probe;  // not null: a kernel that is called leaves its Kernel here, and does not run

template <class F>
CUDACPU_QUIET void run_closure(const void* closure) {
    F mine(*static_cast<const F*>(closure));  // each thread may change its arguments
    mine();
}
template <class F>
void destroy_closure(void* closure) {
    delete static_cast<F*>(closure);
}

inline void check_each(int number, const void* pointer) { check_argument(number, pointer); }
template <class T>
void check_each(int, const T&) {}
template <class T>
void check_each(int number, T* pointer) {
    check_argument(number, const_cast<const void*>(reinterpret_cast<const volatile void*>(pointer)));
}

// The body of every kernel is a call of this: the closure holds the arguments by value.
template <class F, class... Arguments>
void enter_kernel(const char* name, const char* parameters, unsigned max_threads, F body,
                  const Arguments&... a) {
    static Kernel kernel{name, parameters, max_threads};
    if (!begin_launch(kernel)) return;
    [[maybe_unused]] int number = 0;
    (check_each(number++, a), ...);
    finish_launch(kernel, {new F(body), sizeof(F), run_closure<F>, destroy_closure<F>});
}

// ---- shared memory: each object has pages of its own and ends where an inaccessible page begins ----------

struct SharedObject {
    size_t bytes, alignment;
    unsigned long serial = 0;  // of the block that last used it
    char* address = nullptr;
    const char* name = nullptr;
    Where where{};
};
extern unsigned long block_serial;
char* fresh(SharedObject& object, const char* name, Where where);  // poisoned, for the block that now runs
char* at_namespace_scope(SharedObject& object, const char* name, Where where);
void* dynamic_arena(size_t alignment, bool fixed_start);

template <class S>
CUDACPU_QUIET S& shared(const char* name, Where where = Where::here()) {
    static_assert(sizeof(S) <= 48 << 10, "more than 48 KB of static shared memory: CUDA refuses it");
    static SharedObject object{sizeof(S), alignof(S)};
    return *reinterpret_cast<S*>(object.serial == block_serial ? object.address : fresh(object, name, where));
}
template <class S>
S& shared_at_namespace_scope(const char* name, Where where = Where::here()) {
    static SharedObject object{sizeof(S), alignof(S)};
    return *reinterpret_cast<S*>(at_namespace_scope(object, name, where));
}
template <class T>
T* dynamic_shared() {
    return static_cast<T*>(dynamic_arena(alignof(T), false));
}
template <class T>
T (&dynamic_at_namespace_scope())
[] {
    return *reinterpret_cast<T(*)[]>(dynamic_arena(alignof(T), true));
}

// ---- what threads wait for -------------------------------------------------------------------------------

int barrier(const char* what, int vote, Where where);  // the sum of the votes

struct Exchange {  // what the lanes of a warp show each other in one operation
    unsigned mask, arrived, unread;
    const char* what;
    Where where;
    alignas(16) unsigned char value[32][32];
};
Exchange* meet(const char* what, unsigned mask, const void* value, size_t bytes, Where where);
void leave(Exchange* exchange);

class Lanes {  // one warp operation, seen by one lane
    Exchange* exchange;

public:
    template <class T>
    CUDACPU_QUIET Lanes(const char* what, unsigned mask, const T& value, Where where)
        : exchange(meet(what, mask, &value, sizeof(T), where)) {
        static_assert(sizeof(T) <= 32 && __is_trivially_copyable(T));
    }
    CUDACPU_QUIET ~Lanes() { leave(exchange); }
    CUDACPU_QUIET unsigned present() const { return exchange->arrived; }
    template <class T>
    CUDACPU_QUIET T
    get(int lane) const {  // CUDA leaves the value of an absent lane open: here it is all ones
        T value;
        if (exchange->arrived >> lane & 1)
            memcpy(&value, exchange->value[lane], sizeof(T));
        else
            memset(&value, 0xff, sizeof(T));
        return value;
    }
};

extern unsigned rank, lane;  // of the thread that now runs, in its block and in its warp
bool in_kernel();
unsigned active_lanes(Where where);
void about_to_do_atomic(void* address, unsigned bytes, bool compare,
                        Where where);  // may let other threads run
void fence();
void give_way();
long long clock_ticks();
unsigned long long special_register(const char* name);
[[noreturn]] void trap(const char* what, Where where);

}  // namespace cudacpu
