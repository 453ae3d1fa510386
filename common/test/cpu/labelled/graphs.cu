// graphs.cu - labelled kernels: what programs do with graphs, on as few as five vertices. The edges of vertex v are
// edges[first[v]] to edges[first[v + 1]].
// RUN: hazards --each 5
// RUN: slow hazards LAB_ORDER={forward,reverse,1,2} --each {5,33,200}
#include "labelled.cuh"

struct Graph {
    int n;
    const int *first, *edges, *weight;  // the weight of a vertex
};

// Neighbours at distance 1, 2 and n / 2 in a ring; the last vertices have fewer.
Graph make_graph(int n, int width = 3) {
    int *first = (int*)malloc((n + 1) * sizeof(int)), *edges = (int*)malloc(width * n * sizeof(int) + 4),
        *weight = (int*)malloc(n * sizeof(int)), count = 0;
    for (int v = 0; v < n; ++v) {
        first[v] = count;
        weight[v] = 1 + v * 7 % 13;
        const int steps[] = {1, 2, n / 2};
        for (int i = 0; i < (v < n - 2 ? width : 1); ++i) edges[count++] = (v + steps[i % 3]) % n;
    }
    first[n] = count;
    int *d_first = zeros<int>(n + 1), *d_edges = zeros<int>(count), *d_weight = zeros<int>(n);
    cudaMemcpy(d_first, first, (n + 1) * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_edges, edges, count * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_weight, weight, n * sizeof(int), cudaMemcpyHostToDevice);
    free(first);
    free(edges);
    free(weight);
    return {n, d_first, d_edges, d_weight};
}

#define VERTEX const int v = int(blockIdx.x * blockDim.x + threadIdx.x)
#define EDGES(j) for (int j = g.first[v]; j < g.first[v + 1]; ++j)

__global__ void pull(Graph g, int* out) {
    VERTEX;
    if (v >= g.n) return;
    int sum = 0;
    EDGES(j) sum += g.weight[g.edges[j]];
    out[v] = sum;
}
__global__ void pull_in_place(Graph g, int* value) {
    VERTEX;
    if (v >= g.n) return;
    EDGES(j) value[v] += value[g.edges[j]] + 1;  // RACE pull_in_place
}
__global__ void push(Graph g, int* out) {
    VERTEX;
    if (v < g.n) EDGES(j) atomicAdd(out + g.edges[j], g.weight[v]);
}
__global__ void push_lost(Graph g, int* out) {
    VERTEX;
    if (v < g.n) EDGES(j) out[g.edges[j]] += g.weight[v];  // RACE push_lost
}
__global__ void push_same_value(Graph g, int* out, int same) {  // who reads, reads what will be written
    VERTEX;
    if (v < g.n) EDGES(j)
    if (out[g.edges[j]] == same)  // RACE push_same_value
        out[g.edges[j]] = same;   // RACE push_same_value
}
__global__ void push_most(Graph g, int* out) {
    VERTEX;
    if (v < g.n) EDGES(j) atomicMax(out + g.edges[j], g.weight[v]);
}
__global__ void push_most_guarded(Graph g, int* out) {  // the plain look before the atomic is a race
    VERTEX;
    if (v < g.n) EDGES(j)
    if (out[g.edges[j]] < g.weight[v])             // RACE push_most_guarded
        atomicMax(out + g.edges[j], g.weight[v]);  // RACE push_most_guarded
}
__global__ void push_most_plain(Graph g, int* out) {
    VERTEX;
    if (v < g.n) EDGES(j)
    if (out[g.edges[j]] < g.weight[v]) out[g.edges[j]] = g.weight[v];  // RACE push_most_plain
}
__global__ void push_most_by_cas(Graph g, float* out) {
    VERTEX;
    if (v < g.n) EDGES(j) max_by_cas(out + g.edges[j], float(g.weight[v]));
}
__global__ void push_most_by_cas_guarded(Graph g,
                                         float* out) {  // the guard's look is not the one the CAS is done on
    VERTEX;
    if (v < g.n) EDGES(j)
    if (out[g.edges[j]] < float(g.weight[v]))  // RACE push_most_by_cas_guarded
        max_by_cas(out + g.edges[j], float(g.weight[v]));
}
__global__ void push_mark(Graph g, int* out) {  // all write 1
    VERTEX;
    if (v < g.n) EDGES(j) out[g.edges[j]] = 1;  // EQUAL push_mark
}
__global__ void worklist(Graph g, int* list, int* size) {
    VERTEX;
    if (v < g.n && g.weight[v] > 1) list[atomicAdd(size, 1)] = v;
}
__global__ void worklist_lost(Graph g, int* list, int* size) {
    VERTEX;
    if (v < g.n && g.weight[v] > 1) {
        const int i = *size;  // RACE worklist_lost
        *size = i + 1;        // RACE worklist_lost
        list[i] = v;          // RACE worklist_lost
    }
}
__global__ void worklist_read_by_others(Graph g, int* list, int* size, int* out) {
    VERTEX;
    if (v >= g.n) return;
    list[atomicAdd(size, 1)] = v;                     // RACE worklist_read_by_others
    for (int i = 0; i < g.n; ++i) out[v] += list[i];  // RACE worklist_read_by_others
}
__global__ void conditional_vertex(Graph g, int* most) {
    VERTEX;
    if (v < g.n && g.first[v + 1] - g.first[v] > 1) atomicMax(most, g.weight[v]);
}
__global__ void conditional_vertex_plain(Graph g, int* most) {
    VERTEX;
    if (v < g.n && g.first[v + 1] - g.first[v] > 1 && *most < g.weight[v])  // RACE conditional_vertex_plain
        *most = g.weight[v];                                                // RACE conditional_vertex_plain
}
__global__ void conditional_edge(Graph g, int* count) {
    VERTEX;
    if (v < g.n) EDGES(j) if (g.edges[j] > v) atomicAdd(count, 1);
}
__global__ void conditional_edge_lost(Graph g, int* count) {
    VERTEX;
    if (v < g.n) EDGES(j) if (g.edges[j] > v)++* count;  // RACE conditional_edge_lost
}
__global__ void no_guard(Graph g, int* out) {
    VERTEX;
    int sum = 0;
    EDGES(j) sum += g.weight[g.edges[j]];  // BOUNDS no_guard
    out[v] = sum;                          // BOUNDS no_guard
}
__global__ void no_guard_and_lost(Graph g, int* count) {
    VERTEX;
    EDGES(j)++* count;              // RACE no_guard_and_lost
    if (g.weight[v] > 0) ++*count;  // RACE no_guard_and_lost
}
__global__ void one_edge_too_many(Graph g, int* out) {
    VERTEX;
    if (v >= g.n) return;
    int sum = 0;
    for (int j = g.first[v]; j <= g.first[v + 1]; ++j) sum += g.edges[j];  // BOUNDS one_edge_too_many
    out[v] = sum;
}
__global__ void warp_each(Graph g, int* out) {  // a warp a vertex
    const int v = int(blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (v >= g.n) return;
    int sum = 0;
    for (int j = g.first[v] + lane; j < g.first[v + 1]; j += 32) sum += g.weight[g.edges[j]];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (lane == 0) out[v] = sum;
}
__global__ void warp_each_all_lanes(Graph g, int* out) {
    const int v = int(blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (v >= g.n) return;
    int sum = 0;
    for (int j = g.first[v] + lane; j < g.first[v + 1]; j += 32) sum += g.weight[g.edges[j]];
    out[v] += sum;  // RACE warp_each_all_lanes
}
__global__ void block_carry(Graph g, int* most, bool wait) {  // the most of a block, by its warps
    __shared__ int carry[32];
    const int v = int(blockIdx.x * blockDim.x + threadIdx.x), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int x = v < g.n ? g.weight[v] : 0;
    for (int d = 16; d > 0; d /= 2) x = max(x, __shfl_down_sync(0xffffffff, x, d));
    if (lane == 0) carry[warp] = x;  // RACE block_carry_no_barrier
    if (wait) __syncthreads();
    if (warp == 0 && lane < int(blockDim.x) / 32) atomicMax(most, carry[lane]);  // RACE block_carry_no_barrier
}
__global__ void block_sums(Graph g, int* out, bool wait) {  // all read what one uses
    __shared__ int sums[64];
    const int t = int(threadIdx.x);
    for (int v = int(blockIdx.x); v < g.n; v += int(gridDim.x)) {
        int sum = 0;
        for (int j = g.first[v] + t; j < g.first[v + 1]; j += int(blockDim.x)) sum += g.weight[g.edges[j]];
        sums[t] = sum;  // RACE block_sums_no_barrier
        __syncthreads();
        for (int d = 32; d > 0; d /= 2) {
            if (t < d) sums[t] += sums[t + d];
            __syncthreads();
        }
        sum = sums[0];  // RACE block_sums_no_barrier
        if (t == 0) out[v] = sum;
        if (wait) __syncthreads();
    }
}
__global__ void relax(Graph g, int* distance, int* changed) {
    VERTEX;
    if (v < g.n) EDGES(j)
    if (atomicMin(distance + g.edges[j], distance[v] + 1) > distance[v] + 1)  // RACE relax
        *changed = 1;
}
__global__ void relax_by_atomics(Graph g, int* distance) {
    VERTEX;
    if (v >= g.n) return;
    const int mine = atomicAdd(distance + v, 0);
    EDGES(j) atomicMin(distance + g.edges[j], mine + 1);
}
__global__ void independent_set(Graph g, volatile int* state) {  // neighbours decide on what is not yet decided
    VERTEX;
    if (v >= g.n) return;
    int best = 1;
    EDGES(j) if (state[g.edges[j]] == 1) best = 0;  // RACE independent_set
    state[v] = best ? 1 : 2;                        // RACE independent_set
}
__global__ void grid_stride(Graph g, int* sum) {
    for (int v = int(threadIdx.x + blockIdx.x * blockDim.x); v < g.n; v += int(gridDim.x * blockDim.x))
        atomicAdd(sum, g.weight[v]);
}
__global__ void parents(Graph g, int* parent) {  // each edge may win, by one CAS
    VERTEX;
    if (v < g.n) EDGES(j) atomicCAS(parent + g.edges[j], 0, v + 1);
}
__global__ void parents_plain(Graph g, int* parent) {
    VERTEX;
    if (v < g.n) EDGES(j)
    if (parent[g.edges[j]] == 0) parent[g.edges[j]] = v + 1;  // RACE parents_plain
}

int main(int argc, char** argv) {
#define GRAPH(name, words) [](int n) { name<<<n / 32 + 1, 32>>>(make_graph(n), zeros<int>(words)); }
#define FLOATS(name) [](int n) { name<<<n / 32 + 1, 32>>>(make_graph(n), zeros<float>(n)); }
#define LIST(name) [](int n) { name<<<n / 32 + 1, 32>>>(make_graph(n), zeros<int>(n), zeros<int>(1)); }
    const Case cases[] = {
        {"right", "pull", GRAPH(pull, n)},
        {"race", "pull_in_place", GRAPH(pull_in_place, n)},
        {"right", "push", GRAPH(push, n)},
        {"race", "push_lost", GRAPH(push_lost, n)},
        {"race", "push_same_value",
         [](int n) { push_same_value<<<n / 32 + 1, 32>>>(make_graph(n), zeros<int>(n), 0); }},
        {"right", "push_most", GRAPH(push_most, n)},
        {"race", "push_most_guarded", GRAPH(push_most_guarded, n)},
        {"race", "push_most_plain", GRAPH(push_most_plain, n)},
        {"right", "push_most_by_cas", FLOATS(push_most_by_cas)},
        {"race", "push_most_by_cas_guarded", FLOATS(push_most_by_cas_guarded)},
        {"equal", "push_mark", GRAPH(push_mark, n)},
        {"right", "worklist", LIST(worklist)},
        {"race", "worklist_lost", LIST(worklist_lost)},
        {"race", "worklist_read_by_others",
         [](int n) {
             const Graph g = make_graph(n);
             worklist_read_by_others<<<n / 32 + 1, 32>>>(g, zeros<int>(n), zeros<int>(1), zeros<int>(n));
         }},
        {"right", "conditional_vertex", GRAPH(conditional_vertex, 1)},
        {"race", "conditional_vertex_plain", GRAPH(conditional_vertex_plain, 1)},
        {"right", "conditional_edge", GRAPH(conditional_edge, 1)},
        {"race", "conditional_edge_lost", GRAPH(conditional_edge_lost, 1)},
        {"bounds", "no_guard", GRAPH(no_guard, n)},
        {"race", "no_guard_and_lost", GRAPH(no_guard_and_lost, 1)},
        {"bounds", "one_edge_too_many", GRAPH(one_edge_too_many, n)},
        {"right", "warp_each", [](int n) { warp_each<<<n / 2 + 1, 64>>>(make_graph(n), zeros<int>(n)); }},
        {"race", "warp_each_all_lanes",
         [](int n) { warp_each_all_lanes<<<n / 2 + 1, 64>>>(make_graph(n), zeros<int>(n)); }},
        {"right", "block_carry",
         [](int n) { block_carry<<<n / 96 + 1, 96>>>(make_graph(n), zeros<int>(1), true); }},
        {"race", "block_carry_no_barrier",
         [](int n) { block_carry<<<n / 96 + 1, 96>>>(make_graph(n), zeros<int>(1), false); }},
        {"right", "block_sums", [](int n) { block_sums<<<2, 64>>>(make_graph(n), zeros<int>(n), true); }},
        {"race", "block_sums_no_barrier",
         [](int n) { block_sums<<<2, 64>>>(make_graph(n), zeros<int>(n), false); }},
        {"race", "relax", LIST(relax)},
        {"right", "relax_by_atomics", GRAPH(relax_by_atomics, n)},
        {"race", "independent_set", GRAPH(independent_set, n)},
        {"right", "grid_stride", [](int n) { grid_stride<<<2, 32>>>(make_graph(n), zeros<int>(1)); }},
        {"right", "parents", GRAPH(parents, n)},
        {"race", "parents_plain", GRAPH(parents_plain, n)},
    };
    return choose(cases, argc, argv);
}
