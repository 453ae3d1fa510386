// observer.cpp - what the engine tells the layers above it.
#include "engine/observer.hpp"

namespace cudacpu {

constinit LaunchObserver race_observer, lockstep_observer;
Thread* (*next_lane)() = []() -> Thread* { return nullptr; };
bool (*resume_any_lanes)() = [] { return false; };
void (*report_missed_barrier)(const Report&, Where) = [](const Report& note, Where) { print_report(note); };
void (*let_all_come)(const Rendezvous&, bool, std::string&) = [](const Rendezvous&, bool, std::string&) {};

}  // namespace cudacpu
