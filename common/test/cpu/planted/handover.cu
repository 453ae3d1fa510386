// Data handed on by flags, locks and copies that a macro or a struct hides, and warps whose lanes nothing orders.
// RUN: fix
#include <cuda_pipeline.h>

#include "planted.cuh"

#define FLAG(p) (*(volatile int*)&(p))
struct Box { int data[32]; int flag; };

__global__ void by_macro(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            data[0] = 7;
            FLAG(*flag) = 1;
        }
    } else if (threadIdx.x == 0) {
        while (FLAG(*flag) == 0) {}
        __threadfence();
        out[0] = data[0];
    }
}
PLANT(macro_flag) {  // SAYS-COUNT-1: put __threadfence()
    int* o = zeros(1);
    by_macro<<<2, 32>>>(zeros(1), zeros(1), o);
    wants(o, 1, [](int) { return 7; });
}

__global__ void by_atomic(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            data[0] = 7;
            atomicExch(flag, 1);
        }
    } else if (threadIdx.x == 0) {
        while (atomicAdd(flag, 0) == 0) {}
        __threadfence();
        out[0] = data[0];
    }
}
PLANT(atomic_flag) {  // SAYS-COUNT-1: put __threadfence()
    int* o = zeros(1);
    by_atomic<<<2, 32>>>(zeros(1), zeros(1), o);
    wants(o, 1, [](int) { return 7; });
}

#define WAIT(p) while (atomicAdd(p, 0) == 0) {}
#define SIGNAL(p) atomicExch(p, 1)
__global__ void by_macros(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            data[0] = 7;
            SIGNAL(flag);
        }
    } else if (threadIdx.x == 0) {
        WAIT(flag);
        __threadfence();
        out[0] = data[0];
    }
}
PLANT(macros_flag) {  // SAYS-COUNT-1: put __threadfence()
    int* o = zeros(1);
    by_macros<<<2, 32>>>(zeros(1), zeros(1), o);
    wants(o, 1, [](int) { return 7; });
}

__global__ void by_struct(Box* b, int* out) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            b->data[0] = 7;
            atomicExch(&b->flag, 1);
        }
    } else if (threadIdx.x == 0) {
        while (atomicAdd(&b->flag, 0) == 0) {}
        __threadfence();
        out[0] = b->data[0];
    }
}
PLANT(struct_flag) {  // SAYS-COUNT-1: put __threadfence()
    int* o = zeros(1);
    by_struct<<<2, 32>>>((Box*)zeros(33), o);
    wants(o, 1, [](int) { return 7; });
}

struct Message { int size, value; volatile int ready; };
__global__ void by_fields(Message* m, int* out) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            m->size = 3;
            m->value = 7;
            m->ready = 1;
        }
    } else if (threadIdx.x == 0) {
        while (m->ready == 0) {}
        __threadfence();
        out[0] = m->value + m->size;
    }
}
PLANT(field_flag) {  // SAYS-COUNT-1: put __threadfence()
    int* o = zeros(1);
    by_fields<<<2, 32>>>((Message*)zeros(3), o);
    wants(o, 1, [](int) { return 10; });
}

struct TicketLock { int next, serving; };
struct Sums { int a, b, c; };
__global__ void ticket(TicketLock* l, Sums* s) {
    if (threadIdx.x) return;
    int mine = atomicAdd(&l->next, 1);
    while (atomicAdd(&l->serving, 0) != mine) {}
    __threadfence();
    s->a += 1;
    s->b += 2;
    s->c += 3;
    atomicAdd(&l->serving, 1);
}
PLANT(ticket_lock) {  // SAYS-COUNT-1: put __threadfence()
    int* s = zeros(3);
    ticket<<<4, 32>>>((TicketLock*)zeros(2), (Sums*)s);
    wants(s, 3, [](int i) { return 4 * (i + 1); });
}

__global__ void async_copy(const int* in, int* out) {
    __shared__ int s[64];
    __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(0);  // #waited
    out[threadIdx.x] = s[63 - threadIdx.x];
}
PLANT(wait_prior) {  // SAYS: put __syncthreads() after line @#waited
    int* o = zeros(64);
    async_copy<<<1, 64>>>(filled(64), o);
    wants(o, 64, [](int i) { return in_at(63 - i); });
}

inline int sum_to(int i) { return i < 0 ? 0 : sum_to(i - 1) + in_at(i); }

__global__ void warp_scan(const int* in, int* out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = in[t];
    if (t >= 1) s[t] += s[t - 1];  // FIXED: { const int read = t >= 1 ? s[t - 1] : 0; __syncwarp(); if (t >= 1) s[t] += read; }
    if (t >= 2) s[t] += s[t - 2];  // FIXED: { const int read = t >= 2 ? s[t - 2] : 0; __syncwarp(); if (t >= 2) s[t] += read; }
    if (t >= 4) s[t] += s[t - 4];  // FIXED: { const int read = t >= 4 ? s[t - 4] : 0; __syncwarp(); if (t >= 4) s[t] += read; }
    if (t >= 8) s[t] += s[t - 8];  // FIXED: { const int read = t >= 8 ? s[t - 8] : 0; __syncwarp(); if (t >= 8) s[t] += read; }
    if (t >= 16) s[t] += s[t - 16];  // FIXED: { const int read = t >= 16 ? s[t - 16] : 0; __syncwarp(); if (t >= 16) s[t] += read; }
    out[t] = s[t];
}
PLANT(warp_scan_steps) {  // SAYS-COUNT-1: cudacpu: hazard:
    int* o = zeros(32);
    warp_scan<<<1, 32>>>(filled(32), o);
    wants(o, 32, [](int i) { return sum_to(i); });
}

__global__ void warp_scan_volatile(const int* in, int* out) {
    __shared__ int a[64];
    volatile int* s = a + 32;
    int t = threadIdx.x;
    s[t - 32] = 0;
    s[t] = in[t];
    s[t] += s[t - 1];  // FIXED: { const int read = s[t - 1]; __syncwarp(); s[t] += read; }
    s[t] += s[t - 2];  // FIXED: { const int read = s[t - 2]; __syncwarp(); s[t] += read; }
    s[t] += s[t - 4];  // FIXED: { const int read = s[t - 4]; __syncwarp(); s[t] += read; }
    s[t] += s[t - 8];  // FIXED: { const int read = s[t - 8]; __syncwarp(); s[t] += read; }
    s[t] += s[t - 16];  // FIXED: { const int read = s[t - 16]; __syncwarp(); s[t] += read; }
    out[t] = s[t];
}
PLANT(warp_scan_padded) {  // SAYS-COUNT-1: cudacpu: hazard:
    int* o = zeros(32);
    warp_scan_volatile<<<1, 32>>>(filled(32), o);
    wants(o, 32, [](int i) { return sum_to(i); });
}

__global__ void seq_no_fences(volatile int* version, int* x, int* y, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        for (int i = 1; i < 4; ++i) {
            *version = *version + 1;
            *x = i;
            *y = i;
            *version = *version + 1;
        }
    } else {
        int a, b, v;
        do {
            v = *version;
            a = *x;
            b = *y;
        } while (v % 2 || v != *version);
        out[0] = a == b;
    }
}
PLANT(seq_plain) {  // SAYS: cudacpu: hazard: race
    int* o = zeros(1);
    seq_no_fences<<<2, 32>>>(zeros(1), zeros(1), zeros(1), o);
    wants(o, 1, [](int) { return 1; });
}

__global__ void seq_volatile(volatile int* version, volatile int* x, volatile int* y, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        for (int i = 1; i < 4; ++i) {
            *version = *version + 1;
            *x = i;
            *y = i;
            *version = *version + 1;
        }
    } else {
        int a, b, v;
        do {
            v = *version;
            a = *x;
            b = *y;
        } while (v % 2 || v != *version);
        out[0] = a == b;
    }
}
PLANT(seq_volatile_words) {  // SAYS-COUNT-1: cudacpu: hazard: race
    int* o = zeros(1);
    seq_volatile<<<2, 32>>>(zeros(1), zeros(1), zeros(1), o);
    wants(o, 1, [](int) { return 1; });
}

__global__ void seq_atomic(int* version, volatile int* x, volatile int* y, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        for (int i = 1; i < 4; ++i) {
            atomicAdd(version, 1);
            *x = i;
            *y = i;
            atomicAdd(version, 1);
        }
    } else {
        int a, b, v;
        do {
            v = atomicAdd(version, 0);
            a = *x;
            b = *y;
        } while (v % 2 || v != atomicAdd(version, 0));
        out[0] = a == b;
    }
}
PLANT(seq_atomics) {  // SAYS-COUNT-1: cudacpu: hazard: race
    int* o = zeros(1);
    seq_atomic<<<2, 32>>>(zeros(1), zeros(1), zeros(1), o);
    wants(o, 1, [](int) { return 1; });
}
