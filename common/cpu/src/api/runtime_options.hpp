// runtime_options.hpp - run-time options of a program of the counters' or the hazard build.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace cudacpu::warp {

struct Asked {
    std::string trace, csv;  // file names; "": none
    std::string kernel;      // "": all kernels
    unsigned launch = 1;
    uint64_t block = 0;
    std::optional<unsigned> warp;  // not set: 0, or in a hazard build the warps that race
    bool blocks = false;           // one warp of several blocks instead of several warps of one block
};
extern Asked asked;

}  // namespace cudacpu::warp
