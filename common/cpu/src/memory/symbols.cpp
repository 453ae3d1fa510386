// symbols.cpp - the program's variables in device memory, some of which have a separate host copy.

#include <algorithm>
#include <cstring>

#include "engine/reporting.hpp"
#include "engine/text.hpp"
#include "memory/upcalls.hpp"

namespace cudacpu {

const DeviceVariable* DeviceVariable::last;

HostsCopy* HostsCopy::last;

// One object for each variable, for the whole run of the program.
HostsCopy::HostsCopy(void* variable, size_t size)
    // cppcheck-suppress [noCopyConstructor, noOperatorEq, noDestructor]
    : start(static_cast<char*>(variable)), other(new char[size]), bytes(size), before(last) {
    memcpy(other, start, bytes);
    if (!hosts_copy(variable)) last = this;  // otherwise another file has registered it
}
HostsCopy* hosts_copy(const void* p) {
    HostsCopy* c = HostsCopy::last;
    while (c && size_t(static_cast<const char*>(p) - c->start) >= c->bytes) c = c->before;
    return c;
}

// One object for each variable, for the whole run of the program.
DeviceVariable::DeviceVariable(void* variable, size_t size)
    // cppcheck-suppress [noCopyConstructor, noOperatorEq, noDestructor]
    : start(static_cast<char*>(variable)), first(nullptr), bytes(size), before(last) {
    const bool is_zero =
        start >= module_of(start)->zeros || (*start == 0 && memcmp(start, start + 1, bytes - 1) == 0);
    if (!is_zero) first = static_cast<char*>(memcpy(new char[bytes], start, bytes));
    last = this;
}
void begin_anew() {  // writes only what has changed, because a large array may never have been touched
    static const char zeros[4096] = {};
    for (const DeviceVariable* v = DeviceVariable::last; v; v = v->before) {
        const HostsCopy* const copy = hosts_copy(v->start);
        char* const at = copy ? copy->other + (v->start - copy->start) : v->start;
        for (size_t i = 0, n; i < v->bytes; i += n) {
            n = std::min(sizeof zeros, v->bytes - i);
            const char* const was = v->first ? v->first + i : zeros;
            if (memcmp(at + i, was, n) != 0) memcpy(at + i, was, n);
        }
    }
}

void* symbol_address(const void* symbol) {
    if (HostsCopy* const c = hosts_copy(symbol)) c->address_asked = true;
    return const_cast<void*>(symbol);
}

char* part_of(const void* symbol, size_t size, size_t offset, size_t bytes) {
    if (offset <= size && bytes <= size - offset) return (char*)symbol + offset;
    report_misuse(say({"%s of %zu bytes from byte %zu on goes beyond the variable's %zu bytes",
                       "%s 从第 %3$zu 字节起的 %2$zu 字节超出了变量的 %4$zu 字节"},
                      api_function, bytes, offset, size));
    return nullptr;
}

}  // namespace cudacpu
