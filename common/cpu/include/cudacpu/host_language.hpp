// host_language.hpp - the languages of files that the host's compiler compiles without cudacpu.
#pragma once
#ifndef __cplusplus
#error "The CPU device's headers are C++: name this file .cpp or .cu, or compile it with cudacpu."
#elif defined __clang__ ? __cplusplus < 202002L : __cplusplus < 201402L
#error \
    "The CPU device's headers need C++14 with g++ and C++20 with clang: set CMAKE_CXX_STANDARD or -std, or compile this file with cudacpu."
#endif
