// helper_functions.h - for programs that include <helper_functions.h> as well as <helper_cuda.h>. It declares
// nothing itself: the tutorials' programs do not call the timers and image functions of NVIDIA's file with this
// name.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
