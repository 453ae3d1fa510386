// observer.cpp - what memory/ tells the race detector.
#include "memory/observer.hpp"

namespace cudacpu {

constinit RegionObserver region_observer;

}  // namespace cudacpu
