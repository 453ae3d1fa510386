// schedule.hpp - the schedule of threads and blocks: LAB_ORDER, and the random numbers of its seed.
#pragma once

namespace cudacpu {

enum class Order { forward, reverse, seeded };
extern Order order;
unsigned random_number();

}  // namespace cudacpu
