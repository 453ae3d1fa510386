// LAB_FLIP changes one copy to the host, so that a test sees whether a program compares its results. LAB_FAIL lets
// a call of the API fail; common/test/faults.sh uses it. Invalid values are rejected.
#include "case.cuh"

// RUN: plain LAB_FLIP=1:80 copy_back
// SAYS: LAB_FLIP=1:80: 20 bytes are changed:
// SAYS: {{^}}0 0 65536 0 0 0 0 0 0 0 0 0 0 0 0
// RUN: plain LAB_FLIP=2:-160 copy_back
// SAYS: 20 bytes are changed
// SAYS: {{^}}0 0 0 0 0 1 0 0 0 0 0 0 0 0 0
// RUN: plain LAB_FLIP=1:ones copy_back
// SAYS: 20 bytes are changed
// SAYS: {{^}}-1 -1 -1 -1 -1 0 0 0 0 0
// RUN: plain LAB_FLIP=1:swap copy_back
// SAYS: 20 bytes stay the same
// SAYS: {{^}}0 0 0 0 0 0 0 0 0 0
// RUN: plain LAB_FLIP=3:0 copy_back
// SAYS: {{^}}0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// SAYS-NOT: cudacpu:
// RUN: plain LAB_FLIP={1,none,2:3x} copy_back
// STATUS: 2
// SAYS: LAB_FLIP={{1|none|2:3x}}: say which copy to the host, 1 or more, and what of it
// RUN: plain LAB_FAIL=-1 copy_back
// STATUS: 2
// SAYS: LAB_FAIL=-1: say which call is to fail, 1 or more
CASE(copy_back) {
    int *const p = device<int>(5), back[3][5];
    cudaMemcpy(back[0], p, 20, cudaMemcpyDeviceToHost);
    cudaMemcpyAsync(back[1], p, 20, cudaMemcpyDefault);
    cudaMemcpy2D(back[2], 4, p, 4, 4, 5, cudaMemcpyDeviceToHost);
    for (auto& all : back)
        for (int i = 0; i < 5; ++i) printf("%d%c", all[i], i < 4 ? ' ' : '\n');
    return 0;
}
