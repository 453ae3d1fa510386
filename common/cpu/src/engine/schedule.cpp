// schedule.cpp - the schedule of threads and blocks: LAB_ORDER, and the random numbers of its seed.
#include "engine/schedule.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "engine/build.hpp"
#include "engine/reporting.hpp"
#include "engine/text.hpp"

namespace cudacpu {

Order order;

namespace {

uint64_t random_state;

const struct OrderAsked {
    OrderAsked() {
        const char* s = getenv("LAB_ORDER");
        if (!s || !*s) return;
        const std::string_view word = s;
        const auto [end, error] = std::from_chars(s, s + word.size(), random_state);
        order = word == "forward" ? Order::forward : word == "reverse" ? Order::reverse : Order::seeded;
        if (order == Order::seeded && (*end || error != std::errc()))
            print_report(text("cudacpu: LAB_ORDER=%s: say forward, reverse or a number", s)), _exit(2);
    }
} order_asked CUDACPU_LASTING;

}  // namespace

unsigned random_number() {  // Knuth's generator for MMIX, whose upper bits are good
    random_state = random_state * 6364136223846793005 + 1442695040888963407;
    return unsigned(random_state >> 32);
}

}  // namespace cudacpu
