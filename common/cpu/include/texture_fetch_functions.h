// texture_fetch_functions.h - tex1Dfetch(): reads an element of a texture over linear memory.
#pragma once
#include "cuda_runtime.h"

namespace cudacpu {

template <class C> __forceinline__ float fraction(const void* at, int component) {
    const float value = float(static_cast<const C*>(at)[component]) / float(std::numeric_limits<C>::max());
    return value < -1 ? -1 : value;
}
__forceinline__ float fraction(const Texel& t, int component) {
    const bool is_signed = t.format.f == cudaChannelFormatKindSigned;
    if (t.format.x == 8)
        return is_signed ? fraction<signed char>(t.at, component) : fraction<unsigned char>(t.at, component);
    return is_signed ? fraction<short>(t.at, component) : fraction<unsigned short>(t.at, component);
}

}  // namespace cudacpu

template <class T> __forceinline__ T tex1Dfetch(cudaTextureObject_t texture, int i, CUDACPU_HERE) {
    using C = typename cudacpu::Component<T>::Type;
    const cudacpu::Texel t = cudacpu::texel(texture, i, cudaCreateChannelDesc<T>(), where);
    if (!t.at) return {};
    if constexpr (std::is_same_v<C, float>)
        if (t.fraction) {
            C components[sizeof(T) / sizeof(C)];
            for (int k = 0; C & c : components) c = cudacpu::fraction(t, k++);
            return __builtin_bit_cast(T, components);
        }
    return *static_cast<const T*>(t.at);
}
template <class T> __forceinline__ void tex1Dfetch(T* value, cudaTextureObject_t texture, int i, CUDACPU_HERE) {
    *value = tex1Dfetch<T>(texture, i, where);
}
