// lab.cuh - the code that all samples share: device arrays that free themselves (device.cuh); options, table and
// verdict (lab.hpp); and one call that runs a table of variants (below). timing.cuh takes the times. The kernels
// that a sample teaches are in the sample.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "device.cuh"
#include "timing.cuh"

namespace lab {

/// A right variant or a wrong twin of a sample. Job is the sample's own struct, with what its launches need.
template <class Job>
struct Variant {
    const char* name;       ///< the name for --only and --wrong
    const char* how;        ///< how it works or what is wrong, in a few words
    void (*launch)(Job&);   ///< resets what the kernel needs, and launches it; only this call is timed
    int least_threads = 1;  ///< with fewer --threads the variant is left out
};

/// Does this result of cudaGetDeviceCount() mean that there is no driver or no device? Any other error is a
/// failure.
constexpr bool means_no_device(cudaError_t answer) {
    switch (answer) {
        case cudaSuccess:
        case cudaErrorNoDevice:
        case cudaErrorInsufficientDriver:
        case cudaErrorStubLibrary:
        case cudaErrorInitializationError:
        case cudaErrorSystemNotReady:
        case cudaErrorSystemDriverMismatch:
        case cudaErrorCompatNotSupportedOnDevice:
        case cudaErrorUnknown: return true;
        default: return false;
    }
}

/// One run of one sample on one device.
class Sample : public Timing {
public:
    using Timing::Timing;

    /// Reads the command line, looks for a device, and prints what the sample runs on. Ends the program with status
    /// 0 for --help, 2 for a bad command line, 77 without a device.
    void start(int argc, char** argv) {
        parse(argc, argv);
        int devices = 0;
        const cudaError_t status = cudaGetDeviceCount(&devices);
        if (devices == 0 && means_no_device(status)) {
            std::fprintf(stderr,
                         "no CUDA device: %s\n(error %d). Type make doctor to see why. To use the CPU device, "
                         "type:\n  make run DEVICE=cpu\n",
                         cudaGetErrorString(status), static_cast<int>(status));
            std::exit(no_device);
        }
        check_cuda(status, "cudaGetDeviceCount", __FILE__, __LINE__);
        use_device();
    }

    /// Returns the number of blocks of this kernel that can be resident on the GPU at once, at least 1; or
    /// --blocks, if that was typed.
    template <class Kernel>
    int blocks_to_fill(Kernel kernel, int threads, size_t shared_bytes = 0) const {
        if (blocks()) return blocks();
        int& per_sm = known_occupancy(reinterpret_cast<const void*>(kernel), threads, shared_bytes);
        if (per_sm == 0)
            CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, threads, shared_bytes));
        return std::max(1, per_sm * sms());
    }

    /// Ends the program with status 2 if a run of n elements needs more device memory than is free, would take too
    /// long on the CPU device, or exceeds at_most(). It needs `per_element` bytes for each element and `fixed`
    /// bytes more. Call it before the first allocation.
    void require_memory(double per_element, double fixed = 0, const Room& room = {}) const {
        size_t free = 0, total = 0;
        CHECK(cudaMemGetInfo(&free, &total));
        require_room(static_cast<double>(free), per_element, fixed, room);
    }

    /// Times launch(job), and returns the median in milliseconds. prepare(job) runs before each launch, untimed.
    /// The L2 cache is flushed first unless --warm was typed. common/README.md describes the protocol.
    template <class Job, class Prepare>
    Time time(Job& job, Prepare prepare, void (*launch)(Job&), Place place = {__builtin_FILE(), __builtin_LINE()}) {
        return measure([&] { prepare(job); }, [&] { launch(job); }, [] {}, !warm(), place);
    }
    /// The same, with after(job) after each launch that counts. `flush` says whether the L2 cache is flushed;
    /// --warm has no effect.
    template <class Job, class Prepare, class After>
    Time time(Job& job, Prepare prepare, void (*launch)(Job&), After after, bool flush,
              Place place = {__builtin_FILE(), __builtin_LINE()}) {
        return measure([&] { prepare(job); }, [&] { launch(job); }, [&] { after(job); }, flush, place);
    }

    /// Runs the variants of `table` that the command line asks for, and prints a row for each. It repeats
    /// prepare(job) and the timed launch(job) until the time is known. Then check(job, row) copies the result back,
    /// compares it, and fills in the row. `kind` decides whether the row counts for the verdict.
    template <class Job, class Table, class Prepare, class Check>
    void rows(Job& job, const Table& table, Prepare prepare, Check check, Kind kind = Kind::variant,
              Place place = {__builtin_FILE(), __builtin_LINE()}) {
        for (const auto& variant : table) {
            if (kind == Kind::variant ? !wants(variant.name) : !wants_all()) continue;
            Row row;
            row.variant = variant.name;
            row.kind = kind;
            timed_row(row, job, variant.launch, prepare, check, place);
        }
    }

    /// Prints the row of a vendor's library, timed and checked like a variant. A run with --only or --wrong omits
    /// it.
    template <class Job, class Prepare, class Check>
    void library_row(const char* name, const std::string& version, Job& job, void (*launch)(Job&), Prepare prepare,
                     Check check, Place place = {__builtin_FILE(), __builtin_LINE()}) {
        if (!wants_all()) return;
        Row row;
        row.variant = name;
        row.version = version;
        row.kind = Kind::library;
        timed_row(row, job, launch, prepare, check, place);
    }

    /// Returns the exit status for main. The destructor prints the verdict and writes the CSV file: then main's
    /// arrays are freed, and no CUDA call can fail any more.
    int verdict() {
        release();
        verdict_due_ = true;
        return status();
    }
    ~Sample() {
        if (!verdict_due_) return;
        const int promised = status();
        if (const int status = Lab::verdict(); status != promised) std::exit(status);
    }

private:
    template <class Job, class Prepare, class Check>
    void timed_row(Row& row, Job& job, void (*launch)(Job&), Prepare prepare, Check check, Place place) {
        row.ms = time(job, prepare, launch, place);
        check(job, row);
        Lab::row(row);
    }
    bool verdict_due_ = false;
};

}  // namespace lab
