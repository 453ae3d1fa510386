// cooperative_groups/memcpy_async.h - copies by all threads of a group. Words of global memory are copied to shared
// memory asynchronously: wait() ends such a copy. Other copies are done at once.
#pragma once
#include "../cooperative_groups.h"
#include "../cuda_pipeline_primitives.h"

namespace cooperative_groups {

/// Copies `bytes` bytes; each thread copies its share of the elements.
template <class Group, class T, class Bytes>
__forceinline__ void memcpy_async(const Group& group, T* to, const T* from, const Bytes& bytes, CUDACPU_HERE) {
    constexpr bool is_word = sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16;
    const bool starts = is_word && __isShared(to) && __isGlobal(from);
    for (size_t i = group.thread_rank(); i < size_t(bytes) / sizeof(T); i += group.size())
        if (starts) __pipeline_memcpy_async(to + i, from + i, sizeof(T), 0, where);
        else to[i] = from[i];
    __pipeline_commit();
}
/// Copies as many elements as both arrays have.
template <class Group, class T, class To, class From>
__forceinline__ void memcpy_async(const Group& group, T* to, const To& room, const T* from, const From& there,
                                  CUDACPU_HERE) {
    memcpy_async(group, to, from, cudacpu::smaller(size_t(room), size_t(there)) * sizeof(T), where);
}
/// Ends the copies of all but the last `stages` calls.
template <unsigned stages, class Group> void wait_prior(const Group& group, CUDACPU_HERE) {
    __pipeline_wait_prior(stages, where);
    group.sync(where);
}
template <class Group> void wait(const Group& group, CUDACPU_HERE) { wait_prior<0>(group, where); }

}  // namespace cooperative_groups
