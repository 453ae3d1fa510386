// exercise.cuh - the header of every exercise: arrays, checks of a result, and what a run has counted.
//
// An exercise is one file. It has a part to write, correct, speed up or predict, and a main() that launches and
// checks it. `make learn` compiles and runs it. Exit status: 0 right, 1 wrong, 77 no CUDA device.
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

/// Returns the message in the reader's language: Chinese if LC_ALL, LC_MESSAGES or LANG begins with zh.
const char* words(const char* english, const char* chinese);
/// Are all n elements as wanted? If not, prints the first wrong one and its neighbours. T is a type of numbers.
template <class T>
bool compare(const char* name, const T* got, const T* wanted, int n);
/// Waits for the kernel. Was the launch legal, and did the kernel run to its end? If not, prints what is wrong.
bool has_ended();

/// What a run has done since begin(n). Only the CPU device counts it, see exercise_counts.cpp.
struct Count {
    const char *english, *chinese;
    long long value;
};
bool begin(int n);          // false: there is no device
extern bool other_numbers;  // scattered() returns other numbers
bool has_run();             // has a kernel thread accessed memory since begin()?
bool has_read_clock(long long value);
bool right_by_a_kernel();
/// CHECK in an answer: counts the call, prints a failure on stdout in the reader's language, and calls
/// check_cuda().
void called(cudaError_t status, const char* call, const char* file, int line);
bool host_waited();                  // has the host waited for the kernels that ran since begin()?
long long bytes_of_device_memory();  // that are allocated now; always 0 on a GPU
void note_end();  // all is right: after main() returns, the file that LAB_END names is written. It lists the places
                  // of host code that read more than a few elements of managed memory
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

/// The value of an int that no thread has written.
constexpr int unwritten = -0x1010102;  // bytes of 0xfe: a float of them does not change when a number is added

/// n elements in managed memory, which host and device may access. Element i is f(i). Without f the elements are
/// marked as unwritten, and check() reports those that stay unwritten.
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

/// Waits for the kernel. Is *count the number of elements of `in` that are 2 or more, and does `out` begin with
/// these elements, in any order?
bool check_kept(const Array<int>& in, const Array<int>& out, const Array<int>& count);

/// Does the number that the learner typed equal the number of the run? If not, prints which one is larger.
bool predicted(const char* name, double typed, double counted);

/// Has a thread of the kernel read this value from clock64()? Always true on a GPU.
bool read_from_clock(const char* name, long long value);

/// barriers: those that block 0 passed. atomics: of all threads; global_atomics: in global memory; compares:
/// atomicCAS in global memory. beside_each_other: pairs of kernels of which neither waits for the other. sectors:
/// of 32 bytes in global memory, over the loads and stores of all warps. in_shared: loads, stores and atomics in
/// shared memory. conflicts: the turns that shared memory needs beyond the first. accesses: loads and stores of the
/// busiest thread.
lab::Count barriers();
lab::Count atomics();
lab::Count global_atomics();
lab::Count compares();
lab::Count beside_each_other();
lab::Count sectors();
lab::Count in_shared();
lab::Count conflicts();
lab::Count accesses();
/// in_device_memory: loads and stores in memory from cudaMalloc(). requests: memory requests of all warps; lanes
/// that execute one load or store together make one. dynamic_bytes: the largest dynamic shared memory of a launch.
/// fences: calls of __threadfence(). checked: calls in CHECK. events: calls of cudaEventRecord() that come before
/// or after a kernel. copies_beside_kernels: pairs of a copy and a kernel of which neither waits for the other.
lab::Count in_device_memory();
lab::Count requests();
lab::Count dynamic_bytes();
lab::Count fences();
lab::Count checked();
lab::Count events();
lab::Count copies_beside_kernels();
/// Did cudaMemPrefetchAsync() send all bytes of the array to the device before the first launch, or to the host
/// after it? If not, prints what is wrong. Always true on a GPU.
bool prefetched(const char* name, const void* array, size_t bytes, bool to_the_device);
/// Is the count at most `most`? The bar of an exercise that asks for a faster kernel. Always true on a GPU.
bool at_most(long long most, const lab::Count& count);
/// Is the count at least `least`? For what an answer must use. Always true on a GPU.
bool at_least(long long least, const lab::Count& count);

/// Numbers from 0 up without a visible pattern, the same in every program: for inputs.
int scattered(int i);

/// Runs body(n) for each size until one is wrong, and once more with other numbers, which detects a result that was
/// typed in. Then, on a GPU, runs `compare`, which prints times. Returns main's exit status.
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

/// Functions of NVIDIA's library, in exercise_library.cu, for comparison.
namespace library {
using Function = void (*)(const int* in, int n, int* out);
void copy(const int* in, int n, int* out);
void sum(const int* in, int n, int* out);
void histogram(const int* in, int n, int* out);
void least(const int* in, int n, int* out);
void scan(const int* in, int n, int* out);
void filter(const int* in, int n, int* out);  // the elements from 2 up; out[n] is their number
}  // namespace library

/// Times both functions on a GPU for n elements, and prints the medians of 20 runs. Uses fewer elements if yours
/// would take long: when a million threads try atomicCAS() on one word, all but one must retry.
void beside(const char* name, library::Function of_library, library::Function yours, int n);

// In an answer, CHECK, __threadfence() and cudaMemPrefetchAsync() are counted. The code above uses the plain CHECK.
#undef CHECK
#define CHECK(call) lab::called((call), #call, __FILE__, __LINE__)
#ifdef CUDACPU
namespace lab {
void note_fence();  // without __device__, because a precompiled header is not translated
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
