// spelling.cu - labelled kernels: one hand-over within a block, by a volatile word in shared memory, whose loop is
// spelled in many ways. The spelling changes nothing:
//   NAME_signal       only the word is shared; both accesses are strong, so they never race: right
//   NAME_fenced       data and a fence on each side: right
//   NAME_no_release   no fence between the data and the word: a race on the data
//   NAME_no_acquire   no fence between the word and the data: a race on the data
// The writer never waits, so every loop ends.
// RUN: hazards --each 5
// RUN: slow hazards LAB_ORDER={forward,reverse,1,2} --each {5,33,200}
#include "labelled.cuh"

enum Mode { signal, fenced, no_release, no_acquire };
template <Mode M>
constexpr bool has_data = M != signal;
template <Mode M>
constexpr bool releases = M == fenced || M == no_acquire;
template <Mode M>
constexpr bool acquires = M == fenced || M == no_release;
#define KERNELS(name)                                                      \
    __global__ void name##_signal(int* out) { name<signal>(out); }         \
    __global__ void name##_fenced(int* out) { name<fenced>(out); }         \
    __global__ void name##_no_release(int* out) { name<no_release>(out); } \
    __global__ void name##_no_acquire(int* out) { name<no_acquire>(out); }

template <Mode M>
__device__ void while_empty(int* out) {
    __shared__ volatile int ready;
    __shared__ int data;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        if (has_data<M>) data = 5;  // RACE while_empty_no_release while_empty_no_acquire
        if (releases<M>) __threadfence_block();
        ready = 1;
    } else if (threadIdx.x == 33) {
        while (!ready) {}
        if (acquires<M>) __threadfence_block();
        *out = has_data<M> ? data : 1;  // RACE while_empty_no_release while_empty_no_acquire
    }
}
KERNELS(while_empty)
template <Mode M>
__device__ void while_true_break(int* out) {
    __shared__ volatile int ready;
    __shared__ int data;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        if (has_data<M>) data = 5;  // RACE while_true_break_no_release while_true_break_no_acquire
        if (releases<M>) __threadfence_block();
        ready = 1;
    } else if (threadIdx.x == 33) {
        while (true) {
            if (ready) break;
        }
        if (acquires<M>) __threadfence_block();
        *out = has_data<M> ? data : 1;  // RACE while_true_break_no_release while_true_break_no_acquire
    }
}
KERNELS(while_true_break)
template <Mode M>
__device__ void counts_turns(int* out) {
    __shared__ volatile int ready;
    __shared__ int data;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    int turns = 0;
    if (threadIdx.x == 0) {
        if (has_data<M>) data = 5;  // RACE counts_turns_no_release counts_turns_no_acquire
        if (releases<M>) __threadfence_block();
        ready = 1;
    } else if (threadIdx.x == 33) {
        while (!ready) ++turns;
        if (acquires<M>) __threadfence_block();
        *out = has_data<M> ? data : turns;  // RACE counts_turns_no_release counts_turns_no_acquire
    }
}
KERNELS(counts_turns)
template <Mode M>
__device__ void for_without_condition(int* out) {
    __shared__ volatile bool ready;
    __shared__ int data;
    if (threadIdx.x == 0) ready = false;
    __syncthreads();
    if (threadIdx.x == 0) {
        if (has_data<M>) data = 5;  // RACE for_without_condition_no_release for_without_condition_no_acquire
        if (releases<M>) __threadfence_block();
        ready = true;
    }
    if (threadIdx.x != 33) return;
    for (;;)
        if (ready == true) break;
    if (acquires<M>) __threadfence_block();
    *out = has_data<M> ? data : 1;  // RACE for_without_condition_no_release for_without_condition_no_acquire
}
KERNELS(for_without_condition)
template <Mode M>
__device__ void for_with_condition(int* out) {
    __shared__ volatile int ready;
    __shared__ int data;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        if (has_data<M>) data = 5;  // RACE for_with_condition_no_release for_with_condition_no_acquire
        if (releases<M>) __threadfence_block();
        ready = 1;
    } else if (threadIdx.x == 33) {
        for (; !ready;) {}
        if (acquires<M>) __threadfence_block();
        *out = has_data<M> ? data : 1;  // RACE for_with_condition_no_release for_with_condition_no_acquire
    }
}
KERNELS(for_with_condition)
template <Mode M>
__device__ void goto_again(int* out) {
    __shared__ volatile int ready;
    __shared__ int data;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        if (has_data<M>) data = 5;  // RACE goto_again_no_release goto_again_no_acquire
        if (releases<M>) __threadfence_block();
        ready = 1;
    } else if (threadIdx.x == 33) {
    again:
        if (!ready) goto again;
        if (acquires<M>) __threadfence_block();
        *out = has_data<M> ? data : 1;  // RACE goto_again_no_release goto_again_no_acquire
    }
}
KERNELS(goto_again)
template <Mode M>
__device__ void do_while(int* out) {
    __shared__ volatile int ready;
    __shared__ int data;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        if (has_data<M>) data = 5;  // RACE do_while_no_release do_while_no_acquire
        if (releases<M>) __threadfence_block();
        ready = 1;
    } else if (threadIdx.x == 33) {
        int seen;
        do seen = ready;
        while (seen == 0);
        if (acquires<M>) __threadfence_block();
        *out = has_data<M> ? data : 1;  // RACE do_while_no_release do_while_no_acquire
    }
}
KERNELS(do_while)
#define WAIT_UNTIL(condition) \
    while (!(condition)) {}
template <Mode M>
__device__ void by_macro(int* out) {
    __shared__ volatile int ready;
    __shared__ int data;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        if (has_data<M>) data = 5;  // RACE by_macro_no_release by_macro_no_acquire
        if (releases<M>) __threadfence_block();
        ready = 1;
    } else if (threadIdx.x == 33) {
        WAIT_UNTIL(ready)
        if (acquires<M>) __threadfence_block();
        *out = has_data<M> ? data : 1;  // RACE by_macro_no_release by_macro_no_acquire
    }
}
KERNELS(by_macro)
__device__ void await_flag(const volatile int* flag) {
    while (*flag == 0) {}
}
__device__ void set_flag(volatile int* flag) { *flag = 1; }
template <Mode M>
__device__ void by_helper(int* out) {
    __shared__ volatile int ready;
    __shared__ int data;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        if (has_data<M>) data = 5;  // RACE by_helper_no_release by_helper_no_acquire
        if (releases<M>) __threadfence_block();
        set_flag(&ready);
    } else if (threadIdx.x == 33) {
        await_flag(&ready);
        if (acquires<M>) __threadfence_block();
        *out = has_data<M> ? data : 1;  // RACE by_helper_no_release by_helper_no_acquire
    }
}
KERNELS(by_helper)
struct Mail {
    int data;
    volatile int ready;
};
template <Mode M>
__device__ void struct_field(int* out) {
    __shared__ Mail mail;
    if (threadIdx.x == 0) mail.ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        if (has_data<M>) mail.data = 5;  // RACE struct_field_no_release struct_field_no_acquire
        if (releases<M>) __threadfence_block();
        mail.ready = 1;
    } else if (threadIdx.x == 33) {
        while (!mail.ready) {}
        if (acquires<M>) __threadfence_block();
        *out = has_data<M> ? mail.data : 1;  // RACE struct_field_no_release struct_field_no_acquire
    }
}
KERNELS(struct_field)
template <Mode M>
__device__ void count_reached(int* out) {
    __shared__ volatile int count;
    __shared__ int data;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        if (has_data<M>) data = 5;  // RACE count_reached_no_release count_reached_no_acquire
        if (releases<M>) __threadfence_block();
        for (int k = 1; k <= 3; ++k) count = k;
    } else if (threadIdx.x == 33) {
        while (count < 3) {}
        if (acquires<M>) __threadfence_block();
        *out = has_data<M> ? data : 1;  // RACE count_reached_no_release count_reached_no_acquire
    }
}
KERNELS(count_reached)
template <Mode M>
__device__ void cast_to_volatile(int* out) {
    __shared__ int ready, data;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        if (has_data<M>) data = 5;  // RACE cast_to_volatile_no_release cast_to_volatile_no_acquire
        if (releases<M>) __threadfence_block();
        *(volatile int*)&ready = 1;
    } else if (threadIdx.x == 33) {
        while (!*(volatile int*)&ready) {}
        if (acquires<M>) __threadfence_block();
        *out = has_data<M> ? data : 1;  // RACE cast_to_volatile_no_release cast_to_volatile_no_acquire
    }
}
KERNELS(cast_to_volatile)
template <Mode M>
__device__ void by_reference(int* out) {
    __shared__ int words[2];
    volatile int& ready = words[1];
    int& data = words[0];
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        if (has_data<M>) data = 5;  // RACE by_reference_no_release by_reference_no_acquire
        if (releases<M>) __threadfence_block();
        ready = 1;
    } else if (threadIdx.x == 33) {
        for (int seen = ready; seen != 1; seen = ready) continue;
        if (acquires<M>) __threadfence_block();
        *out = has_data<M> ? data : 1;  // RACE by_reference_no_release by_reference_no_acquire
    }
}
KERNELS(by_reference)
template <Mode M>
__device__ void continues(int* out) {
    __shared__ volatile int ready;
    __shared__ int data;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        if (has_data<M>) data = 5;  // RACE continues_no_release continues_no_acquire
        if (releases<M>) __threadfence_block();
        ready = 1;
    }
    while (threadIdx.x == 33) {
        if (ready == 0) continue;
        if (acquires<M>) __threadfence_block();
        *out = has_data<M> ? data : 1;  // RACE continues_no_release continues_no_acquire
        return;
    }
}
KERNELS(continues)
template <Mode M>
__device__ void sleeps(int* out) {
    __shared__ volatile int ready;
    __shared__ int data;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        if (has_data<M>) data = 5;  // RACE sleeps_no_release sleeps_no_acquire
        if (releases<M>) __threadfence_block();
        ready = 1;
    } else if (threadIdx.x == 33) {
        while (!ready) __nanosleep(20);
        if (acquires<M>) __threadfence_block();
        *out = has_data<M> ? data : 1;  // RACE sleeps_no_release sleeps_no_acquire
    }
}
KERNELS(sleeps)
template <Mode M>
__device__ void by_switch(int* out) {
    __shared__ volatile int ready[2];
    __shared__ int data;
    if (threadIdx.x < 2) ready[threadIdx.x] = 0;
    __syncthreads();
    switch (threadIdx.x) {
        case 0:
            if (has_data<M>) data = 5;  // RACE by_switch_no_release by_switch_no_acquire
            if (releases<M>) __threadfence_block();
            ready[1] = 7;
            break;
        case 33:
            for (bool waiting = true; waiting;) switch (ready[threadIdx.x / 32]) {
                    case 7: waiting = false;
                }
            if (acquires<M>) __threadfence_block();
            *out = has_data<M> ? data : 1;  // RACE by_switch_no_release by_switch_no_acquire
    }
}
KERNELS(by_switch)
template <Mode M>
__device__ void polled_by_atomic(int* out) {  // atomics are also strong
    __shared__ int ready, data;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        if (has_data<M>) data = 5;  // RACE polled_by_atomic_no_release polled_by_atomic_no_acquire
        if (releases<M>) __threadfence_block();
        *(volatile int*)&ready = 1;
    } else if (threadIdx.x == 33) {
        while (atomicAdd(&ready, 0) == 0) {}
        if (acquires<M>) __threadfence_block();
        *out = has_data<M> ? data : 1;  // RACE polled_by_atomic_no_release polled_by_atomic_no_acquire
    }
}
KERNELS(polled_by_atomic)
template <Mode M>
__device__ void looked_at_once(int* out) {  // by all threads of the other warp, without a loop
    __shared__ volatile int ready;
    __shared__ int data;
    if (threadIdx.x == 0) ready = 0, data = 3;
    __syncthreads();
    if (threadIdx.x == 0) {
        if (has_data<M>) data = 5;
        if (releases<M>) __threadfence_block();
        ready = 1;
    } else if (threadIdx.x > 31 && ready) {
        if (acquires<M>) __threadfence_block();
        out[threadIdx.x - 32] = has_data<M> ? data : 1;
    }
}
__global__ void looked_at_once_signal(int* out) { looked_at_once<signal>(out); }
__global__ void looked_at_once_fenced(int* out) { looked_at_once<fenced>(out); }

// ---- volatile data without fences ---------------
// Every access is strong, so there is no data race. But nothing orders the data before the word, so the reader may
// see the old data. A check beyond the memory model finds that.

__global__ void volatile_data_while(int* out) {
    __shared__ volatile int ready, data;
    if (threadIdx.x == 0) ready = data = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        data = 5;  // RACE volatile_data_while
        ready = 1;
    } else if (threadIdx.x == 33) {
        while (!ready) {}
        *out = data;  // RACE volatile_data_while
    }
}
__global__ void volatile_data_goto(int* out) {
    __shared__ volatile int ready, data;
    if (threadIdx.x == 0) ready = data = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        data = 5;  // RACE volatile_data_goto
        ready = 1;
    }
    if (threadIdx.x != 33) return;
again:
    if (ready == 0) goto again;
    *out = data;  // RACE volatile_data_goto
}

int main(int argc, char** argv) {
#define RUN(label, name)                                           \
    {                                                              \
        label, #name, [](int) { name<<<1, 64>>>(zeros<int>(32)); } \
    }
#define ALL_MODES(name)                                                                       \
    RUN("right", name##_signal), RUN("right", name##_fenced), RUN("race", name##_no_release), \
        RUN("race", name##_no_acquire)
    const Case cases[] = {
        ALL_MODES(while_empty),
        ALL_MODES(while_true_break),
        ALL_MODES(counts_turns),
        ALL_MODES(for_without_condition),
        ALL_MODES(for_with_condition),
        ALL_MODES(goto_again),
        ALL_MODES(do_while),
        ALL_MODES(by_macro),
        ALL_MODES(by_helper),
        ALL_MODES(struct_field),
        ALL_MODES(count_reached),
        ALL_MODES(cast_to_volatile),
        ALL_MODES(by_reference),
        ALL_MODES(continues),
        ALL_MODES(sleeps),
        ALL_MODES(by_switch),
        ALL_MODES(polled_by_atomic),
        RUN("right", looked_at_once_signal),
        RUN("right", looked_at_once_fenced),
        RUN("race", volatile_data_while),
        RUN("race", volatile_data_goto),
    };
    return choose(cases, argc, argv);
}
