#!/bin/sh
# doctor.sh: what this machine has and lacks, a line each, with the command that mends it.
# doctor.sh --install: quiet where nothing is missing; else says what and why, and installs it with apt-get.
# NO_INSTALL=1 prints the command instead. Exit status 1 if something is missing and nothing was to be installed.
set -u
install=no
[ "${1:-}" = --install ] && install=yes

missing="" # Debian's names
say() { [ $install = yes ] || printf '%-9s %s\n' "$1" "$2"; }

# header NAME FILE PACKAGE WHY: a header that the C++ compiler must find
header() {
    if echo "#include <$2>" | ${CXX:-c++} -E -x c++ -I/usr/include/opencv4 -I/usr/local/include/opencv4 - >/dev/null 2>&1; then
        say ok "$1"
    else
        say missing "$1: $4. Type: apt-get install $3"
        missing="$missing $3"
        reasons="${reasons:-}
  $3: $4"
    fi
}
tool() { # tool NAME COMMAND PACKAGE WHY
    if command -v "$2" >/dev/null 2>&1; then
        say ok "$1: $(command -v "$2")"
    else
        say missing "$1: $4. Type: apt-get install $3"
        missing="$missing $3"
        reasons="${reasons:-}
  $3: $4"
    fi
}

tool "C++ compiler" "${CXX:-c++}" g++ "compiles everything"
tool "CMake" cmake cmake "drives the build"
tool "gnuplot" gnuplot gnuplot-nox "draws the plots of make report"
header "CLI11" CLI/Version.hpp libcli11-dev "reads the options of every sample"
header "Boost.Context" boost/context/detail/fcontext.hpp libboost-context-dev "switches between the CPU device's threads"
header "OpenCV" opencv2/core/version.hpp libopencv-dev "writes the picture of 06_shared_image"
header "GoogleTest" gtest/gtest_prod.h libgtest-dev "tests common/"
header "Google Benchmark" benchmark/benchmark.h libbenchmark-dev "measures the CPU device (make bench-cpu)"

nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
if [ -n "$nvcc" ]; then
    say ok "nvcc: $nvcc, $("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')"
else
    say none "nvcc: the samples run on the CPU device. For GPU builds: apt-get install nvidia-cuda-toolkit, or NVIDIA's own"
fi
if nvidia-smi -L >/dev/null 2>&1; then
    say ok "GPU: $(nvidia-smi -L | head -1 | sed 's/ (UUID.*//')"
else
    say none "GPU: none answers here (nvidia-smi -L); the samples run on the CPU device"
fi

[ -z "$missing" ] && exit 0
if [ $install = no ]; then
    echo
    echo "make installs what is missing. By hand: apt-get install$missing"
    exit 1
fi

echo "Missing on this machine:${reasons}"
command="apt-get update && apt-get install -y --no-install-recommends$missing"
if ! command -v apt-get >/dev/null 2>&1; then
    echo "This is no Debian or Ubuntu. Install the same with your package manager, for example:"
    echo "  Fedora:  dnf install gcc-c++ cmake cli11-devel boost-devel opencv-devel gtest-devel google-benchmark-devel gnuplot"
    echo "  Arch:    pacman -S gcc cmake cli11 boost opencv gtest benchmark gnuplot"
    echo "  macOS:   brew install cmake cli11 boost opencv googletest google-benchmark gnuplot"
    exit 0
fi
root=""
[ "$(id -u)" = 0 ] || root="sudo "
if [ "${NO_INSTALL:-0}" != 0 ] || { [ -n "$root" ] && ! command -v sudo >/dev/null 2>&1; }; then
    [ "${NO_INSTALL:-0}" != 0 ] || echo "You are not root, and there is no sudo here. Ask for:"
    echo "To install it, type: ${root}sh -c '$command'"
    echo "Building what can be built without it."
    exit 0
fi
echo "Installing it: ${root}$command"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp) || exit 1
if ${root}apt-get update >"$log" 2>&1 && ${root}apt-get install -y --no-install-recommends $missing >>"$log" 2>&1; then
    echo "Installed."
else
    tail -5 "$log"
    echo "That failed; building what can be built without it."
fi
rm -f "$log"
