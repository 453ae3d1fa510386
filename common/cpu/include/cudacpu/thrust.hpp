// thrust.hpp - Thrust on the CPU device: Debian's package libthrust-dev, compiled for its C++ backend.
//
// Thrust's algorithms then run on the host. So device vectors are in managed memory, and each launch waits for its
// kernel: an algorithm finds what the kernels before it have written. The headers in include/thrust replace those
// of Thrust that allocate memory, and those of its CUDA backend.
#pragma once
#include "../cuda_runtime.h"

#include <thrust/system/cpp/execution_policy.h>

namespace cudacpu {
inline const bool thrust_waits = launches_block = true;
}

THRUST_NAMESPACE_BEGIN
namespace cuda {
struct policy_of_stream : thrust::system::cpp::detail::par_t {
    const policy_of_stream& on(cudaStream_t) const { return *this; }
};
inline const policy_of_stream par, par_nosync;
}  // namespace cuda
THRUST_NAMESPACE_END
