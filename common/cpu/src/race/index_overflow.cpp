// index_overflow.cpp - signed overflow in a calculation of an index.
//
// The compiler calls these functions after each signed overflow in the hazard build. Hash functions and sums of
// data overflow on purpose, and a GPU's registers wrap. An index must not: nvcc calculates it in 64 bits or in 32,
// as it likes. The driver has recorded which operators calculate an index (driver/IndexFlow.pm).
#include <set>

#include "engine/reporting.hpp"
#include "engine/source_lines.hpp"
#include "engine/text.hpp"

using namespace cudacpu;

namespace {

struct UbsanOverflow {
    Where where;
    const struct {
        uint16_t kind, info;  // info: twice the logarithm of the type's bits, plus one
        char name[1];         // quoted
    } * type;
};

void overflow(const UbsanOverflow* o, SourceLine::Fact calculates_index, const char* operation) {
    static auto& seen = *new std::set<const UbsanOverflow*>;
    if (!in_kernel() || !seen.insert(o).second || !(facts_of(o->where) & calculates_index)) return;
    report_bug(
        text("hazard: an index overflows: the result of this %s has no place in %s", operation, o->type->name),
        "calculate it in size_t or long long: convert an operand first, as in size_t(row) * width",
        source_line(o->where), "index-overflow");
}

}  // namespace

extern "C" {
void __ubsan_handle_add_overflow(const UbsanOverflow* o, uintptr_t, uintptr_t) {
    overflow(o, SourceLine::adds_index, "addition");
}
void __ubsan_handle_sub_overflow(const UbsanOverflow* o, uintptr_t, uintptr_t) {
    overflow(o, SourceLine::subtracts_index, "subtraction");
}
void __ubsan_handle_mul_overflow(const UbsanOverflow* o, uintptr_t, uintptr_t) {
    overflow(o, SourceLine::multiplies_index, "multiplication");
}
void __ubsan_handle_negate_overflow(const UbsanOverflow* o, uintptr_t) {
    overflow(o, SourceLine::subtracts_index, "negation");
}
}  // extern "C"
