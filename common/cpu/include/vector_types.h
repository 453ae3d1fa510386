// vector_types.h - CUDA's short vectors (int2, float4, ...), dim3, and their make_ functions.
#pragma once

// clang-format off
#define CUDACPU_VECTOR(name, T) \
    struct name##1 { T x; }; \
    struct alignas(2 * sizeof(T)) name##2 { T x, y; }; \
    struct name##3 { T x, y, z; }; \
    struct alignas(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) name##4 { T x, y, z, w; }; \
    constexpr name##1 make_##name##1(T x) { return {x}; } \
    constexpr name##2 make_##name##2(T x, T y) { return {x, y}; } \
    constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
    constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
CUDACPU_VECTOR(char, signed char)    CUDACPU_VECTOR(uchar, unsigned char)
CUDACPU_VECTOR(short, short)         CUDACPU_VECTOR(ushort, unsigned short)
CUDACPU_VECTOR(int, int)             CUDACPU_VECTOR(uint, unsigned)
CUDACPU_VECTOR(long, long)           CUDACPU_VECTOR(ulong, unsigned long)
CUDACPU_VECTOR(longlong, long long)  CUDACPU_VECTOR(ulonglong, unsigned long long)
CUDACPU_VECTOR(float, float)         CUDACPU_VECTOR(double, double)

#define CUDACPU_ALIGNED(name, T, bytes) \
    struct alignas(bytes) name##4_##bytes##a { T x, y, z, w; }; \
    constexpr name##4_##bytes##a make_##name##4_##bytes##a(T x, T y, T z, T w) { return {x, y, z, w}; }
CUDACPU_ALIGNED(long, long, 16)               CUDACPU_ALIGNED(long, long, 32)
CUDACPU_ALIGNED(ulong, unsigned long, 16)     CUDACPU_ALIGNED(ulong, unsigned long, 32)
CUDACPU_ALIGNED(longlong, long long, 16)      CUDACPU_ALIGNED(longlong, long long, 32)
CUDACPU_ALIGNED(ulonglong, unsigned long long, 16) CUDACPU_ALIGNED(ulonglong, unsigned long long, 32)
CUDACPU_ALIGNED(double, double, 16)           CUDACPU_ALIGNED(double, double, 32)

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};
// clang-format on
