// textures.cpp - texture objects over linear memory.
#include <string>
#include <vector>

#include "engine/build.hpp"
#include "engine/reporting.hpp"
#include "engine/text.hpp"
#include "memory/address_space.hpp"
#include "memory/upcalls.hpp"

namespace cudacpu {

namespace {

struct Texture {
    const char* start;  // nullptr: it was destroyed
    size_t bytes;
    cudaChannelFormatDesc format;
    bool fraction;
    size_t element() const { return size_t(format.x + format.y + format.z + format.w) / 8; }
    size_t components() const { return element() * 8 / format.x; }
};
std::vector<Texture> textures CUDACPU_LASTING;  // the first one has number 1

// The bits of 1, 2 or 4 equal components of 8, 16 or 32 bits.
bool is_format(const cudaChannelFormatDesc& f) {
    const bool equal = (!f.y || f.y == f.x) && (f.z ? f.y && f.z == f.x && f.w == f.x : !f.w);
    const bool integer = f.f == cudaChannelFormatKindSigned || f.f == cudaChannelFormatKindUnsigned;
    return equal && (f.x == 32 || ((f.x == 8 || f.x == 16) && integer)) &&
           (integer || f.f == cudaChannelFormatKindFloat);
}

std::string described(const cudaChannelFormatDesc& f) {
    const Texture t{nullptr, 0, f, false};
    const Sentence kinds[] = {{"signed", "有符号整数"}, {"unsigned", "无符号整数"}, {"floating-point", "浮点数"}};
    return say({"%zu x %d bits, %s", "%zu x %d 位，%s"}, t.components(), f.x, say(kinds[f.f]));
}

}  // namespace

cudaError_t create(cudaTextureObject_t* object, const cudaResourceDesc* r, const cudaTextureDesc* d) {
    if (!object || !r || !d || r->resType != cudaResourceTypeLinear) return failed(cudaErrorInvalidValue);
    const auto& [p, format, bytes] = r->res.linear;
    if (!is_format(format)) return failed(cudaErrorInvalidChannelDescriptor);
    const bool fraction = d->readMode == cudaReadModeNormalizedFloat;
    if (fraction && format.x == 32) return failed(cudaErrorInvalidNormSetting);
    const Region* const region = find(p);
    const char* const start = static_cast<char*>(p);
    const bool on_device = region ? !region->freed : is_global(p);
    if (on_device && region && (start < region->start || start + bytes > region->start + region->bytes))
        report_misuse(
            say({"a texture of %zu bytes goes beyond its memory: %s", "%zu 字节的纹理超出了内存：%s"}, bytes,
                explain(p)),
            say({"sizeInBytes counts bytes: n * sizeof(float)", "sizeInBytes 以字节计：n * sizeof(float)"}));
    else if (!on_device)
        report_misuse(
            say({"%s: devPtr does not point to memory of the device", "%s：devPtr 不指向设备内存"}, api_function),
            say({"give it memory from cudaMalloc or cudaMallocManaged",
                 "传给它 cudaMalloc 或 cudaMallocManaged 的内存"}));
    else if (region && (start - region->start) % 512)
        report_misuse(
            say({"%s: devPtr is %zu bytes after the start of its memory", "%s：devPtr 在内存起点之后 %zu 字节"},
                api_function, size_t(start - region->start)),
            say({"begin at a multiple of 512 bytes (textureAlignment), and add the rest to the index",
                 "从 512 字节（textureAlignment）的倍数开始，其余的加到下标上"}));
    else return textures.push_back({start, bytes, format, fraction}), give(object, textures.size());
    return failed(cudaErrorInvalidValue);
}

cudaError_t destroy(cudaTextureObject_t object) {
    if (object - 1 >= textures.size() || !textures[object - 1].start) return failed(cudaErrorInvalidValue);
    textures[object - 1].start = nullptr;
    return cudaSuccess;
}

Texel texel(cudaTextureObject_t object, int i, cudaChannelFormatDesc wanted, Where where) {
    const Texture none{}, &t = object - 1 < textures.size() ? textures[object - 1] : none;
    if (!in_kernel())
        fault(cudaErrorNotSupported, say({"tex1Dfetch() is for kernels", "tex1Dfetch() 只能在核函数中使用"}),
              say({"read the memory by its index", "用下标读取内存"}), &where);
    if (!t.start)
        fault(cudaErrorIllegalAddress,
              say(object - 1 < textures.size()
                      ? Sentence{"texture object %llu was destroyed before the kernel read it",
                                 "核函数读取之前，纹理对象 %llu 已销毁"}
                      : Sentence{"there is no texture object %llu", "没有纹理对象 %llu"},
                  object),
              say({"create it with cudaCreateTextureObject(), and destroy it after the kernel has ended",
                   "用 cudaCreateTextureObject() 创建它，核函数结束之后再销毁"}),
              &where);
    const bool same_kind =
        (wanted.f == cudaChannelFormatKindFloat) == (t.fraction || t.format.f == cudaChannelFormatKindFloat);
    const Texture as{nullptr, 0, wanted, false};
    if (!same_kind || as.components() != t.components() || wanted.x != (t.fraction ? 32 : t.format.x))
        fault(cudaErrorLaunchFailure,
              say({"tex1Dfetch() reads %s, and the texture has %s", "tex1Dfetch() 读取 %s，而纹理是 %s"},
                  described(wanted), described(t.format)) +
                  (t.fraction ? say({", to be read as floats", "，要作为浮点数读取"}) : ""),
              say({"read the type of the texture's elements: cudaCreateChannelDesc<T>() and tex1Dfetch<T>()",
                   "按纹理元素的类型读取：cudaCreateChannelDesc<T>() 和 tex1Dfetch<T>()"}),
              &where);
    const bool inside = size_t(i) < t.bytes / t.element();
    return {inside ? t.start + size_t(i) * t.element() : nullptr, t.fraction, t.format};
}

}  // namespace cudacpu
