// portability_checks.cpp - portability checks: operations whose result on a GPU differs from this CPU's. The
// compiler calls these functions before a shift by more bits than the type has. In the hazard build it also calls
// one before a conversion to an integer type that cannot hold the value, and after a signed overflow.
//
// Hash functions and sums of data overflow on purpose, and a GPU's registers wrap. An index must not: nvcc
// calculates it in 64 bits or in 32, as it likes. The driver has recorded which operators calculate an index
// (driver/IndexFlow.pm).
#include <cstring>
#include <set>
#include <string>

#include "engine/reporting.hpp"
#include "engine/source_lines.hpp"
#include "engine/text.hpp"

using namespace cudacpu;

namespace {

struct UbsanType {
    uint16_t kind, info;  // 0: integer, twice the logarithm of its bits, plus one if it is signed; 1: bits
    char name[1];         // quoted
    int bits() const { return kind ? info : 1 << (info >> 1); }
};

struct UbsanOperation {
    Where where;
    const UbsanType *from, *to;  // to: not of an overflow
};

void unlike_a_gpu(const UbsanOperation& o, const std::string& what, const std::string& mend) {
    static auto& noted = *new std::set<std::string>;
    if (strstr(o.where.file, "cpu/include/")) return;  // in the CPU device's own headers
    const std::string line = source_line(o.where);
    if (noted.insert(line).second) print_report(compose_report("note: " + what, mend, line));
}

void overflow(const UbsanOperation* o, SourceLine::Fact calculates_index, const char* operation) {
    static auto& seen = *new std::set<const UbsanOperation*>;
    if (!in_kernel() || !seen.insert(o).second || !(facts_of(o->where) & calculates_index)) return;
    report_bug(
        text("hazard: an index overflows: the result of this %s has no place in %s", operation, o->from->name),
        "calculate it in size_t or long long: convert an operand first, as in size_t(row) * width",
        source_line(o->where), "index-overflow");
}

}  // namespace

extern "C" {
void __ubsan_handle_shift_out_of_bounds(const UbsanOperation* o, uintptr_t, uintptr_t by) {
    if (!in_kernel()) return;
    const int unused = 64 - o->to->bits();
    const long distance = o->to->info & 1 ? long(by << unused) >> unused : long(by << unused >> unused);
    unlike_a_gpu(*o,
                 say({"a shift of %d bits by %ld: a GPU shifts them all out, other processors do not",
                      "%d 位的数移动 %ld 位：GPU 会把所有位移出，别的处理器不会"},
                     o->from->bits(), distance),
                 say({"C++ leaves it open: shift by less, and treat this case by itself",
                      "C++ 对此没有规定：少移一些，并单独处理这种情况"}));
}

void __ubsan_handle_float_cast_overflow(const UbsanOperation* o, uintptr_t bits) {
    if (!in_kernel() || o->from->bits() > 64) return;
    float single;
    double value;
    memcpy(&single, &bits, sizeof single);
    memcpy(&value, &bits, sizeof value);
    if (o->from->bits() == 32) value = single;
    if (o->to->bits() < 32 && fabs(value) < 0x1p31) return;  // both take the low bits
    unlike_a_gpu(
        *o,
        say({"%g as %s, which has no such value: a GPU takes the nearest that it has, other "
             "processors do not",
             "把 %g 转换为 %s，而它没有这个值：GPU 取最接近的值，别的处理器不会"},
            value, o->to->name),
        say({"C++ leaves it open: bring the value into the range before", "C++ 对此没有规定：先把值限制在范围内"}));
}

void __ubsan_handle_add_overflow(const UbsanOperation* o, uintptr_t, uintptr_t) {
    overflow(o, SourceLine::adds_index, "addition");
}
void __ubsan_handle_sub_overflow(const UbsanOperation* o, uintptr_t, uintptr_t) {
    overflow(o, SourceLine::subtracts_index, "subtraction");
}
void __ubsan_handle_mul_overflow(const UbsanOperation* o, uintptr_t, uintptr_t) {
    overflow(o, SourceLine::multiplies_index, "multiplication");
}
void __ubsan_handle_negate_overflow(const UbsanOperation* o, uintptr_t) {
    overflow(o, SourceLine::subtracts_index, "negation");
}
}  // extern "C"
