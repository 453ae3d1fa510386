// access_hooks.hpp - the instrumentation entry points: how a hook finds where it was called.
#pragma once

#define CUDACPU_SITE reinterpret_cast<uint64_t>(__builtin_return_address(0))
