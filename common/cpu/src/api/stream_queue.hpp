// stream_queue.hpp - the queue of all streams.
#pragma once
#include <pthread.h>

#include <atomic>
#include <functional>

#include "cuda_runtime.h"

namespace cudacpu {

/// early: a kernel that may begin before the kernel ahead of it in the stream has ended.
cudaError_t enqueue(cudaStream_t stream, std::function<cudaError_t()> work, bool is_kernel = false,
                    bool early = false);
extern std::atomic<bool> works_run;  // a call of the API is not permitted, because a callback makes it
extern bool kernel_ran;
extern pthread_t runner;  // the thread of the program that last ran works
struct UnfinishedWork {
    size_t kernels = 0, functions = 0;  // functions: of the host
};
UnfinishedWork unfinished_work();

}  // namespace cudacpu
