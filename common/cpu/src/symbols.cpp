// symbols.cpp - the program's variables for the device, of which the host may have copies of its own.
#include "internal.hpp"

namespace cudacpu {

HostsCopy* HostsCopy::last;

// One a variable, as long as the program.
HostsCopy::HostsCopy(void* variable, size_t size)
    // cppcheck-suppress [noCopyConstructor, noOperatorEq, noDestructor]
    : start(static_cast<char*>(variable)), other(new char[size]), bytes(size), before(last) {
    memcpy(other, start, bytes);
    if (!hosts_copy(variable)) last = this;  // else another file has named it
}
HostsCopy* hosts_copy(const void* p) {
    HostsCopy* c = HostsCopy::last;
    while (c && size_t(static_cast<const char*>(p) - c->start) >= c->bytes) c = c->before;
    return c;
}
void* symbol_address(const void* symbol) {
    if (HostsCopy* const c = hosts_copy(symbol)) c->address_asked = true;
    return const_cast<void*>(symbol);
}

char* part_of(const void* symbol, size_t size, size_t offset, size_t bytes) {
    if (offset <= size && bytes <= size - offset) return (char*)symbol + offset;
    complain(text("%s of %zu bytes from byte %zu on goes beyond the variable's %zu bytes", api_function, bytes,
                  offset, size));
    return nullptr;
}

}  // namespace cudacpu
