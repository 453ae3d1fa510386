// device.cuh - owners of device memory and CUDA events, which free them, for lab.cuh and timing.cuh.
#pragma once
#include <cstdint>
#include <vector>

#include "error.cuh"
#include "lab.hpp"

namespace lab {

#ifdef CUDACPU  // defined by the CPU device's compiler
constexpr bool gpu = false;
#else
constexpr bool gpu = true;
#endif

/// A line of a sample. If a call in common/ fails that this line has caused, the error names this line.
struct Place {
    const char* file;
    int line;
};

/// An array in device memory, freed with its owner. The owner must not be a global variable, because CHECK resets
/// the device before the program ends. T must be trivially copyable.
template <class T>
class DeviceArray {
public:
    explicit DeviceArray(int64_t size, Place place = {__builtin_FILE(), __builtin_LINE()}) : size_(size) {
#ifdef CUDACPU  // the CPU device's reports name the line of the allocation
        const cudaError_t status = cudaMalloc(&data_, bytes(), {place.file, place.line});
#else
        const cudaError_t status = cudaMalloc(&data_, bytes());
#endif
        check_cuda(status, "cudaMalloc", place.file, place.line);
    }
    explicit DeviceArray(const std::vector<T>& host, Place place = {__builtin_FILE(), __builtin_LINE()})
        : DeviceArray(static_cast<int64_t>(host.size()), place) {
        upload(host);
    }
    ~DeviceArray() { CHECK(cudaFree(data_)); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;

    T* get() const { return data_; }
    int64_t size() const { return size_; }
    size_t bytes() const { return static_cast<size_t>(size_) * sizeof(T); }
    void upload(const std::vector<T>& host) {
        CHECK(cudaMemcpy(data_, host.data(), bytes(), cudaMemcpyHostToDevice));
    }
    /// Copies the first `count` elements to the host, all of them by default.
    std::vector<T> download(int64_t count = -1) const {
        std::vector<T> host(static_cast<size_t>(count < 0 ? size_ : count));
        CHECK(cudaMemcpy(host.data(), data_, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
        return host;
    }
    /// Fills the array with poison_byte, an array of bytes with 0xff. A result that no thread wrote is then
    /// visible.
    void poison() { CHECK(cudaMemsetAsync(data_, sizeof(T) == 1 ? 0xff : poison_byte, bytes())); }

private:
    T* data_ = nullptr;
    int64_t size_;
};

/// A CUDA event, destroyed with its owner.
class Event {
public:
    Event() { CHECK(cudaEventCreate(&event_)); }
    ~Event() { CHECK(cudaEventDestroy(event_)); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    void record() { CHECK(cudaEventRecord(event_)); }
    /// Makes later work of the current device wait for the event, which may belong to another device.
    void hold_back() { CHECK(cudaStreamWaitEvent(nullptr, event_, 0)); }
    /// Milliseconds from `start` to this event; waits for this event.
    double ms_since(const Event& start) const {
        float ms = 0;
        CHECK(cudaEventSynchronize(event_));
        CHECK(cudaEventElapsedTime(&ms, start.event_, event_));
        return ms;
    }

private:
    cudaEvent_t event_ = nullptr;
};

}  // namespace lab
