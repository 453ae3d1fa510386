// exercise.cuh - what every exercise includes: arrays, the check of a result, and what a run has counted.
//
// An exercise is one file: a part to write, to mend, to make faster or to predict, and a main() that launches it
// and says what is right. `make learn` compiles and runs it. Exit status: 0 right, 1 wrong, 77 no CUDA device.
#pragma once
#include "error.cuh"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <vector>

namespace lab {

/// What is said, in the reader's language: LC_ALL, LC_MESSAGES or LANG begins with zh.
const char* words(const char* english, const char* chinese);
/// Are all n elements as wanted? Else says which is the first wrong one, with its neighbours. For the numbers'
/// types.
template <class T>
bool compare(const char* name, const T* got, const T* wanted, int n);
/// Was the launch legal, and did the kernel run to its end? Says what is wrong. Waits for it.
bool has_ended();

/// What a run did since begin(n), counted on the CPU device only: see exercise_counts.cpp.
struct Count {
    const char *english, *chinese;
    long long value;
};
bool begin(int n);          // false: there is no device
extern bool other_numbers;  // are scattered()'s
bool has_run();             // has a thread of a kernel touched memory since then?
bool has_read_clock(long long value);
bool right_by_a_kernel();
/// CHECK of an answer: counts the call, and prints a failure on stdout, in the reader's language; then as
/// check_cuda().
void called(cudaError_t status, const char* call, const char* file, int line);
bool host_waited();                  // did the host itself wait for what has run since begin()?
long long bytes_of_device_memory();  // that are allocated now; always 0 on a GPU
void note_end();  // all is right: when main() has returned, the file that LAB_END names is made. It has the places in the
                  // host's code that read more than a few elements of managed memory
#ifdef CUDACPU
constexpr bool counts = true;
#else
constexpr bool counts = false;
#endif

}  // namespace lab

#ifdef CUDACPU
#define LAB_PLACE , const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define LAB_HERE \
    , cudaMemAttachGlobal, { file, line }  // reports name the line of the exercise
#else
#define LAB_PLACE
#define LAB_HERE
#endif

/// An int that no thread has written.
constexpr int unwritten = -0x1010102;  // bytes of 0xfe: a float of them stays what it is when something is added

/// n elements that both host and device may touch (managed memory): element i is f(i). Without f they are what no
/// thread has written yet, and check() sees that.
template <class T>
class Array {
public:
    explicit Array(int n LAB_PLACE) : size_(n) {
        CHECK(cudaMallocManaged(&data_, n * sizeof(T) LAB_HERE));
        std::memset(static_cast<void*>(data_), 0xfe, n * sizeof(T));
    }
    template <class F>
    Array(int n, F f LAB_PLACE) : size_(n) {
        CHECK(cudaMallocManaged(&data_, n * sizeof(T) LAB_HERE));
        for (int i = 0; i < n; ++i) data_[i] = f(i);
    }
    ~Array() { cudaFree(data_); }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;

    operator T*() const { return data_; }
    T* begin() const { return data_; }
    T* end() const { return data_ + size_; }
    int size() const { return size_; }

private:
    T* data_ = nullptr;
    int size_;
};

/// Waits for the kernel, and compares element i of the array with want(i).
template <class T, class Want>
bool check(const char* name, const Array<T>& got, Want want) {
    if (!lab::has_ended()) return false;
    const std::unique_ptr<T[]> wanted(new T[got.size()]);
    for (int i = 0; i < got.size(); ++i) wanted[i] = want(i);
    return lab::compare(name, got.begin(), wanted.get(), got.size());
}

/// Waits for the kernel. Is *count how many of `in` are 2 or more, and are these, in any order, the first of out?
bool check_kept(const Array<int>& in, const Array<int>& out, const Array<int>& count);

/// Is the number that the learner typed the one of the run? Says in which direction it is off.
bool predicted(const char* name, double typed, double counted);

/// Has a thread of the kernel read this from clock64()? On a GPU it has.
bool read_from_clock(const char* name, long long value);

/// The barriers that block 0 passed; the atomics of all threads, those in global memory, and of these the
/// atomicCAS; the pairs of kernels of which neither waits for the other; the sectors of 32 bytes that all warps'
/// loads and stores touched in global memory; the loads, stores and atomics in shared memory, and the turns that it
/// needed beyond the first; the loads and stores of the thread that did most, in either memory.
lab::Count barriers();
lab::Count atomics();
lab::Count global_atomics();
lab::Count compares();
lab::Count beside_each_other();
lab::Count sectors();
lab::Count in_shared();
lab::Count conflicts();
lab::Count accesses();
/// The loads and stores in memory from cudaMalloc(); the requests of all warps to memory (lanes that execute the
/// same load or store together make one); the most bytes of dynamic shared memory that a launch has asked for; the
/// calls of __threadfence(); the calls that CHECK has looked at; the calls of cudaEventRecord() of which one comes
/// before a kernel of its stream and one after it; the pairs of a copy and a kernel of which neither waits for the
/// other.
lab::Count in_device_memory();
lab::Count requests();
lab::Count dynamic_bytes();
lab::Count fences();
lab::Count checked();
lab::Count events();
lab::Count copies_beside_kernels();
/// Were all bytes of the array sent by cudaMemPrefetchAsync(): to the device before the first kernel was launched,
/// or to the host after it? Says what is wrong. On a GPU they were.
bool prefetched(const char* name, const void* array, size_t bytes, bool to_the_device);
/// The bar of an exercise that is to be made faster. On a GPU, where nothing is counted, it is reached.
bool at_most(long long most, const lab::Count& count);
/// What an answer must not do without. On a GPU it is there.
bool at_least(long long least, const lab::Count& count);

/// The same numbers in every program, from 0 up and without a visible pattern: for inputs.
int scattered(int i);

/// Runs body(n) for each size until one is wrong; once more with other numbers, which finds a result that was typed
/// in; then, on a GPU, `compare`, which tells times. For main() to return.
template <class Body, class Compare = void (*)()>
int exercise(
    std::initializer_list<int> sizes, Body body, [[maybe_unused]] Compare compare = [] {}) {
    lab::other_numbers = false;
    for (const int n : sizes) {
        if (!lab::begin(n)) return 77;
        if (!body(n) || !lab::right_by_a_kernel()) return 1;
    }
    lab::other_numbers = true;
    lab::begin(*sizes.begin());
    if (!body(*sizes.begin())) {
        std::puts(lab::words("(in a second run, with other numbers)", "（第二次运行，换了一组数）"));
        return 1;
    }
    lab::note_end();
#ifndef CUDACPU
    if (!std::getenv("LAB_UNTIMED")) compare();  // a sanitizer makes it slow
#endif
    return 0;
}

/// What exercise_library.cu has of NVIDIA's library, to be compared with.
namespace library {
using Function = void (*)(const int* in, int n, int* out);
void copy(const int* in, int n, int* out);
void sum(const int* in, int n, int* out);
void histogram(const int* in, int n, int* out);
void least(const int* in, int n, int* out);
void scan(const int* in, int n, int* out);
void filter(const int* in, int n, int* out);  // those from 2 up; behind n elements, how many
}  // namespace library

/// Times both on a GPU for n elements, as they lie in its memory, and says so: the median of 20. For fewer, where
/// yours would take long: of a million threads that try one word by atomicCAS() all but one try again.
void beside(const char* name, library::Function of_library, library::Function yours, int n);

// What an answer calls is counted. CHECK above is the lab's own.
#undef CHECK
#define CHECK(call) lab::called((call), #call, __FILE__, __LINE__)
#ifdef CUDACPU
namespace lab {
void note_fence();  // no __device__: what is precompiled is not translated
void note_prefetch(const void* start, size_t bytes, bool to_the_device);
inline cudaError_t prefetch(const void* start, size_t bytes, int device, cudaStream_t stream = nullptr) {
    note_prefetch(start, bytes, device != cudaCpuDeviceId);
    return cudaMemPrefetchAsync(start, bytes, device, stream);
}
inline cudaError_t prefetch(const void* start, size_t bytes, cudaMemLocation to, unsigned flags,
                            cudaStream_t stream = nullptr) {
    note_prefetch(start, bytes, to.type == cudaMemLocationTypeDevice);
    return cudaMemPrefetchAsync(start, bytes, to, flags, stream);
}
}  // namespace lab
#define __threadfence() (lab::note_fence(), __threadfence())
#define cudaMemPrefetchAsync lab::prefetch
#endif
