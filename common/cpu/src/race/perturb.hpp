// perturb.hpp - scheduling perturbation.
#pragma once
#include "memory/address_space.hpp"

namespace cudacpu::race {

extern bool yields_next;  // by the last atomic or volatile access: others may run before the next one
void preempt_now();       // lets another thread run
void perturb(const Region* r, const char* address, unsigned kind);  // before an access: may preempt the thread
void perturb_launch_begins();

}  // namespace cudacpu::race
