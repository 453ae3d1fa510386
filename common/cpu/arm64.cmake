# CMake's toolchain file for arm64 on a machine with another processor: cmake -DCMAKE_TOOLCHAIN_FILE=common/cpu/arm64.cmake.
# QEMU runs the programs. ARM64.md says what must be installed.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
find_program(CMAKE_CXX_COMPILER NAMES aarch64-linux-gnu-g++ aarch64-linux-gnu-g++-14 aarch64-linux-gnu-g++-13 aarch64-linux-gnu-g++-12)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
set(Boost_USE_STATIC_LIBS ON)  # so that the programs run where Boost is not installed
