// portability_checks.cpp - portability checks: operations whose result on a GPU differs from this CPU's. The
// compiler calls these functions before a shift by more bits than the type has. In the hazard build it also calls
// one before a conversion to an integer type that cannot hold the value.
#include <cstring>
#include <set>
#include <string>

#include "engine/reporting.hpp"
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
    const UbsanType *from, *to;
};

void unlike_a_gpu(const UbsanOperation& o, const std::string& what, const char* mend) {
    static auto& noted = *new std::set<std::string>;
    if (strstr(o.where.file, "cpu/include/")) return;  // in the CPU device's own headers
    const std::string line = source_line(o.where);
    if (noted.insert(line).second) print_report(compose_report("note: " + what, mend, line));
}

}  // namespace

extern "C" {
void __ubsan_handle_shift_out_of_bounds(const UbsanOperation* o, uintptr_t, uintptr_t by) {
    if (!in_kernel()) return;
    const int unused = 64 - o->to->bits();
    const long distance = o->to->info & 1 ? long(by << unused) >> unused : long(by << unused >> unused);
    unlike_a_gpu(*o,
                 text("a shift of %d bits by %ld: a GPU shifts them all out, other processors do not",
                      o->from->bits(), distance),
                 "C++ leaves it open: shift by less, and treat this case by itself");
}

void __ubsan_handle_float_cast_overflow(const UbsanOperation* o, uintptr_t bits) {
    if (!in_kernel() || o->from->bits() > 64) return;
    float single;
    double value;
    memcpy(&single, &bits, sizeof single);
    memcpy(&value, &bits, sizeof value);
    if (o->from->bits() == 32) value = single;
    if (o->to->bits() < 32 && fabs(value) < 0x1p31) return;  // both take the low bits
    unlike_a_gpu(*o,
                 text("%g as %s, which has no such value: a GPU takes the nearest that it has, other "
                      "processors do not",
                      value, o->to->name),
                 "C++ leaves it open: bring the value into the range before");
}
}  // extern "C"
