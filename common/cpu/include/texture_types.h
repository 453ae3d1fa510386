// texture_types.h - textures over linear memory: what they describe and how a kernel reads them.
#pragma once
#if __cplusplus < 202002L
#pragma GCC system_header  // no warnings about newer C++
#endif
#include <cstddef>
#include <type_traits>

// clang-format off
enum cudaChannelFormatKind {
    cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat, cudaChannelFormatKindNone };
struct cudaChannelFormatDesc { int x, y, z, w; cudaChannelFormatKind f; };  // the bits of each component
enum cudaResourceType { cudaResourceTypeLinear = 2 };
struct cudaResourceDesc {
    cudaResourceType resType;
    struct { struct { void* devPtr; cudaChannelFormatDesc desc; size_t sizeInBytes; } linear; } res;
    unsigned flags; };
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
struct cudaTextureDesc {  // tex1Dfetch() uses only the read mode
    cudaTextureAddressMode addressMode[3]; cudaTextureFilterMode filterMode; cudaTextureReadMode readMode;
    int sRGB; float borderColor[4]; int normalizedCoords; unsigned maxAnisotropy; cudaTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp; int disableTrilinearOptimization, seamlessCubemap; };
// clang-format on
using cudaTextureObject_t = unsigned long long;

namespace cudacpu {

template <class T, class = void> struct Component { using Type = T; };
template <class T> struct Component<T, decltype(T::x, void())> { using Type = decltype(T::x); };

}  // namespace cudacpu

constexpr cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) {
    return {x, y, z, w, f};
}
template <class T> constexpr cudaChannelFormatDesc cudaCreateChannelDesc() {
    using C = typename cudacpu::Component<T>::Type;
    constexpr int bits = 8 * sizeof(C), n = sizeof(T) / sizeof(C);
    return {bits, n > 1 ? bits : 0, n > 2 ? bits : 0, n > 3 ? bits : 0,
            std::is_floating_point<C>() ? cudaChannelFormatKindFloat
            : std::is_signed<C>()       ? cudaChannelFormatKindSigned
                                        : cudaChannelFormatKindUnsigned};
}

namespace cudacpu {

/// An element of a texture. at: nullptr if the texture has no such element. fraction: the kernel gets the
/// components divided by the largest value of their type.
struct Texel {
    const void* at;
    bool fraction;
    cudaChannelFormatDesc format;
};
/// Element i. `wanted`: the format of the type that the kernel reads; it is a fault if the texture has another one.
Texel texel(cudaTextureObject_t texture, int i, cudaChannelFormatDesc wanted, Where where);

}  // namespace cudacpu
