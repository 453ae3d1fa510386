// cooperative_groups/memcpy_async.h - copies by all threads of a group. They are done at once; as on a GPU, other
// threads see the copied data after a wait().
#pragma once
#include "../cooperative_groups.h"

namespace cooperative_groups {

/// Copies `bytes` bytes; each thread copies its share of the elements.
template <class Group, class T, class Bytes>
__forceinline__ void memcpy_async(const Group& group, T* to, const T* from, const Bytes& bytes) {
    for (size_t i = group.thread_rank(); i < size_t(bytes) / sizeof(T); i += group.size()) to[i] = from[i];
}
/// Copies as many elements as both arrays have.
template <class Group, class T, class To, class From>
__forceinline__ void memcpy_async(const Group& group, T* to, const To& room, const T* from, const From& there) {
    memcpy_async(group, to, from, cudacpu::smaller(size_t(room), size_t(there)) * sizeof(T));
}
template <class Group> void wait(const Group& group, CUDACPU_HERE) { group.sync(where); }
template <unsigned stages, class Group> void wait_prior(const Group& group, CUDACPU_HERE) { group.sync(where); }

}  // namespace cooperative_groups
