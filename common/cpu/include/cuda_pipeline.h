#include "cuda_pipeline_primitives.h"  // the CPU device has no pipeline<> objects
