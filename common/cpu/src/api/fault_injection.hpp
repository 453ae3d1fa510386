// fault_injection.hpp - calls that fail, and copies that are falsified, to test programs.
#pragma once
#include <string>

#include "cuda_runtime.h"

namespace cudacpu {

cudaError_t injected_failure(const char* function, unsigned long call);  // LAB_FAIL=K: the error of the K-th call
const std::string* injected_flip();  // LAB_FLIP=COPY:WHAT: WHAT if this copy to the host is number COPY, else null
/// Changes bit WHAT of a copy (counted from its end if negative), or all of it ("ones"), or swaps its first and
/// last four bytes ("swap").
void corrupt(const std::string& what, char* to, size_t bytes, const void* from);

}  // namespace cudacpu
