// cas_loops.cu - labelled kernels: loops around atomicCAS. A thread may read the word plainly if its own CAS then
// compares that value, because a stale value only makes the CAS fail. A plain read whose value is used otherwise is
// a race. In the two kernels labelled NOTE some threads read plainly and then need no CAS. By the PTX model these
// reads race. In practice they do no harm, because the thread only decides that it has nothing to write.
// RUN: hazards --each 5
// RUN: slow hazards LAB_ORDER={forward,reverse,1,2} --each {5,33,200}
#include "labelled.cuh"

#define ID int(blockIdx.x * blockDim.x + threadIdx.x)
typedef unsigned long long Word;

int B(int n) { return n / 64 + 1; }
int* iota(int n) {
    int* const host = (int*)malloc(n * sizeof(int));
    for (int i = 0; i < n; ++i) host[i] = i;
    int* const p = zeros<int>(n);
    cudaMemcpy(p, host, n * sizeof(int), cudaMemcpyHostToDevice);
    free(host);
    return p;
}

// Adds to *p and returns what *p was before.
__device__ int add_by_cas(int* p, int value) {
    int old = *p, assumed;
    do {
        assumed = old;
        old = atomicCAS(p, assumed, assumed + value);
    } while (old != assumed);
    return old;
}
// Raises *p to a value above 0. Every thread does a CAS, even if it changes nothing.
__device__ void raise_by_cas(float* p, float value) {
    int* const bits = (int*)p;
    int old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
    } while (old != assumed);
}

// ---- all threads read the word plainly: all do a CAS, or one does and the others use the value ---------------

__global__ void all_compare(int* p) {
    int old = *p, assumed;
    do {
        assumed = old;
        old = atomicCAS(p, assumed, assumed + 5);
    } while (old != assumed);
}
__global__ void others_store(int* p, int* out) {
    int old = *p, assumed;  // RACE others_store
    if (threadIdx.x > 0) {
        out[threadIdx.x] = old;
        return;
    }
    do {
        assumed = old;
        old = atomicCAS(p, assumed, assumed + 5);
    } while (old != assumed);
}
__global__ void others_branch(int* p, int* out) {
    const int first = *p;  // RACE others_branch
    if (threadIdx.x == 0)
        for (int old = first, assumed = old + 1; old != assumed;) {
            assumed = old;
            old = atomicCAS(p, assumed, assumed + 5);
        }
    else if (first > 3)
        out[threadIdx.x] = 1;
    else
        out[threadIdx.x] = 2;
}
__global__ void others_index(int* p, const int* table, int n, int* out) {
    int old = *p;  // RACE others_index
    while (threadIdx.x == 0) {
        const int assumed = old;
        old = atomicCAS(p, assumed, assumed + 1);
        if (old == assumed) return;
    }
    out[threadIdx.x] = table[old % n];
}
__device__ int value_at(const int* p) {
    return *p;  // RACE others_ask_a_helper
}
__global__ void others_ask_a_helper(int* p, int* out) {
    if (threadIdx.x % 32 == 0)
        add_by_cas(p, 3);
    else
        out[threadIdx.x] = value_at(p);
}
template <bool Lanes>
__device__ void place_for_the_warp(int* count, int* out) {  // lane 0 takes 32 places
    const int lane = int(threadIdx.x % 32);
    int old = 0, assumed;
    if (Lanes || lane == 0) old = *count;  // RACE lanes_use_their_look
    const int look = old;
    if (lane == 0) do {
            assumed = old;
            old = atomicCAS(count, assumed, assumed + 32);
        } while (old != assumed);
    const int base = __shfl_sync(~0u, old, 0);
    if (Lanes && lane)
        out[threadIdx.x] = look + lane;
    else
        out[base + lane] = lane;
}
__global__ void warp_takes_places(int* count, int* out) { place_for_the_warp<false>(count, out); }
__global__ void lanes_use_their_look(int* count, int* out) { place_for_the_warp<true>(count, out); }

// ---- sums, most and least ---------------

template <bool Look>
__device__ void sum_of_floats(float* sum, int n, float* out) {
    const int i = ID;
    if (i >= n) return;
    int* const bits = (int*)sum;
    int old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __float_as_int(__int_as_float(assumed) + float(i + 1)));
    } while (old != assumed);
    if (Look) out[i] = *sum;  // RACE float_sum_looked_at
}
__global__ void float_sum(float* sum, int n, float* out) { sum_of_floats<false>(sum, n, out); }
__global__ void float_sum_looked_at(float* sum, int n, float* out) { sum_of_floats<true>(sum, n, out); }
__global__ void float_most(float* most, int n) {
    const int i = ID;
    if (i >= n) return;
    unsigned* const bits = (unsigned*)most;
    unsigned old = *bits;
    while (true) {
        const unsigned assumed = old;
        old = atomicCAS(bits, assumed, __float_as_uint(fmaxf(__uint_as_float(assumed), float(i))));
        if (old == assumed) break;
    }
}
__global__ void float_least(float* least, int n) {
    const int i = ID;
    if (i >= n) return;
    int* const bits = (int*)least;
    int old = *bits;
    for (;;) {
        const int assumed = old, next = __float_as_int(fminf(__int_as_float(assumed), -float(i)));
        old = atomicCAS(bits, assumed, next);
        if (old == assumed) return;
    }
}
__global__ void most_looked_at(float* most, int n, float* out) {  // the largest may still be to come
    const int i = ID;
    if (i >= n) return;
    max_by_cas(most, float(i + 1));
    out[i] = *most;  // RACE most_looked_at
}
__global__ void one_raises_others_copy(float* p, float* out) {
    if (ID == 64)
        max_by_cas(p, 1);
    else
        out[ID] = *p;  // RACE one_raises_others_copy
}
template <bool Look>
__device__ void raise_two_ahead(float* most, int n, int* out) {
    const int i = ID;
    if (i >= n) return;
    for (int step = 1; step <= 2; ++step) raise_by_cas(most + (i + step) % n, float(i + 1));
    if (Look) out[i] = most[i] > 2 ? 1 : -1;  // RACE ring_read_early
}
__global__ void ring_raised(float* most, int n, int* out) { raise_two_ahead<false>(most, n, out); }
__global__ void ring_read_early(float* most, int n, int* out) { raise_two_ahead<true>(most, n, out); }
template <bool Poll>
__device__ void sum_of_doubles(double* sum, int n, int* out) {
    const int i = ID;
    if (i >= n) return;
    if (Poll && i % 2) {
        int turn = 0;
        while (turn < 16 && *sum < 3) ++turn;  // RACE double_sum_polled
        out[i] = turn;
        return;
    }
    Word* const bits = (Word*)sum;
    Word old = *bits, assumed;
    do {
        assumed = old;
        const double next = __longlong_as_double((long long)assumed) + i + 1;
        old = atomicCAS(bits, assumed, (Word)__double_as_longlong(next));
    } while (old != assumed);
}
__global__ void double_sum(double* sum, int n, int* out) { sum_of_doubles<false>(sum, n, out); }
__global__ void double_sum_polled(double* sum, int n, int* out) { sum_of_doubles<true>(sum, n, out); }

// ---- parts of a word, and two values in one ---------------

template <bool Copy>
__device__ void replace_bytes(unsigned char* x, int n, unsigned* out) {
    const int i = ID;
    if (i >= n) return;
    unsigned* const word = (unsigned*)x + i / 4;
    const unsigned shift = 8 * unsigned(i % 4), mine = unsigned(i + 1) % 256 << shift;
    unsigned old = *word, assumed;
    do {
        assumed = old;
        old = atomicCAS(word, assumed, (assumed & ~(255u << shift)) | mine);
    } while (old != assumed);
    if (Copy) out[i] = *word;  // RACE word_of_bytes_copied
}
__global__ void bytes_replaced(unsigned char* x, int n, unsigned* out) { replace_bytes<false>(x, n, out); }
__global__ void word_of_bytes_copied(unsigned char* x, int n, unsigned* out) { replace_bytes<true>(x, n, out); }
struct Halves {
    unsigned short low, high;
};
template <bool Others>
__device__ void raise_halves(Halves* p, const int* table, int n, int* out) {  // each half is read by itself
    const int i = ID;
    if (i >= n) return;
    if (Others && i % 2) {
        out[i] = table[p->low % n];  // RACE half_used_as_index
        return;
    }
    unsigned assumed;
    do {
        const unsigned low = p->low, high = p->high;
        assumed = low | high << 16;
    } while (atomicCAS((unsigned*)p, assumed, assumed + 0x10001) != assumed);
}
__global__ void halves_raised(Halves* p, const int* t, int n, int* out) { raise_halves<false>(p, t, n, out); }
__global__ void half_used_as_index(Halves* p, const int* t, int n, int* out) { raise_halves<true>(p, t, n, out); }
__global__ void shorts_by_cas(unsigned short* x, int n) {  // two neighbours share a word
    const int i = ID;
    if (i >= n) return;
    unsigned short* const p = x + i / 2 % 2;
    unsigned short old = *p, assumed;
    do {
        assumed = old;
        old = atomicCAS(p, assumed, (unsigned short)(assumed + 3));
    } while (old != assumed);
}
union Best {
    Word word;
    struct {
        float value;
        int index;
    } part;
};
template <bool Others>
__device__ void find_best(Best* best, const int* table, int n, int* out) {
    const int i = ID;
    if (i >= n) return;
    if (Others && i % 2) {
        out[i] = table[best->part.index];  // RACE best_index_used
        return;
    }
    const float mine = float(1 + i * 7 % 13);
    Best old, assumed, next;
    old.word = best->word;
    do {
        assumed = next = old;
        if (mine > assumed.part.value) next.part.value = mine, next.part.index = i;
        old.word = atomicCAS(&best->word, assumed.word, next.word);
    } while (old.word != assumed.word);
}
__global__ void best_in_one_word(Best* best, const int* t, int n, int* out) { find_best<false>(best, t, n, out); }
__global__ void best_index_used(Best* best, const int* t, int n, int* out) { find_best<true>(best, t, n, out); }
template <bool Both>
__device__ void two_words(int* x, int n, int* out) {
    const int i = ID;
    if (i >= n) return;
    const bool both = Both || i % 2 == 0;
    int low = x[0];
    int high = x[1];  // RACE second_word_only_read
    const int first_high = high;
    for (bool low_done = false, high_done = !both; !low_done || !high_done;) {
        if (!low_done) {
            const int seen = atomicCAS(x, low, low - i - 1);
            low_done = seen == low;
            low = seen;
        }
        if (!high_done) {
            const int seen = atomicCAS(x + 1, high, high + i + 1);
            high_done = seen == high;
            high = seen;
        }
    }
    if (!both) out[i] = first_high;
}
__global__ void two_words_in_turn(int* x, int n, int* out) { two_words<true>(x, n, out); }
__global__ void second_word_only_read(int* x, int n, int* out) { two_words<false>(x, n, out); }

// ---- stacks, lists and sets ---------------

template <bool Walk>
__device__ void push(int* head, int* next, int n, int* out) {
    const int i = ID;
    if (i >= n) return;
    int old = *head, assumed;
    do {
        assumed = old;
        next[i] = assumed;
        old = atomicCAS(head, assumed, i + 1);
    } while (old != assumed);
    if (Walk) out[i] = next[*head - 1];  // RACE pushed_and_walked
}
__global__ void pushed(int* head, int* next, int n, int* out) { push<false>(head, next, n, out); }
__global__ void pushed_and_walked(int* head, int* next, int n, int* out) { push<true>(head, next, n, out); }
__global__ void walk(const int* head, const int* next, int* length) {
    int count = 0;
    for (int at = *head; at; at = next[at - 1]) ++count;
    *length = count;
}
struct Node {
    int value;
    Node* next;
};
template <bool Others>
__device__ void link(Node** head, Node* nodes, int n, int* out) {
    const int i = ID;
    if (i >= n) return;
    if (Others && i % 2) {
        out[i] = *head == nullptr;  // RACE list_tested_for_empty
        return;
    }
    Node *old = *head, *assumed;
    do {
        assumed = old;
        nodes[i].value = i;
        nodes[i].next = assumed;
        old = (Node*)atomicCAS((Word*)head, (Word)assumed, (Word)(nodes + i));
    } while (old != assumed);
}
__global__ void linked(Node** head, Node* nodes, int n, int* out) { link<false>(head, nodes, n, out); }
__global__ void list_tested_for_empty(Node** head, Node* nodes, int n, int* out) {
    link<true>(head, nodes, n, out);
}
template <class Parent>
__device__ int root_of(Parent* parent, int x) {
    int up = parent[x];  // RACE roots_found_plainly
    while (up != x) {
        x = up;
        up = parent[x];  // RACE roots_found_plainly
    }
    return x;
}
template <class Parent>
__device__ void unite(int* parent, int n) {  // i with i + 1
    for (int a = ID, b = a + 1; b < n;) {
        a = root_of((Parent*)parent, a);
        b = root_of((Parent*)parent, b);
        if (a == b) return;
        const int low = min(a, b), high = max(a, b);
        if (atomicCAS(parent + high, high, low) == high) return;
    }
}
__global__ void roots_hooked(int* parent, int n) { unite<volatile int>(parent, n); }
__global__ void roots_found_plainly(int* parent, int n) { unite<int>(parent, n); }

// ---- an update of another word between the read and the CAS ---------------

__global__ void counted_if_unset(int* word, int* count, int n) {
    const int i = ID;
    if (i >= n) return;
    if (i % 2 == 0) {
        if (*word == 0) atomicAdd(count, 1);  // RACE counted_if_unset
    } else {
        atomicCAS(word, 0, i);
    }
}
__global__ void attempts_counted(int* word, int* attempts, int n) {
    if (ID >= n) return;
    int assumed;
    do {
        assumed = *word;
        atomicAdd(attempts, 1);
    } while (atomicCAS(word, assumed, assumed + 1) != assumed);
}
__global__ void one_looked_at_then_another(int* words, int n) {  // whoever finds one taken tries the next
    if (ID >= n) return;
    for (int k = 0; k < n; ++k)
        if (words[k] == 0 && atomicCAS(words + k, 0, ID + 1) == 0) return;
}

// ---- counters and guards ---------------

template <bool Others>
__device__ void count_to(int* count, int limit, int n, int* out) {  // a full counter is also compared
    const int i = ID;
    if (i >= n) return;
    if (Others && i % 2) {
        out[n + i] = *count < limit ? 1 : 2;  // RACE full_tested_by_others
        return;
    }
    int old = *count, assumed;
    do {
        assumed = old;
        old = atomicCAS(count, assumed, min(assumed + 1, limit));
    } while (old != assumed);
    if (assumed < limit) out[assumed] = i;
}
__global__ void bounded_count(int* count, int limit, int n, int* out) { count_to<false>(count, limit, n, out); }
__global__ void full_tested_by_others(int* count, int limit, int n, int* out) {
    count_to<true>(count, limit, n, out);
}
__global__ void guard_that_all_pass(int* p, int n, int limit) {
    if (ID >= n) return;
    int old = *p, assumed;
    if (old < limit) do {
            assumed = old;
            old = atomicCAS(p, assumed, assumed + 2);
        } while (old != assumed);
}
__global__ void guard_that_some_fail(int* p, int n) {
    const int i = ID;
    if (i >= n) return;
    int old = *p;
    while (old < i) {
        const int assumed = old;
        old = atomicCAS(p, assumed, i);
        if (old == assumed) return;
    }
}
__global__ void full_is_left(int* count, int limit, int n, int* out) {
    const int i = ID;
    if (i >= n) return;
    for (int old = *count; old < limit;) {
        const int assumed = old;
        old = atomicCAS(count, assumed, assumed + 1);
        if (old != assumed) continue;
        out[old] = i;
        return;
    }
}
__global__ void backs_off(int* p, int n) {
    const int i = ID;
    if (i >= n) return;
    int old = *p;
    for (unsigned pause = 8;; pause = min(2 * pause, 256u)) {
        const int assumed = old;
        old = atomicCAS(p, assumed, assumed + i);
        if (old == assumed) return;
        __nanosleep(pause);
    }
}
__global__ void ticket_by_helper(int* count, int n, int* out) {
    if (ID < n) out[add_by_cas(count, 1)] = ID;
}
__global__ void read_anew_each_turn(int* p, int n) {
    if (ID >= n) return;
    int assumed;
    do assumed = *p;
    while (atomicCAS(p, assumed, assumed + 1) != assumed);
}
__global__ void read_anew_as_volatile(int* p, int n) {
    const int i = ID;
    for (int assumed; i < n;) {
        assumed = *(volatile int*)p;
        if (atomicCAS(p, assumed, assumed + i + 1) == assumed) break;
    }
}
__global__ void guessed_first(int* p, int n) {
    if (ID >= n) return;
    int old = 0, assumed;
    do {
        assumed = old;
        old = atomicCAS(p, assumed, assumed + 1);
    } while (old != assumed);
}

// ---- scopes, barriers and CAS of another kind ---------------

__device__ void add_in_block(int* p) {
    int old = *p, assumed;  // RACE block_scope_of_two_blocks
    do {
        assumed = old;
        old = atomicCAS_block(p, assumed, assumed + 1);  // RACE block_scope_of_two_blocks
    } while (old != assumed);
}
__global__ void block_scope_in_one_block(int* p) { add_in_block(p); }
__global__ void block_scope_a_word_each(int* p) { add_in_block(p + blockIdx.x); }
__global__ void block_scope_of_two_blocks(int* p) { add_in_block(p); }
template <bool Wait>
__device__ void sum_in_shared(int* out) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    add_by_cas(&sum, int(threadIdx.x) + 1);
    if (Wait) __syncthreads();
    out[threadIdx.x] = sum;  // RACE shared_sum_read_early
}
__global__ void shared_sum(int* out) { sum_in_shared<true>(out); }
__global__ void shared_sum_read_early(int* out) { sum_in_shared<false>(out); }
__global__ void compares_a_constant(int* p, int n, int* out) {  // not what it has read
    const int i = ID;
    if (i >= n) return;
    if (i % 2) {
        const int seen = *p;  // RACE compares_a_constant
        atomicCAS(p, -1, 7);
        out[i] = seen;
    } else {
        add_by_cas(p, 1);
    }
}
__global__ void compares_another_word(int* p, int n, int* out) {
    const int i = ID;
    if (i >= n) return;
    if (i % 2) {
        const int seen = p[1];  // RACE compares_another_word
        out[i] = atomicCAS(p, seen, seen + 1);
    } else {
        add_by_cas(p + 1, 1);
    }
}
__global__ void looks_then_adds(int* p, int n, int* out) {  // after the addition no CAS compares the first value
    const int i = ID;
    if (i >= n) return;
    const int seen = *p;  // RACE looks_then_adds
    int old = atomicAdd(p, 1) + 1, assumed;
    do {
        assumed = old;
        old = atomicCAS(p, assumed, assumed + 1);
    } while (old != assumed);
    out[i] = seen;
}
__global__ void reset_beside_cas(int* p) {
    if (threadIdx.x == 0)
        *p = 1000;  // RACE reset_beside_cas
    else
        add_by_cas(p, 1);
}

int main(int argc, char** argv) {
#define Z zeros<int>
#define RUN(label, blocks, threads, name, ...)      \
    {                                               \
        label, #name, [](int n) {                   \
            name<<<blocks, threads>>>(__VA_ARGS__); \
            (void)n;                                \
        }                                           \
    }
    const Case cases[] = {
        RUN("right", 1, 64, all_compare, Z(1)),
        RUN("race", 1, 64, others_store, Z(1), Z(64)),
        RUN("race", 1, 64, others_branch, Z(1), Z(64)),
        RUN("race", 1, 64, others_index, Z(1), Z(n), n, Z(64)),
        RUN("race", 1, 64, others_ask_a_helper, Z(1), Z(64)),
        RUN("right", 1, 64, warp_takes_places, Z(1), Z(64)),
        RUN("race", 1, 64, lanes_use_their_look, Z(1), Z(64)),
        RUN("right", B(n), 64, float_sum, zeros<float>(1), n, zeros<float>(n)),
        RUN("race", B(n), 64, float_sum_looked_at, zeros<float>(1), n, zeros<float>(n)),
        RUN("right", B(n), 64, float_most, zeros<float>(1), n),
        RUN("right", B(n), 64, float_least, zeros<float>(1), n),
        RUN("race", B(n), 64, most_looked_at, zeros<float>(1), n, zeros<float>(n)),
        RUN("race", 2, 64, one_raises_others_copy, zeros<float>(1), zeros<float>(128)),
        RUN("right", B(n), 64, ring_raised, zeros<float>(n), n, Z(n)),
        RUN("race", B(n), 64, ring_read_early, zeros<float>(n), n, Z(n)),
        RUN("right", B(n), 64, double_sum, zeros<double>(1), n, Z(n)),
        RUN("race", B(n), 64, double_sum_polled, zeros<double>(1), n, Z(n)),
        RUN("right", B(n), 64, bytes_replaced, zeros<unsigned char>(n + 3), n, zeros<unsigned>(n)),
        RUN("race", B(n), 64, word_of_bytes_copied, zeros<unsigned char>(n + 3), n, zeros<unsigned>(n)),
        RUN("right", B(n), 64, halves_raised, zeros<Halves>(1), Z(n), n, Z(n)),
        RUN("race", B(n), 64, half_used_as_index, zeros<Halves>(1), Z(n), n, Z(n)),
        RUN("right", B(n), 64, shorts_by_cas, zeros<unsigned short>(2), n),
        RUN("right", B(n), 64, best_in_one_word, zeros<Best>(1), Z(n), n, Z(n)),
        RUN("race", B(n), 64, best_index_used, zeros<Best>(1), Z(n), n, Z(n)),
        RUN("right", B(n), 64, two_words_in_turn, Z(2), n, Z(n)),
        RUN("race", B(n), 64, second_word_only_read, Z(2), n, Z(n)),
        {"right", "pushed",
         [](int n) {
             int *head = Z(1), *next = Z(n);
             pushed<<<B(n), 64>>>(head, next, n, Z(n));
             walk<<<1, 1>>>(head, next, Z(1));
         }},
        RUN("race", B(n), 64, pushed_and_walked, Z(1), Z(n), n, Z(n)),
        RUN("right", B(n), 64, linked, zeros<Node*>(1), zeros<Node>(n), n, Z(n)),
        RUN("race", B(n), 64, list_tested_for_empty, zeros<Node*>(1), zeros<Node>(n), n, Z(n)),
        RUN("right", B(n), 64, roots_hooked, iota(n), n),
        RUN("race", B(n), 64, roots_found_plainly, iota(n), n),
        RUN("race", B(n), 64, counted_if_unset, Z(1), Z(1), n),
        RUN("right", B(n), 64, attempts_counted, Z(1), Z(1), n),
        RUN("right", B(n), 64, one_looked_at_then_another, Z(n), n),
        RUN("right", B(n), 64, bounded_count, Z(1), n / 2, n, Z(2 * n)),
        RUN("race", B(n), 64, full_tested_by_others, Z(1), n / 2, n, Z(2 * n)),
        RUN("right", B(n), 64, guard_that_all_pass, Z(1), n, 1 << 20),
        RUN("note", B(n), 64, guard_that_some_fail, Z(1), n),
        RUN("note", B(n), 64, full_is_left, Z(1), n / 2, n, Z(n)),
        RUN("right", B(n), 64, backs_off, Z(1), n),
        RUN("right", B(n), 64, ticket_by_helper, Z(1), n, Z(n)),
        RUN("right", B(n), 64, read_anew_each_turn, Z(1), n),
        RUN("right", B(n), 64, read_anew_as_volatile, Z(1), n),
        RUN("right", B(n), 64, guessed_first, Z(1), n),
        RUN("right", 1, 64, block_scope_in_one_block, Z(1)),
        RUN("right", 2, 64, block_scope_a_word_each, Z(2)),
        RUN("race", 2, 64, block_scope_of_two_blocks, Z(1)),
        RUN("right", 1, 64, shared_sum, Z(64)),
        RUN("race", 1, 64, shared_sum_read_early, Z(64)),
        RUN("race", B(n), 64, compares_a_constant, Z(1), n, Z(n)),
        RUN("race", B(n), 64, compares_another_word, Z(2), n, Z(n)),
        RUN("race", B(n), 64, looks_then_adds, Z(1), n, Z(n)),
        RUN("race", 1, 64, reset_beside_cas, Z(1)),
    };
    return choose(cases, argc, argv);
}
