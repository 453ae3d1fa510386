#!/bin/sh
# doctor.sh: checks this machine. Each line is one check and, if something is missing or wrong, the command that corrects it.
# Exit status 1 if something required is missing.
# doctor.sh --install: lists the missing packages and why each is needed; prints nothing if none is missing. As root it installs
# them with apt-get. For another user, if a required package is missing, it asks on a terminal whether to use sudo. Without a
# terminal, or with NO_INSTALL=1, it prints the command; but with CI=true, as CI services set it, it uses sudo if that asks for
# no password. BUILD/not_installed records a "no" and the optional packages that were
# listed, so that neither is repeated.
# LAB_DOCTOR_ROOT=FOLDER (for tests) replaces / for /dev, /proc, /sys and /usr. BUILD=FOLDER is where make builds.
set -u
install=no
[ "${1:-}" = --install ] && install=yes
root=${LAB_DOCTOR_ROOT:-}
build=${BUILD:-build}
[ "$(id -u)" = 0 ] && sudo="" || sudo="sudo "
command -v apt-get >/dev/null 2>&1 && apt=yes || apt=no

missing="" # Debian's names
reasons="" # for --install
status=0
wrong=""

# line STATE CHECK WORDS [COMMAND]: COMMAND is the command to type. The states are
#   ok        nothing to do
#   missing   required, but not installed; the exit status is 1
#   wrong     installed, but does not work
#   optional  not installed; the rest works without it
line() {
    [ "$1" = missing ] && status=1
    [ "$1" = wrong ] && wrong=", but something does not work: see above"
    [ $install = no ] || return 0
    set -- "$1" "$2" "$3${4:+. Type: $4}"
    if [ ${#3} -le 51 ]; then printf '%-9s %-17s  %s\n' "$@"; else printf '%-9s %-17s  %s\n' "$@" | fit; fi
}
# fit: breaks lines at 80 columns. The command is on its own line, unbroken, so that it can be copied.
fit() {
    awk 'length($0) <= 80 { print; next }
        { at = index($0, ". Type: "); command = at ? substr($0, at + 2) : ""; if (at) $0 = substr($0, 1, at - 1)
          indent = sprintf("%29s", "")
          while (length($0) > 80 && match(substr($0, 30, 52), /.* /)) {
              print substr($0, 1, 29 + RLENGTH - 1); $0 = indent substr($0, 30 + RLENGTH)
          }
          print; if (command != "") print indent command }'
}

# ---- packages ------------------------------------------------------------------------------------------------------

# package STATE CHECK PACKAGE WHY WHERE: WHERE is the file that was found, or empty
package() {
    if [ -n "$5" ]; then
        line ok "$2" "$5"
        return
    fi
    missing="$missing $3"
    reasons="$reasons
  $3: $4"
    if [ $apt = yes ]; then
        line "$1" "$2" "$4" "${sudo}apt-get install $3"
    else
        line "$1" "$2" "$4. Debian calls it $3"
    fi
}
tool() { command -v "$1" 2>/dev/null; }
# header FILE: the path where the C++ compiler finds it
header() {
    echo "#include <$1>" | ${CXX:-c++} -E -x c++ -I/usr/include/opencv4 -I/usr/local/include/opencv4 - 2>/dev/null |
        sed -n "\|^# 1 \".*$1\"|{s|^# 1 \"\(.*$1\)\".*|\1|p;q;}"
}
# older A B: is version A below version B?
older() { [ "$1" != "$2" ] && [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -1)" = "$1" ]; }

check_packages() {
    package missing "C++ compiler" g++ "compiles everything" "$(tool "${CXX:-c++}")"
    cmake=$(tool cmake)
    version=$([ -z "$cmake" ] || cmake --version 2>/dev/null | sed -n 's/^cmake version \([0-9.]*\).*/\1/p')
    if [ -n "$version" ] && older "$version" 3.24; then
        line missing CMake "$cmake is $version, and the lab needs 3.24 or newer" "pip install cmake"
    else
        package missing CMake cmake "drives the build" "$cmake"
    fi
    # Debian's perl-base is always installed, but has no modules.
    package missing Perl perl "translates the samples for the CPU device" "$(perl -MJSON::PP -e 'print $^X' 2>/dev/null)"
    package missing CLI11 libcli11-dev "reads the options of every sample" "$(header CLI/Version.hpp)"
    package missing Boost.Context libboost-context-dev "switches between the CPU device's threads" \
        "$(header boost/context/detail/fcontext.hpp)"
    package missing OpenCV libopencv-dev "writes the picture of 06_shared_image" "$(header opencv2/core/version.hpp)"
    package optional GoogleTest libgtest-dev "tests common/" "$(header gtest/gtest_prod.h)"
    package optional "Google Benchmark" libbenchmark-dev "measures the CPU device (make bench-cpu)" \
        "$(header benchmark/benchmark.h)"
    package optional gnuplot gnuplot-nox "plots (make report)" "$(tool gnuplot)"
    package optional gdb gdb "stops in kernels (make learn GDB=NN.N)" "$(tool gdb)"
}

# ---- nvcc ----------------------------------------------------------------------------------------------------------

# Sets nvcc and toolkit (its version, 13.0), both empty if there is none. Looks where CMakeLists.txt looks.
check_nvcc() {
    toolkit=""
    nvcc=$(PATH=$PATH:${CUDA_PATH:-}/bin:${CUDA_HOME:-}/bin:$root/usr/local/cuda/bin && tool nvcc)
    if [ -n "$nvcc" ]; then
        toolkit=$("$nvcc" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p')
        if [ -z "$toolkit" ]; then
            line wrong nvcc "$nvcc does not run. Reinstall the CUDA Toolkit, or build without it" \
                "make CMAKE_FLAGS=-DLAB_GPU=OFF"
            nvcc=""
        elif tool nvcc >/dev/null; then
            line ok nvcc "$nvcc, $toolkit"
        else
            line optional nvcc "make finds $nvcc, $toolkit, but your shell does not" "export PATH=${nvcc%/nvcc}:\$PATH"
        fi
        return
    fi
    unseen=$(ls -d "$root"/usr/local/cuda-*/bin/nvcc 2>/dev/null | tail -1)
    if [ -n "$unseen" ]; then
        line optional nvcc "make does not find $unseen" "export PATH=${unseen%/nvcc}:\$PATH"
    elif [ $apt = yes ]; then
        line optional nvcc "only GPU builds need it" "${sudo}apt-get install nvidia-cuda-toolkit"
    else
        line optional nvcc "only GPU builds need it. Download: https://developer.nvidia.com/cuda-downloads"
    fi
}

# nvcc compiles host code with g++, and rejects a g++ that is newer than its header crt/host_config.h allows.
check_host_compiler() {
    folder=$(dirname "$(readlink -f "$nvcc")")/..
    limit=$(cat "$folder"/include/crt/host_config.h "$folder"/targets/*/include/crt/host_config.h 2>/dev/null |
        sed -n 's/^#if __GNUC__ > \([0-9]*\).*/\1/p' | head -1)
    host=g++
    debians=/usr/lib/nvidia-cuda-toolkit/bin/g++ # Debian's nvcc uses this compatible g++
    [ "$nvcc" = /usr/bin/nvcc ] && [ -x $debians ] && host=$debians
    host=${CUDAHOSTCXX:-${NVCC_CCBIN:-$host}}
    version=$("$host" -dumpfullversion 2>/dev/null) # clang has no such option
    if [ -z "$limit" ] || [ -z "$version" ]; then return; fi
    if [ "${version%%.*}" -gt "$limit" ]; then
        line wrong "g++ for nvcc" "$host is $version, nvcc $toolkit supports up to $limit" \
            "${sudo}apt-get install g++-$limit; make clean; CUDAHOSTCXX=g++-$limit make"
    else
        line ok "g++ for nvcc" "$host is $version, nvcc $toolkit supports up to $limit"
    fi
}

# ---- the GPU -------------------------------------------------------------------------------------------------------

cpu_device="the samples run on the CPU device"
drivers=https://www.nvidia.com/drivers
archive=https://developer.nvidia.com/cuda-toolkit-archive

# The first /dev/nvidia* that this user may not open
forbidden() {
    for file in "$root"/dev/nvidia[0-9]* "$root"/dev/nvidiactl "$root"/dev/nvidia-uvm; do
        if [ -e "$file" ] && { [ ! -r "$file" ] || [ ! -w "$file" ]; }; then
            echo "$file"
            return
        fi
    done
}
# Why does nvidia-smi list no GPU?
no_gpu() {
    if [ $windows = yes ] && { [ ! -e "$root/dev/dxg" ] || [ -z "$smi" ]; }; then
        line optional GPU "Windows shows WSL no GPU; $cpu_device. In Windows, update NVIDIA's driver" "wsl --update"
    elif [ $windows = no ] && [ ! -e "$root/dev/nvidiactl" ]; then
        if ! grep -qs 0x10de "$root"/sys/bus/pci/devices/*/vendor; then
            line optional GPU "no NVIDIA device and no driver (no /dev/nvidiactl); $cpu_device"
        elif [ -e "$root/.dockerenv" ] || [ -e "$root/run/.containerenv" ]; then
            line wrong GPU "the container has no access to it (no /dev/nvidiactl). Restart it" "docker run --gpus all"
        else
            line wrong GPU "its driver is not loaded (no /dev/nvidiactl). If it is not installed: $drivers" \
                "sudo modprobe nvidia"
        fi
    elif [ -z "$smi" ]; then
        line wrong GPU "the driver is loaded, but nvidia-smi is missing. Package: nvidia-smi (Debian), nvidia-utils-... (Ubuntu)"
    else
        line wrong GPU "nvidia-smi -L prints: $(echo "$gpus" | head -1) If a reboot does not help: $drivers" "sudo reboot"
    fi
}
# CUDA shows the devices that the variable lists, up to the first that does not exist. So the first entry decides.
hidden() {
    [ -n "${CUDA_VISIBLE_DEVICES+set}" ] || return 1
    first=$(echo "${CUDA_VISIBLE_DEVICES%%,*}" | tr -d ' ')
    case $first in
    GPU-* | MIG-*) ! echo "$gpus" | grep -qF "(UUID: $first" ;;
    '' | *[!0-9]*) return 0 ;;
    *) [ "$first" -ge "$count" ] ;;
    esac
}
# The architectures of the GPU builds: sm_90 (code), compute_90 (PTX). CMake calls them 90-real and 90-virtual.
architectures() {
    tr ';' '\n' 2>/dev/null <"$build/gpu_architectures" | sed 's/-major$//
        s/^\(.*\)-virtual$/compute_\1/; s/^\(.*\)-real$/sm_\1/; /^[0-9]/{h; s/^/sm_/p; g; s/^/compute_/;}'
}
# runs CODE CAPABILITY: does a GPU of this compute capability (90) run it? Code runs within its major version, PTX on all
# newer GPUs. An architecture that ends in `a` runs only on exactly this compute capability.
runs() {
    number=$(echo "${1#*_}" | tr -d af)
    case $1 in
    native | all) true ;;
    *a) [ "$number" = "$2" ] ;;
    sm_*) [ $((number / 10)) = $(($2 / 10)) ] && [ "$number" -le "$2" ] ;;
    *) [ "$number" -le "$2" ] ;;
    esac
}
check_build() {
    codes=$(architectures)
    list=$(echo $codes)
    for capability in $capabilities; do
        cc=$(echo "$capability" | tr -d .) found=no
        for code in $codes; do
            runs "$code" "$cc" && found=yes
        done
        known=$("$nvcc" --list-gpu-arch 2>/dev/null)
        if [ -n "$known" ] && ! echo "$known" | grep -qx "compute_$cc"; then
            line wrong "GPU and nvcc" "nvcc $toolkit does not compile for $capability. Use a version that does: $archive"
        elif [ -n "$codes" ] && [ $found = no ]; then
            line wrong "GPU in the build" "the GPU has $capability, the build is for $list (error 209)" \
                "make clean; make CMAKE_FLAGS=-DCMAKE_CUDA_ARCHITECTURES=$cc"
        elif [ -n "$codes" ]; then
            line ok "GPU in the build" "the GPU has $capability, the build is for $list"
        fi
    done
    [ -n "$codes" ] || line optional "GPU in the build" "there is no GPU build in $build yet" make
}
check_driver() {
    driver=$("$smi" 2>/dev/null | sed -n 's/.*CUDA \(UMD \)\{0,1\}Version *: *\([0-9][0-9.]*\).*/\2/p' | head -1)
    [ -n "$driver" ] || return
    words="the driver supports CUDA $driver, nvcc is $toolkit"
    if ! older "$driver" "$toolkit"; then
        line ok "driver and nvcc" "$words"
    elif [ "${driver%%.*}" = "${toolkit%%.*}" ]; then
        line optional "driver and nvcc" "$words: no PTX (error 222). Update the driver: $drivers, or build for this GPU only" \
            "make CMAKE_FLAGS=-DCMAKE_CUDA_ARCHITECTURES=native"
    else
        line wrong "driver and nvcc" "$words (error 35). Update the driver: $drivers, or use the CPU device" "make run DEVICE=cpu"
    fi
}
check_managed() {
    if [ $windows = yes ]; then
        line optional "managed memory" "Windows moves it as a whole: the CPU must not use it before cudaDeviceSynchronize()"
    else
        line ok "managed memory" "CPU and GPU can use it at the same time"
    fi
}
# ncu can read the counters as root (CAP_SYS_ADMIN, bit 21), or as any user if the driver's option allows it.
check_counters() {
    admin_only=$(sed -n 's/^RmProfilingAdminOnly: *//p' "$root/proc/driver/nvidia/params" 2>/dev/null)
    [ -n "$admin_only" ] || return
    rights=$(sed -n 's/^CapEff:[[:space:]]*//p' "$root/proc/self/status")
    if [ "$admin_only" = 0 ] || [ $((0x${rights:-0} >> 21 & 1)) = 1 ]; then
        line ok "profiler counters" "ncu can read them"
    else
        line optional "profiler counters" "ncu has no permission to read them (ERR_NVGPUCTRPERM)" \
            "echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 | sudo tee /etc/modprobe.d/ncu.conf; sudo reboot"
    fi
}

check_gpu() {
    windows=no
    grep -qisE 'microsoft|cygwin|msys|mingw' "$root/proc/version" && windows=yes
    smi=$(PATH=$PATH:$root/usr/lib/wsl/lib && tool nvidia-smi)
    file=$(forbidden)
    if [ -n "$file" ]; then
        group=$(stat -c %G "$file" 2>/dev/null)
        case $group in
        '' | root | UNKNOWN) remedy="sudo chmod a+rw $root/dev/nvidia*" ;;
        *) remedy="sudo usermod -aG $group $(id -un); then log in again" ;;
        esac
        line wrong GPU "you have no permission to open $file" "$remedy"
        return
    fi
    if ! gpus=$([ -n "$smi" ] && "$smi" -L 2>&1) || ! count=$(echo "$gpus" | grep -c '^GPU '); then
        no_gpu
        return
    fi
    if hidden; then
        line wrong GPU "hidden by CUDA_VISIBLE_DEVICES='$CUDA_VISIBLE_DEVICES' (error 100)" "unset CUDA_VISIBLE_DEVICES"
        return
    fi
    capabilities=$("$smi" --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
        grep -E '^[0-9]+\.[0-9]$' | sort -u) # empty if an old nvidia-smi does not know this query
    name=$(echo "$gpus" | sed -n 's/^GPU 0: \(.*\) (UUID.*/\1/p')
    [ "$count" = 1 ] || name="$count, the first: $name"
    line ok GPU "$name${capabilities:+, compute capability $(echo $capabilities)}"
    if [ -n "$toolkit" ]; then
        check_driver
        [ -z "$capabilities" ] || check_build
    fi
    check_managed
    check_counters
}

# ---- the rest ------------------------------------------------------------------------------------------------------

tenths() { echo "$(($1 / 1048576)).$(($1 % 1048576 * 10 / 1048576)) GiB"; } # of KiB

check_machine() {
    if [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
        line optional display "06_shared_image --show needs one; --out picture.png writes a file. Over ssh: ssh -X"
    else
        line ok display "${WAYLAND_DISPLAY:-$DISPLAY}"
    fi
    kib=$(sed -n 's/^MemAvailable: *\([0-9]*\).*/\1/p' "$root/proc/meminfo" 2>/dev/null)
    if [ -n "$kib" ] && [ "$kib" -lt 2097152 ]; then
        line wrong memory "$(tenths "$kib") free; several compilers at once may need more" "make JOBS=1"
    elif [ -n "$kib" ]; then
        line ok memory "$(tenths "$kib") free"
    fi
    folder=$build
    until [ -d "$folder" ]; do folder=$(dirname "$folder"); done
    if [ ! -w "$folder" ] || [ ! -x "$folder" ]; then
        line missing "build folder" "you cannot write to $folder. Build in another folder" "make BUILD=/elsewhere"
    fi
    kib=$(df -Pk "$folder" 2>/dev/null | awk 'NR == 2 { print $4 }')
    if [ -n "$kib" ] && [ "$kib" -lt 1048576 ]; then
        line missing disk "$(tenths "$kib") free in $folder; a build takes up to 1 GiB. Free some space, or build in another folder" \
            "make BUILD=/roomy/folder"
    elif [ -n "$kib" ]; then
        line ok disk "$(tenths "$kib") free in $folder"
    fi
}
# command_line WORD...: prints a shell command that can be copied, in lines of at most 80 columns
command_line() { echo "$*" | fold -s -w 76 | sed '2,$s/^/    /; $!s/ *$/ \\/; s/^/  /'; }
other_systems() {
    echo "This is not Debian or Ubuntu. Install these packages with your package manager."
    echo "Fedora:"
    command_line dnf install gcc-c++ cmake perl cli11-devel boost-devel opencv-devel gtest-devel google-benchmark-devel gnuplot
    echo "Arch:"
    command_line pacman -S gcc cmake perl cli11 boost opencv gtest benchmark gnuplot
    echo "macOS:"
    command_line brew install cmake cli11 boost opencv googletest google-benchmark gnuplot
}
check_packages
if [ $install = no ]; then
    check_nvcc
    [ -z "$nvcc" ] || check_host_compiler
    check_gpu
    check_machine
    echo
    if [ $status = 0 ]; then
        echo "All requirements are installed$wrong."
    else
        echo "A requirement is missing: see above."
    fi
    if [ -n "$missing" ] && [ $apt = yes ]; then
        echo "To install the packages, type:"
        command_line "${sudo}apt-get install$missing"
    elif [ -n "$missing" ]; then
        other_systems
    fi
    exit $status
fi

# ---- --install -----------------------------------------------------------------------------------------------------

[ -z "$missing" ] && exit 0
before=$(cat "$build/not_installed" 2>/dev/null)
print_only=${NO_INSTALL:-0}
if [ "${before#*: }" = "$missing" ] && [ $status = 0 ] && [ "$print_only" = 0 ]; then exit 0; fi
answer="named: $missing"
# without WORDS: prints them, and ends without installing anything
without() {
    { mkdir -p "$build" && echo "$answer" >"$build/not_installed"; } 2>/dev/null
    echo "$1building the parts that do not need the missing packages."
    exit 0
}
echo "These packages are missing:$reasons"
if [ $apt = no ]; then
    other_systems
    without "Now "
fi
if [ "$print_only" = 0 ] && [ -n "$sudo" ]; then
    print_only=1
    if ! tool sudo >/dev/null; then
        echo "You are not root, and sudo is not installed: ask an administrator."
    elif [ $status = 1 ] && [ "$before" = "no: $missing" ]; then
        answer=$before
    elif [ "${CI:-}" = true ] && sudo -n true 2>/dev/null; then
        print_only=0 # on the runner of a CI service nobody can answer, and sudo asks for no password
    elif [ $status = 1 ] && [ -t 0 ] && [ -t 2 ]; then
        printf 'Install them with sudo apt-get? [y/N] ' >&2
        read -r reply
        case $reply in [yY]*) print_only=0 ;; *) answer="no: $missing" ;; esac
    fi
fi
if [ "$print_only" != 0 ]; then
    echo "To install them, type:"
    command_line "${sudo}apt-get update && ${sudo}apt-get install -y --no-install-recommends$missing"
    without "Now "
fi
echo "Installing them with ${sudo}apt-get."
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp) || exit 1
if { ${sudo}apt-get update && ${sudo}apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1 </dev/null; then
    echo "Installed."
    rm -f "$log"
else
    tail -5 "$log"
    rm -f "$log"
    without "The installation failed; "
fi
