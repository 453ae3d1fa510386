// ticktock.h - for programs that include "ticktock.h": TICK(name) starts a stopwatch, TOCK(name) prints its
// seconds.
#pragma once
#include <chrono>
#include <cstdio>

/// Starts the stopwatch `name` of this block of code. A kernel runs asynchronously: wait for it before TOCK.
#define TICK(name) const auto tick_of_##name = std::chrono::steady_clock::now()

/// Prints the seconds since TICK(name).
#define TOCK(name)                  \
    std::printf(#name ": %.6f s\n", \
                std::chrono::duration<double>(std::chrono::steady_clock::now() - tick_of_##name).count())
