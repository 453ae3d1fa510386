// helper_functions.h - for programs that include <helper_functions.h> beside <helper_cuda.h>. It declares nothing
// of its own: the tutorials' programs call none of the timers and image functions that NVIDIA's file of this name
// has.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
