// device_heap.hpp - malloc() and new in kernels.
#pragma once

namespace cudacpu {

bool on_heap(const void* p);
void heap_in_use(bool by_device);  // whether it may be touched, in the plain build

}  // namespace cudacpu
