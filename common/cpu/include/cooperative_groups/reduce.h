// cooperative_groups/reduce.h - reduce() of a group's values.
#pragma once
#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class T, class Op> T reduce(const coalesced_group& g, T value, Op op, CUDACPU_HERE) {
    return cudacpu::fold("cooperative_groups::reduce()", g.mask, value, op, where);
}

}  // namespace cooperative_groups
