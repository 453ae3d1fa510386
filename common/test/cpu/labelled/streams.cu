// streams.cu - labelled programs: several streams, copies, and what the host does meanwhile.
// RUN: hazards --each 5
// RUN: slow hazards LAB_ORDER={forward,reverse,1,2} --each {5,33,200}
#include "labelled.cuh"

__global__ void produce(int* a) { a[threadIdx.x] = int(threadIdx.x); }
__global__ void consume(const int* a, int* b) { b[threadIdx.x] = a[threadIdx.x]; }

cudaStream_t stream() {
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    return s;
}
int* pinned(int n) {
    int* p = nullptr;
    if (cudaMallocHost((void**)&p, n * sizeof(int)) != cudaSuccess) exit(4);
    for (int i = 0; i < n; ++i) p[i] = i;
    return p;
}
struct Two {
    int *a = zeros<int>(64), *b = zeros<int>(64);
    cudaStream_t s = stream(), t = stream();
    Two() { cudaDeviceSynchronize(); }
};

void two_streams(int) {
    const Two x;
    produce<<<1, 64, 0, x.s>>>(x.a);       // HOST two_streams
    consume<<<1, 64, 0, x.t>>>(x.a, x.b);  // HOST two_streams
}
void two_streams_event(int) {
    const Two x;
    cudaEvent_t done;
    cudaEventCreate(&done);
    produce<<<1, 64, 0, x.s>>>(x.a);
    cudaEventRecord(done, x.s);
    cudaStreamWaitEvent(x.t, done, 0);
    consume<<<1, 64, 0, x.t>>>(x.a, x.b);
}
void two_streams_event_too_early(int) {
    const Two x;
    cudaEvent_t done;
    cudaEventCreate(&done);
    cudaEventRecord(done, x.s);
    produce<<<1, 64, 0, x.s>>>(x.a);  // HOST two_streams_event_too_early
    cudaStreamWaitEvent(x.t, done, 0);
    consume<<<1, 64, 0, x.t>>>(x.a, x.b);  // HOST two_streams_event_too_early
}
void two_streams_wait(int) {
    const Two x;
    produce<<<1, 64, 0, x.s>>>(x.a);
    cudaStreamSynchronize(x.s);
    consume<<<1, 64, 0, x.t>>>(x.a, x.b);
}
__global__ void count(int* a) { atomicAdd(a, int(threadIdx.x)); }
void two_streams_count(int) {
    const Two x;
    count<<<1, 64, 0, x.s>>>(x.a);
    count<<<1, 64, 0, x.t>>>(x.a);
}
void two_streams_write_and_count(int) {
    const Two x;
    produce<<<1, 64, 0, x.s>>>(x.a);  // HOST two_streams_write_and_count
    count<<<1, 64, 0, x.t>>>(x.a);    // HOST two_streams_write_and_count
}
void two_streams_apart(int) {
    const Two x;
    produce<<<1, 64, 0, x.s>>>(x.a);
    produce<<<1, 64, 0, x.t>>>(x.b);
}
void two_streams_two_readers(int) {
    const Two x;
    int* const other = zeros<int>(64);
    cudaDeviceSynchronize();
    consume<<<1, 64, 0, x.s>>>(x.a, x.b);
    consume<<<1, 64, 0, x.t>>>(x.a, other);
}
void blocking_streams(int) {  // the default stream waits for them, and they for it
    int *a = zeros<int>(64), *b = zeros<int>(64);
    cudaStream_t s;
    cudaStreamCreate(&s);
    produce<<<1, 64, 0, s>>>(a);
    consume<<<1, 64>>>(a, b);
    produce<<<1, 64, 0, s>>>(a);
}
void kernel_and_copy(int) {
    const Two x;
    int* const host = pinned(64);
    produce<<<1, 64, 0, x.s>>>(x.a);                                            // HOST kernel_and_copy
    cudaMemcpyAsync(host, x.a, 64 * sizeof(int), cudaMemcpyDeviceToHost, x.t);  // HOST kernel_and_copy
}
void copy_and_kernel(int) {
    const Two x;
    int* const host = pinned(64);
    cudaMemcpyAsync(x.a, host, 64 * sizeof(int), cudaMemcpyHostToDevice, x.s);  // HOST copy_and_kernel
    consume<<<1, 64, 0, x.t>>>(x.a, x.b);                                       // HOST copy_and_kernel
}
void kernel_and_copy_in_order(int) {
    const Two x;
    int* const host = pinned(64);
    cudaMemcpyAsync(x.a, host, 64 * sizeof(int), cudaMemcpyHostToDevice, x.s);
    consume<<<1, 64, 0, x.s>>>(x.a, x.b);
    cudaMemcpyAsync(host, x.b, 64 * sizeof(int), cudaMemcpyDeviceToHost, x.s);
}
void memset_and_kernel(int) {
    const Two x;
    cudaMemsetAsync(x.a, 0, 64 * sizeof(int), x.s);  // HOST memset_and_kernel
    produce<<<1, 64, 0, x.t>>>(x.a);                 // HOST memset_and_kernel
}
int* pooled(const Two& x) {  // filled in x.s
    int* p = nullptr;
    if (cudaMallocAsync((void**)&p, 64 * sizeof(int), x.s) != cudaSuccess) exit(4);
    consume<<<1, 64, 0, x.s>>>(x.a, p);
    cudaStreamSynchronize(x.s);
    return p;
}
void freed_beside(int) {
    const Two x;
    int* const p = pooled(x);
    consume<<<1, 64, 0, x.t>>>(p, x.b);  // HOST freed_beside
    cudaFreeAsync(p, x.s);               // HOST freed_beside
}
void freed_after_event_too_early(int) {
    const Two x;
    int* const p = pooled(x);
    cudaEvent_t used;
    cudaEventCreate(&used);
    cudaEventRecord(used, x.t);
    consume<<<1, 64, 0, x.t>>>(p, x.b);  // HOST freed_after_event_too_early
    cudaStreamWaitEvent(x.s, used, 0);
    cudaFreeAsync(p, x.s);  // HOST freed_after_event_too_early
}
void freed_while_copied(int) {
    const Two x;
    int *const p = pooled(x), *const host = pinned(64);
    cudaMemcpyAsync(host, p, 64 * sizeof(int), cudaMemcpyDeviceToHost, x.t);  // HOST freed_while_copied
    cudaFreeAsync(p, x.s);                                                    // HOST freed_while_copied
}
void freed_after_event(int) {
    const Two x;
    int* const p = pooled(x);
    cudaEvent_t used;
    cudaEventCreate(&used);
    consume<<<1, 64, 0, x.t>>>(p, x.b);
    cudaEventRecord(used, x.t);
    cudaStreamWaitEvent(x.s, used, 0);
    cudaFreeAsync(p, x.s);
}
void freed_in_same_stream(int) {
    const Two x;
    int* const p = pooled(x);
    consume<<<1, 64, 0, x.t>>>(p, x.b);
    produce<<<1, 64, 0, x.s>>>(x.a);
    cudaFreeAsync(p, x.t);
}
void freed_after_wait(int) {
    const Two x;
    int* const p = pooled(x);
    consume<<<1, 64, 0, x.t>>>(p, x.b);
    produce<<<1, 64, 0, x.s>>>(x.a);
    cudaStreamSynchronize(x.t);
    cudaFreeAsync(p, x.s);
}
void freed_by_cudaFree(int) {  // which waits for all streams
    const Two x;
    int* const p = pooled(x);
    consume<<<1, 64, 0, x.t>>>(p, x.b);
    produce<<<1, 64, 0, x.s>>>(x.a);
    cudaFree(p);
}
void source_changed(int) {
    const Two x;
    int* const host = pinned(64);
    cudaMemcpyAsync(x.a, host, 64 * sizeof(int), cudaMemcpyHostToDevice, x.s);  // HOST gcc source_changed
    host[5] = 77;                                                               // HOST gcc source_changed
}
void source_changed_after_wait(int) {
    const Two x;
    int* const host = pinned(64);
    cudaMemcpyAsync(x.a, host, 64 * sizeof(int), cudaMemcpyHostToDevice, x.s);
    cudaStreamSynchronize(x.s);
    host[5] = 77;
}
void ordinary_source_changed(int) {  // it was taken before the call returned
    const Two x;
    int host[64] = {};
    cudaMemcpyAsync(x.a, host, sizeof host, cudaMemcpyHostToDevice, x.s);
    host[5] = 77;
}
void halves(int) {  // two streams, each with a half of its own
    const Two x;
    int* const host = pinned(64);
    cudaStream_t s[] = {x.s, x.t};
    for (int i = 0; i < 2; ++i) {
        cudaMemcpyAsync(x.a + 32 * i, host + 32 * i, 32 * sizeof(int), cudaMemcpyHostToDevice, s[i]);
        consume<<<1, 32, 0, s[i]>>>(x.a + 32 * i, x.b + 32 * i);
        cudaMemcpyAsync(host + 32 * i, x.b + 32 * i, 32 * sizeof(int), cudaMemcpyDeviceToHost, s[i]);
    }
}
void managed_between(int) {
    int* p = nullptr;
    if (cudaMallocManaged((void**)&p, 64 * sizeof(int)) != cudaSuccess) exit(4);
    p[3] = 1;
    produce<<<1, 64>>>(p);
    cudaDeviceSynchronize();
    p[3] += 1;
    produce<<<1, 64>>>(p);
}

__constant__ int weights[64];
__global__ void weigh(const int* a, int* b) {
    b[threadIdx.x] = a[threadIdx.x] * weights[threadIdx.x];  // HOST constants_changed_beside
}
void constants_changed(cudaStream_t Two::*copies) {
    const Two x;
    int* next = pinned(64);
    weigh<<<1, 64, 0, x.s>>>(x.a, x.b);  // HOST constants_changed_beside
    cudaMemcpyToSymbolAsync(weights, next, sizeof weights, 0, cudaMemcpyHostToDevice, x.*copies);
}
void constants_changed_beside(int) { constants_changed(&Two::t); }
void constants_changed_behind(int) { constants_changed(&Two::s); }

void never_written_copied(int n) {
    int *a = nullptr, *host = new int[n];
    cudaMalloc((void**)&a, n * sizeof(int));
    cudaMemcpy(host, a, n * sizeof(int), cudaMemcpyDeviceToHost);  // HOST never_written_copied
    delete[] host;
}
__global__ void short_rows(int* a) { a[blockIdx.x * 32 + threadIdx.x] = int(threadIdx.x); }
void copied_with_padding(int n) {
    int *a = nullptr, *host = new int[32 * n];
    cudaMalloc((void**)&a, 32 * n * sizeof(int));
    short_rows<<<n, 30>>>(a);
    cudaMemcpy(host, a, 32 * n * sizeof(int), cudaMemcpyDeviceToHost);
    delete[] host;
}

// ---- what the host writes while a kernel or a copy has yet to read it ---------------

int* managed(int n) {
    int* p = nullptr;
    if (cudaMallocManaged((void**)&p, n * sizeof(int)) != cudaSuccess) exit(4);
    for (int i = 0; i < n; ++i) p[i] = i;
    return p;
}
void managed_changed(int) {
    int *a = managed(64), *b = managed(64);
    consume<<<1, 64>>>(a, b);  // HOST managed_changed
    a[5] = 77;                 // HOST managed_changed
}
void mapped_changed(int) {
    const Two x;
    int* const a = pinned(64);
    consume<<<1, 64, 0, x.s>>>(a, x.b);  // HOST mapped_changed
    a[0] = 77;                           // HOST mapped_changed
}
void other_half_changed(int) {
    int *a = managed(128), *b = managed(64);
    consume<<<1, 64>>>(a, b);
    for (int i = 64; i < 128; ++i) a[i] = 77;
}
void next_round_too_early(int n) {
    int *a = managed(64), *b = managed(64);
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 64; ++i) a[i] = k * n + i;  // HOST next_round_too_early
        consume<<<1, 64>>>(a, b);                       // HOST next_round_too_early
    }
}
void event_before_the_change(bool behind) {
    const Two x;
    int* const a = pinned(64);
    cudaEvent_t read;
    cudaEventCreate(&read);
    if (!behind) cudaEventRecord(read, x.s);
    consume<<<1, 64, 0, x.s>>>(a, x.b);  // HOST changed_behind_another_event
    if (behind) cudaEventRecord(read, x.s);
    consume<<<1, 64, 0, x.s>>>(x.b, x.a);
    cudaEventSynchronize(read);
    for (int i = 0; i < 64; ++i) a[i] = 77;  // HOST changed_behind_another_event
}
void changed_behind_its_event(int) { event_before_the_change(true); }
void changed_behind_another_event(int) { event_before_the_change(false); }
void managed_source_changed(int) {
    const Two x;
    int* const a = managed(64);
    cudaMemcpyAsync(x.a, a, 64 * sizeof(int), cudaMemcpyHostToDevice, x.s);  // HOST managed_source_changed
    a[5] = 77;
}
__managed__ int scale = 1;
__global__ void scaled(int* a) { a[threadIdx.x] *= scale; }  // HOST variable_changed
void variable_changed(int n) {
    scaled<<<1, 64>>>(zeros<int>(64));  // HOST variable_changed
    scale = n + 5;                      // HOST variable_changed
}
__global__ void when_told(int* told, const int* a, int* b) {
    if (threadIdx.x) return;
    for (int i = 0; i < patience && !atomicAdd_system(told, 0); ++i) {}
    __threadfence_system();
    for (int i = 0; i < 64; ++i) b[i] = a[i];
}
__global__ void when_told_by_volatile(volatile int* told, const int* a, int* b) {
    if (threadIdx.x || !wait_for(told, 1)) return;
    __threadfence_system();
    for (int i = 0; i < 64; ++i) b[i] = a[i];
}
void tell(bool by_volatile) {  // the flag lies behind the data, in one page
    int *a = pinned(65), *b = zeros<int>(64);
    a[64] = 0;
    cudaDeviceSynchronize();
    if (by_volatile)
        when_told_by_volatile<<<1, 32>>>(a + 64, a, b);
    else
        when_told<<<1, 32>>>(a + 64, a, b);
    for (int i = 0; i < 64; ++i) a[i] = 7 * i + 1;
    *(volatile int*)(a + 64) = 1;
}
void told_by_atomic(int) { tell(false); }
void told_by_volatile(int) { tell(true); }
void fill(void* a) {
    for (int i = 0; i < 64; ++i) ((int*)a)[i] = 5 * i + 2;
}
void filled_by_callback(int) {
    const Two x;
    int* const a = pinned(64);
    cudaLaunchHostFunc(x.s, fill, a);
    consume<<<1, 64, 0, x.s>>>(a, x.b);
}
__global__ void add(int* a) { a[threadIdx.x] += 2; }
void fan_in(bool waits) {
    const Two x;
    int* const c = zeros<int>(64);
    cudaEvent_t made, read;
    cudaEventCreate(&made);
    cudaEventCreate(&read);
    cudaDeviceSynchronize();
    produce<<<1, 64, 0, x.s>>>(x.a);
    cudaEventRecord(made, x.s);
    cudaStreamWaitEvent(x.t, made, 0);
    consume<<<1, 64, 0, x.s>>>(x.a, x.b);
    consume<<<1, 64, 0, x.t>>>(x.a, c);  // HOST fan_in_forgotten
    cudaEventRecord(read, x.t);
    if (waits) cudaStreamWaitEvent(x.s, read, 0);
    add<<<1, 64, 0, x.s>>>(x.a);  // HOST fan_in_forgotten
}
void fan_in_right(int) { fan_in(true); }
void fan_in_forgotten(int) { fan_in(false); }
void parts_of_a_word(int n) {  // two copies, of which one ends within the word in which the other begins
    const Two x;
    const int half = n % 64 | 1;
    char* const p = (char*)pinned(64);
    cudaMemcpyAsync(p, x.a, half, cudaMemcpyDeviceToHost, x.s);
    cudaMemcpyAsync(p + half, x.b, 64, cudaMemcpyDeviceToHost, x.t);
}
void a_shared_byte(int n) {
    const Two x;
    const int half = n % 64 | 1;
    char* const p = (char*)pinned(64);
    cudaMemcpyAsync(p, x.a, half + 1, cudaMemcpyDeviceToHost, x.s);   // HOST a_shared_byte
    cudaMemcpyAsync(p + half, x.b, 64, cudaMemcpyDeviceToHost, x.t);  // HOST a_shared_byte
}

int main(int argc, char** argv) {
    const Case cases[] = {
        {"host", "two_streams", two_streams},
        {"right", "two_streams_event", two_streams_event},
        {"host", "two_streams_event_too_early", two_streams_event_too_early},
        {"right", "two_streams_wait", two_streams_wait},
        {"right", "two_streams_count", two_streams_count},
        {"host", "two_streams_write_and_count", two_streams_write_and_count},
        {"right", "two_streams_apart", two_streams_apart},
        {"right", "two_streams_two_readers", two_streams_two_readers},
        {"right", "blocking_streams", blocking_streams},
        {"host", "kernel_and_copy", kernel_and_copy},
        {"host", "copy_and_kernel", copy_and_kernel},
        {"host", "freed_beside", freed_beside},
        {"host", "freed_after_event_too_early", freed_after_event_too_early},
        {"host", "freed_while_copied", freed_while_copied},
        {"right", "freed_after_event", freed_after_event},
        {"right", "freed_in_same_stream", freed_in_same_stream},
        {"right", "freed_after_wait", freed_after_wait},
        {"right", "freed_by_cudaFree", freed_by_cudaFree},
        {"right", "kernel_and_copy_in_order", kernel_and_copy_in_order},
        {"host", "memset_and_kernel", memset_and_kernel},
        {"host", "source_changed", source_changed},
        {"right", "source_changed_after_wait", source_changed_after_wait},
        {"right", "ordinary_source_changed", ordinary_source_changed},
        {"right", "halves", halves},
        {"right", "managed_between", managed_between},
        {"host", "constants_changed_beside", constants_changed_beside},
        {"right", "constants_changed_behind", constants_changed_behind},
        {"host", "never_written_copied", never_written_copied},
        {"right", "copied_with_padding", copied_with_padding},
        {"host", "managed_changed", managed_changed},
        {"host", "mapped_changed", mapped_changed},
        {"right", "other_half_changed", other_half_changed},
        {"host", "next_round_too_early", next_round_too_early},
        {"right", "changed_behind_its_event", changed_behind_its_event},
        {"host", "changed_behind_another_event", changed_behind_another_event},
        {"host", "managed_source_changed", managed_source_changed},
        {"host", "variable_changed", variable_changed},
        {"right", "told_by_atomic", told_by_atomic},
        {"right", "told_by_volatile", told_by_volatile},
        {"right", "filled_by_callback", filled_by_callback},
        {"right", "fan_in_right", fan_in_right},
        {"host", "fan_in_forgotten", fan_in_forgotten},
        {"right", "parts_of_a_word", parts_of_a_word},
        {"host", "a_shared_byte", a_shared_byte},
    };
    return choose(cases, argc, argv);
}
