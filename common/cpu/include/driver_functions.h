#include "cuda_runtime.h"  // the CPU device keeps everything there
