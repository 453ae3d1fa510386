// Textures over linear memory: tex1Dfetch() of each type, elements beyond the end, and what is reported.
#include <utility>

#include "case.cuh"

template <class T>
cudaError_t create(cudaTextureObject_t* t, void* p, size_t n, cudaTextureReadMode mode = cudaReadModeElementType) {
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = p;
    r.res.linear.desc = cudaCreateChannelDesc<T>();
    r.res.linear.sizeInBytes = n * sizeof(T);
    cudaTextureDesc d{};
    d.readMode = mode;
    return cudaCreateTextureObject(t, &r, &d, NULL);
}
template <class T>
cudaTextureObject_t texture_of(T* p, size_t n) {
    cudaTextureObject_t t = 0;
    if (create<T>(&t, p, n)) exit(97);
    return t;
}

// RUN: plain,hazards blur
// RUN: counters blur
// SAYS: global load {{ *}}96 {{ *}}31.2
__global__ void blur(cudaTextureObject_t t, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = (tex1Dfetch<float>(t, i - 1) + tex1Dfetch<float>(t, i) + tex1Dfetch<float>(t, i + 1)) / 3.0f;
}
CASE(blur) {
    const int n = 1000;
    float *in = managed<float>(n), *out = managed<float>(n);
    for (int i = 0; i < n; ++i) in[i] = float(i * i % 17);
    const cudaTextureObject_t t = texture_of(in, n);
    blur<<<8, 128>>>(t, out, n);
    if (result()) return 98;
    int wrong = 0;
    for (int i = 0; i < n; ++i)
        wrong += out[i] != ((i ? in[i - 1] : 0) + in[i] + (i < n - 1 ? in[i + 1] : 0)) / 3.0f;
    return wrong || cudaDestroyTextureObject(t) || !cudaDestroyTextureObject(t);
}

// RUN: plain,hazards gather
template <class T>
__global__ void gather(cudaTextureObject_t t, T* out, int n) {
    tex1Dfetch(out + threadIdx.x, t, threadIdx.x * 13 % n);
}
template <class T, class Make>
bool gathers(Make make) {
    const int n = 97;
    T *in = managed<T>(n), *out = managed<T>(n);
    for (int i = 0; i < n; ++i) in[i] = make(i);
    gather<<<1, n>>>(texture_of(in, n), out, n);
    if (result()) return false;
    for (int i = 0; i < n; ++i)
        if (memcmp(&out[i], &in[i * 13 % n], sizeof(T))) return false;
    return true;
}
CASE(gather) {
    const auto number = [](int i) { return i * 7 - 100; };
    return !(gathers<int>(number) && gathers<unsigned char>(number) && gathers<short>(number) &&
             gathers<float>(number) && gathers<uint2>([](int i) { return make_uint2(i, 5 * i); }) &&
             gathers<char4>([](int i) { return make_char4(i, -i, 2, 3); }) &&
             gathers<float4>([](int i) { return make_float4(i, -i, 2, 3); }));
}

// RUN: plain,hazards fractions
__global__ void fractions(cudaTextureObject_t bytes, cudaTextureObject_t pairs, float* a, float2* b) {
    const int i = threadIdx.x;
    a[i] = tex1Dfetch<float>(bytes, i);
    b[i] = tex1Dfetch<float2>(pairs, i);
}
CASE(fractions) {
    auto* p = managed<unsigned char>(256);
    auto* q = managed<short2>(256);
    auto* a = managed<float>(256);
    auto* b = managed<float2>(256);
    for (int i = 0; i < 256; ++i) p[i] = i, q[i] = {short(i * 256 - 32768), short(32767 - i)};
    cudaTextureObject_t bytes, pairs;
    if (create<uchar1>(&bytes, p, 256, cudaReadModeNormalizedFloat) ||
        create<short2>(&pairs, q, 256, cudaReadModeNormalizedFloat))
        return 97;
    fractions<<<1, 256>>>(bytes, pairs, a, b);
    if (result()) return 98;
    int wrong = 0;
    for (int i = 0; i < 256; ++i)
        wrong += a[i] != i / 255.0f || b[i].x != fmaxf((i * 256 - 32768) / 32767.0f, -1) ||
                 b[i].y != (32767 - i) / 32767.0f;
    return wrong;
}

// RUN: plain refusals
// SAYS: a texture of 404 bytes goes beyond its memory: byte 0 of the 400 bytes
// SAYS: sizeInBytes counts bytes
// SAYS: devPtr is 4 bytes after the start of its memory
// SAYS: begin at a multiple of 512 bytes (textureAlignment)
// SAYS: devPtr does not point to memory of the device
CASE(refusals) {
    int *p = device<int>(100), local[4];
    cudaTextureObject_t t;
    return !(create<int>(&t, p, 101) == cudaErrorInvalidValue &&
             create<int>(&t, p + 1, 10) == cudaErrorInvalidValue &&
             create<int>(&t, local, 4) == cudaErrorInvalidValue &&
             create<double>(&t, p, 10) == cudaErrorInvalidChannelDescriptor &&
             create<int3>(&t, p, 10) == cudaErrorInvalidChannelDescriptor &&
             create<int>(&t, p, 10, cudaReadModeNormalizedFloat) == cudaErrorInvalidNormSetting);
}

// RUN: hazards in_place
// STATUS: 1
// SAYS: hazard: race on element
// SAYS: textures.cu:@#in_place
__global__ void in_place(cudaTextureObject_t t, int* data, int n) {
    const int i = threadIdx.x;
    if (i < n - 1) data[i] = (tex1Dfetch<int>(t, i) + tex1Dfetch<int>(t, i + 1)) / 2;  // #in_place
}
CASE(in_place) {
    int* data = device<int>(128);
    return in_place<<<1, 128>>>(texture_of(data, 128), data, 128), result();
}

// RUN: hazards not_written
// STATUS: 1
// SAYS: textures.cu:@#look
__global__ void look(cudaTextureObject_t t, int* out) {
    out[threadIdx.x] = tex1Dfetch<int>(t, threadIdx.x);  // #look
}
CASE(not_written) {
    int* p;
    cudaMalloc(&p, 256);
    return look<<<1, 64>>>(texture_of(p, 64), device<int>(64)), result();
}

// RUN: plain,hazards freed
// STATUS: 200
// SAYS: illegal memory access
// SAYS: freed since
// SAYS: textures.cu:@#look
CASE(freed) {
    int* p = device<int>(64);
    const cudaTextureObject_t t = texture_of(p, 64);
    cudaFree(p);
    return look<<<1, 64>>>(t, device<int>(64)), result();
}

// RUN: plain destroyed
// STATUS: 200
// SAYS: texture object 1 was destroyed before the kernel read it
// SAYS: textures.cu:@#look
CASE(destroyed) {
    const cudaTextureObject_t t = texture_of(device<int>(64), 64);
    look<<<1, 64>>>(t, device<int>(64));
    cudaDestroyTextureObject(t);
    return result();
}

// RUN: plain wrong_type
// STATUS: 219
// SAYS: tex1Dfetch() reads 1 x 32 bits, signed, and the texture has 1 x 8 bits, unsigned
// SAYS: textures.cu:@#look
CASE(wrong_type) { return look<<<1, 64>>>(texture_of(device<unsigned char>(64), 64), device<int>(64)), result(); }
