// observer.cpp - what the stream queue and copies tell the race detector.
#include "api/observer.hpp"

namespace cudacpu {

constinit WorkObserver work_observer;

}  // namespace cudacpu
