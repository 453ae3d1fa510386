// noise.cuh - numbers for the programs that must print the same as on an H200.
#pragma once

__device__ unsigned noise(unsigned i) {
    i = (i ^ 61) ^ (i >> 16);
    i *= 9;
    i ^= i >> 4;
    i *= 0x27d4eb2d;
    return i ^ i >> 15;
}
