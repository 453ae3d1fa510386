// cub/cub.cuh - CUB: the collectives of warps and blocks, and the most common algorithms for arrays.
#pragma once
#include "../cudacpu/cub_device.hpp"
