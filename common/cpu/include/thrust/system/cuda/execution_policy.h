// thrust/system/cuda/execution_policy.h - replaces Thrust's header: thrust::cuda::par.
#pragma once
#include "../../../cudacpu/thrust.hpp"
