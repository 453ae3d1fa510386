// book.h - for programs that include "book.h": defines HANDLE_ERROR and HANDLE_NULL.
#pragma once
#include "../error.cuh"

/// Ends the program with status 3 if the CUDA call failed. The same as CHECK.
#define HANDLE_ERROR(call) CHECK(call)

/// Ends the program with status 3 if a pointer is null, such as the result of malloc().
#define HANDLE_NULL(pointer) handle_null((pointer), #pointer, __FILE__, __LINE__)

inline void handle_null(const void* pointer, const char* what, const char* file, int line) {
    if (pointer) return;
    std::fprintf(stderr, "%s:%d: %s is null: the host has no memory left\n", file, line, what);
    std::exit(3);
}
