// cuda_pipeline_primitives.h - asynchronous copies into shared memory. A copy reads its source when it begins, and
// its destination changes when the thread waits for it. Until then the destination has no value.
#pragma once
#include "cuda_runtime.h"

namespace cudacpu {
struct AsyncCopy {
    void* to;
    unsigned bytes;
    alignas(16) char data[16];
};
template <class T> __forceinline__ void copy_as(void* to, const void* from) {
    using Word [[gnu::may_alias]] = T;
    *static_cast<Word*>(to) = *static_cast<const Word*>(from);
}
__forceinline__ void copy_word(void* to, const void* from, size_t bytes) {
    if (bytes == 4) copy_as<int>(to, from);
    else if (bytes == 8) copy_as<long long>(to, from);
    else copy_as<__int128>(to, from);
}
void start_copy(const AsyncCopy& copy);
void commit_copies();  // those of the running thread since the last call are a batch
void wait_for_copies(size_t batches_left, Where where);  // until no more of its batches are under way
}  // namespace cudacpu

/// Copies 4, 8 or 16 bytes, the last `zeros` of which are 0; both addresses are a multiple of `bytes`.
__forceinline__ void __pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zeros = 0,
                                             CUDACPU_HERE) {
    if ((bytes != 4 && bytes != 8 && bytes != 16) || zeros > bytes)
        cudacpu::trap("__pipeline_memcpy_async() of other than 4, 8 or 16 bytes", where);
    cudacpu::AsyncCopy copy{to, unsigned(bytes), {}};
    if (zeros)
        for (size_t i = 0; i < bytes - zeros; ++i) copy.data[i] = static_cast<const char*>(from)[i];
    else cudacpu::copy_word(copy.data, from, bytes);
#ifdef CUDACPU_COUNTED  // done at once: lanes that load together also store together
    cudacpu::copy_word(to, copy.data, bytes);
#else
    const int4 no_value = {-1, -1, -1, -1};
    cudacpu::copy_word(to, &no_value, bytes);
    cudacpu::start_copy(copy);
#endif
}
inline void __pipeline_commit() { cudacpu::commit_copies(); }
inline void __pipeline_wait_prior(size_t batches, CUDACPU_HERE) { cudacpu::wait_for_copies(batches, where); }
