// cooperative_groups/scan.h - inclusive_scan() and exclusive_scan() of a group's values, in the order of its ranks.
#pragma once
#include "../cooperative_groups.h"

namespace cooperative_groups {

namespace detail {
template <class T, class Op>
T scan(const coalesced_group& g, T value, T before, bool own, Op op, cudacpu::Where where) {
    const cudacpu::Lanes lanes("cooperative_groups scan", g.mask, value, where);
    const unsigned lower = g.mask & ((1u << cudacpu::lane()) - 1), all = lower | unsigned(own) << cudacpu::lane();
    for (unsigned rest = all; rest; rest &= rest - 1) {
        const T next = lanes.get<T>(__builtin_ctz(rest));
        before = rest == all ? next : op(before, next);
    }
    return before;
}
}  // namespace detail

template <class T, class Op = plus<T>>
T inclusive_scan(const coalesced_group& g, T value, Op op = {}, CUDACPU_HERE) {
    return detail::scan(g, value, value, true, op, where);
}
/// The first rank gets T(), so T() must be the neutral element of the operation.
template <class T, class Op = plus<T>>
T exclusive_scan(const coalesced_group& g, T value, Op op = {}, CUDACPU_HERE) {
    static_assert(std::is_same_v<Op, plus<T>> || std::is_same_v<Op, bit_or<T>> || std::is_same_v<Op, bit_xor<T>>,
                  "exclusive_scan(): the CPU device has plus, bit_or and bit_xor");
    return detail::scan(g, value, T(), false, op, where);
}

}  // namespace cooperative_groups
