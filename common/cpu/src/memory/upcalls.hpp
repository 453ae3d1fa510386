// upcalls.hpp - what memory/ calls of the layers above it. It declares the functions, and these layers define them.
#pragma once

namespace cudacpu {

// ---- api/

unsigned long last_work();  // the number of the work that was queued last
bool work_is_queued(unsigned long number);
extern unsigned long told_not_ready;  // the last work when the host was last told "not ready"
extern const char* api_function;      // the function that last passed the gate

}  // namespace cudacpu
