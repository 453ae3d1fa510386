#!/bin/sh
# doctor_test.sh: tests that doctor.sh gives each piece of advice exactly when its cause is present. Each case simulates a
# machine: a folder replaces /, and scripts replace nvcc, nvidia-smi, g++ and other tools.
# Exit status: 0 if all cases pass, 1 if not.
set -u
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
chmod 755 "$folder" # one case runs as another user
cp "$(dirname "$0")/../tools/doctor.sh" "$folder"
shell=$(command -v sh)
root=$folder/root bin=$folder/bin
failed=0 cases=0

mkdir "$folder/tools"
for tool in awk cat dirname fold grep head ls mkdir mktemp readlink rm sed sh sort stat tail tr; do
    ln -s "$(command -v $tool)" "$folder/tools/$tool"
done

put() { mkdir -p "$root/${1%/*}" && printf '%s\n' "$2" >"$root/$1"; } # put FILE TEXT
fake() { printf '#!%s\n%s\n' "$shell" "$2" >"$bin/$1" && chmod 755 "$bin/$1"; } # fake TOOL SCRIPT
lack() { echo "$1" >>"$folder/lacking"; }                                       # marks a header as missing
build_has() { mkdir -p "$folder/build" && echo "$1" >"$folder/build/gpu_architectures"; } # in CMake's notation
gpu() { # gpu NAME CAPABILITY CUDA: the output of nvidia-smi
    fake nvidia-smi "case \$* in
-L) echo 'GPU 0: $1 (UUID: GPU-11-aa)' ;;
--query*) echo $2 ;;
'') echo '| NVIDIA-SMI 580.1   Driver Version: 580.1   CUDA Version: $3 |' ;;
esac"
}
nvcc() { # nvcc FOLDER VERSION
    mkdir -p "$1/bin" "$1/include/crt"
    printf '#!%s\ncase $1 in --version) echo "release %s, V1";; *) printf "compute_%%s\\n" 75 80 90 120;; esac\n' \
        "$shell" "$2" >"$1/bin/nvcc"
    chmod 755 "$1/bin/nvcc"
    echo '#if __GNUC__ > 13' >"$1/include/crt/host_config.h"
}

# A complete machine: created once, and copied for each case
machine() {
    rm -rf "$root" "$bin" "$folder/build" "$folder/lacking" "$folder/include"
    variables="DISPLAY=:0" as="" doctors=""
    if [ -d "$folder/whole" ]; then
        cp -a "$folder/whole/." "$folder"
        return
    fi
    mkdir -p "$bin"
    : >"$folder/lacking"
    fake c++ "read -r line; file=\${line#*<}; grep -qx \"\${file%>}\" \"\${0%/*}/../lacking\" || echo \"# 1 \\\"/inc/\${file%>}\\\" 1\""
    fake g++ "echo 12.2.0"
    fake cmake "echo cmake version 3.25.1"
    fake id "echo 0"
    fake df "printf '%s\n' head '/dev/sda 99 9 50000000 9% /'"
    fake perl "echo /usr/bin/perl" && fake gnuplot "" && fake apt-get "echo apt-get \$* >>\"\${0%/*}/../installed\""
    nvcc "$folder" 12.8
    gpu "NVIDIA H200" 9.0 12.8
    build_has 90-real
    chmod 777 "$folder/build"
    for file in nvidia0 nvidiactl nvidia-uvm; do put dev/$file "" && chmod 666 "$root/dev/$file"; done
    put proc/version "Linux version 6.1"
    put proc/meminfo "MemAvailable:   9000000 kB"
    put proc/driver/nvidia/params "RmProfilingAdminOnly: 0"
    put proc/self/status "CapEff:	0000000000000000"
    put sys/bus/pci/devices/0/vendor 0x10de
    mkdir "$folder/whole"
    cp -a "$root" "$bin" "$folder/build" "$folder/lacking" "$folder/include" "$folder/whole"
}
remove() { rm "$bin/$1"; }
no_driver() { rm -r "$root/dev" "$bin/nvidia-smi"; }

# The fake tools come first in PATH. nvcc is in $folder/bin like the others, and its header is in $folder/include.
doctor() {
    $as env -i PATH="$bin:$folder/tools" LAB_DOCTOR_ROOT="$root" BUILD="$folder/build" $variables \
        "$shell" "$folder/doctor.sh" $doctors >"$folder/printed" 2>&1 </dev/null
    status=$?
    # Joins the lines of each check. Lines of more than 80 columns go to $folder/wide, except the commands after "Type:".
    awk -v wide="$folder/wide" 'BEGIN { indent = sprintf("%29s", "") }
        length($0) > 80 && !/^ *Type: / && (/^(ok|missing|wrong|optional) / ||
            (substr($0, 1, 29) == indent && substr($0, 30) ~ /^[^ ]+ /)) { print >>wide }
        NR > 1 && substr($0, 1, 29) == indent { all = all (/^ *Type: / ? ". " : " ") substr($0, 30); next }
        NR > 1 { print all }
        { all = $0 }
        END { if (NR) print all }' "$folder/printed" >"$folder/out"
    return $status
}
fail() {
    echo "FAIL  $1"
    sed 's/^/      | /' "$folder/out"
    failed=1
}
# advice STATUS LINE COMMAND...: a complete machine, changed by the command, must get a line that matches LINE (a regex)
advice() {
    wanted_status=$1 wanted=$2
    shift 2
    cases=$((cases + 1))
    machine
    "$@"
    doctor
    status=$?
    [ $status = "$wanted_status" ] || fail "status $status, wanted $wanted_status: $*"
    grep -qE "^$wanted\$" "$folder/out" || fail "no line '$wanted': $*"
    if grep -qE "^$wanted\$" "$folder/all_ok"; then fail "the line '$wanted' needs no cause: $*"; fi
}

machine
if ! doctor; then fail "status $? where nothing is missing"; fi
cp "$folder/out" "$folder/all_ok"
if sed '/^$/,$d' "$folder/out" | grep -v '^ok '; then fail "a line that is not ok where nothing is missing"; fi
for check in "C\+\+ compiler" CMake Perl CLI11 Boost.Context OpenCV GoogleTest "Google Benchmark" gnuplot nvcc \
    "g\+\+ for nvcc" GPU "driver and nvcc" "GPU in the build" "managed memory" "profiler counters" display memory disk; do
    grep -qE "^ok +$check  +[^ ]" "$folder/out" || fail "no line 'ok $check'"
done
grep -qx "All requirements are installed." "$folder/out" || fail "no last line"

# ---- packages
install="Type: apt-get install"
advice 1 "missing +C\+\+ compiler .*$install g\+\+" remove c++
advice 1 "missing +CMake .*$install cmake" remove cmake
advice 1 "missing +CMake .*is 3.22.1, and the lab needs 3.24 .*Type: pip install cmake" fake cmake "echo cmake version 3.22.1"
advice 1 "missing +Perl .*$install perl" remove perl
advice 1 "missing +Perl .*$install perl" fake perl "exit 2"
advice 1 "missing +CLI11 .*$install libcli11-dev" lack CLI/Version.hpp
advice 1 "missing +Boost.Context .*$install libboost-context-dev" lack boost/context/detail/fcontext.hpp
advice 1 "missing +OpenCV .*$install libopencv-dev" lack opencv2/core/version.hpp
advice 1 "A requirement is missing: see above." lack opencv2/core/version.hpp
advice 0 "optional +GoogleTest .*$install libgtest-dev" lack gtest/gtest_prod.h
advice 0 "optional +Google Benchmark .*$install libbenchmark-dev" lack benchmark/benchmark.h
advice 0 "optional +gnuplot .*$install gnuplot-nox" remove gnuplot
advice 0 "  apt-get install gnuplot-nox" remove gnuplot
user() { fake id "echo 1000" && remove gnuplot; }
advice 0 "optional +gnuplot .*Type: sudo apt-get install gnuplot-nox" user
fedora() { remove apt-get && remove gnuplot; }
advice 0 "optional +gnuplot .*Debian calls it gnuplot-nox" fedora
advice 0 "  dnf install gcc-c.*" fedora

# ---- nvcc and its compiler
elsewhere() { remove nvcc && nvcc "$root/usr/local/$1" 12.4; }
advice 0 "optional +nvcc .*$install nvidia-cuda-toolkit" remove nvcc
advice 0 "optional +nvcc .*your shell does not. Type: export PATH=.*/usr/local/cuda/bin:\\\$PATH" elsewhere cuda
advice 0 "optional +nvcc .*make does not find .*Type: export PATH=.*/usr/local/cuda-12.4/bin:\\\$PATH" elsewhere cuda-12.4
advice 0 "wrong +nvcc .*does not run.*Type: make CMAKE_FLAGS=-DLAB_GPU=OFF" fake nvcc "exit 127"
without() { remove nvcc && remove apt-get; }
advice 0 "optional +nvcc .*https://developer.nvidia.com/cuda-downloads" without
advice 0 "wrong +g\+\+ for nvcc +g\+\+ is 14.1.0, nvcc 12.8 supports up to 13. $install g\+\+-13; make clean; CUDAHOSTCXX=g\+\+-13 make" \
    fake g++ "echo 14.1.0"
advice 0 "All requirements are installed, but something does not work: see above." fake g++ "echo 14.1.0"
other_host() { fake g++-9 "echo 14.0.0" && variables="DISPLAY=:0 CUDAHOSTCXX=g++-9"; }
advice 0 "wrong +g\+\+ for nvcc +g\+\+-9 is 14.0.0.*" other_host

# ---- no GPU, with the reason
no_card() { no_driver && rm -r "$root/sys"; }
advice 0 "optional +GPU +no NVIDIA device and no driver .*run on the CPU device" no_card
advice 0 "wrong +GPU .*driver is not loaded \(no /dev/nvidiactl\).*Type: sudo modprobe nvidia" no_driver
container() { no_driver && : >"$root/.dockerenv"; }
advice 0 "wrong +GPU .*container.*Type: docker run --gpus all" container
advice 0 "wrong +GPU .*nvidia-smi is missing. Package: .*" remove nvidia-smi
advice 0 "wrong +GPU .*prints: Driver/library version mismatch.*Type: sudo reboot" \
    fake nvidia-smi "echo Driver/library version mismatch; exit 18"
advice 0 "wrong +GPU .*prints: No devices were found.*Type: sudo reboot" fake nvidia-smi "echo No devices were found"
forbid() { # forbid GROUP: runs as nobody, because root may open every file
    chmod 000 "$root/dev/nvidia-uvm"
    fake stat "echo $1"
    [ "$(id -u)" != 0 ] || as="setpriv --reuid=65534 --regid=65534 --clear-groups"
}
if [ "$(id -u)" != 0 ] || setpriv --reuid=65534 --regid=65534 --clear-groups cat "$folder/doctor.sh" >/dev/null 2>&1; then
    advice 0 "wrong +GPU +you have no permission to open .*/dev/nvidia-uvm. Type: sudo usermod -aG video .*" forbid video
    advice 0 "wrong +GPU +you have no permission to open .*/dev/nvidia-uvm. Type: sudo chmod a\+rw .*/dev/nvidia\*" forbid root
else
    echo "left out: what /dev/nvidia* forbids, since root cannot become another user here (setpriv)"
fi
visible() { variables="DISPLAY=:0 CUDA_VISIBLE_DEVICES=$1"; }
for value in "" -1 1 7,0 GPU-22 none; do
    advice 0 "wrong +GPU +hidden by CUDA_VISIBLE_DEVICES='$value' .*Type: unset CUDA_VISIBLE_DEVICES" visible "$value"
done
for value in 0 0,7 GPU-11; do
    machine
    visible $value
    doctor
    diff "$folder/all_ok" "$folder/out" || fail "CUDA_VISIBLE_DEVICES=$value hides nothing"
done
wsl() { put proc/version "Linux version 5.15 (Microsoft@Microsoft.com) WSL2" && rm -r "$root/dev" && put dev/dxg ""; }
no_dxg() { wsl && rm "$root/dev/dxg" && fake nvidia-smi "exit 9"; }
no_smi() { wsl && remove nvidia-smi; }
advice 0 "optional +GPU +Windows shows WSL no GPU; .*Type: wsl --update" no_dxg
advice 0 "optional +GPU +Windows shows WSL no GPU; .*Type: wsl --update" no_smi

# ---- a GPU with a fault
advice 0 "wrong +driver and nvcc .*supports CUDA 11.8, nvcc is 12.8 \(error 35\).*Type: make run DEVICE=cpu" gpu H200 9.0 11.8
advice 0 "optional +driver and nvcc .*supports CUDA 12.4, nvcc is 12.8: no PTX \(error 222\).*CMAKE_CUDA_ARCHITECTURES=native" \
    gpu H200 9.0 12.4
advice 0 "ok +driver and nvcc .*supports CUDA 12.10, nvcc is 12.8" gpu H200 9.0 12.10
mend="Type: make clean; make CMAKE_FLAGS=-DCMAKE_CUDA_ARCHITECTURES"
advice 0 "wrong +GPU in the build .*has 9.0, the build is for sm_80 \(error 209\). $mend=90" build_has 80-real
advice 0 "wrong +GPU in the build .*has 8.0, the build is for sm_90 \(error 209\). $mend=80" gpu A100 8.0 12.8
advice 0 "wrong +GPU in the build .*the build is for compute_120 \(.*$mend=90" build_has 120-virtual
advice 0 "wrong +GPU in the build .*the build is for sm_100a \(.*$mend=90" build_has 100a-real
advice 0 "ok +GPU in the build .*the build is for compute_75" build_has 75-virtual
advice 0 "ok +GPU in the build .*the build is for sm_80 compute_80" build_has 80
advice 0 "ok +GPU in the build .*the build is for sm_90a" build_has 90a-real
advice 0 "optional +GPU in the build .*no GPU build in .*Type: make" rm -r "$folder/build"
advice 0 "wrong +GPU and nvcc +nvcc 12.8 does not compile for 6.1.*cuda-toolkit-archive" gpu "GTX 1080" 6.1 12.8
advice 0 "optional +managed memory .*before cudaDeviceSynchronize.*" wsl
advice 0 "ok +GPU +GTX 1080, compute capability 6.1" gpu "GTX 1080" 6.1 12.8
admin_only() { put proc/driver/nvidia/params "RmProfilingAdminOnly: 1"; }
advice 0 "optional +profiler counters .*ERR_NVGPUCTRPERM.*NVreg_RestrictProfilingToAdminUsers=0 .*" admin_only
machine
admin_only
put proc/self/status "CapEff:	000001ffffffffff"
doctor
diff "$folder/all_ok" "$folder/out" || fail "root may read the counters"

# ---- other checks
advice 0 "optional +display +06_shared_image --show needs one; .*--out picture.png.*" eval variables=
advice 0 "wrong +memory +1.4 GiB free.*Type: make JOBS=1" put proc/meminfo "MemAvailable: 1500000 kB"
other_user="setpriv --reuid=65534 --regid=65534 --clear-groups"
forbidden() { chmod 755 "$folder/build" && as=$other_user; }
if $other_user true 2>/dev/null; then
    advice 1 "missing +build folder +you cannot write to .*/build. .*Type: make BUILD=/elsewhere" forbidden
fi
advice 1 "missing +disk +0.4 GiB free in .*Type: make BUILD=.*" fake df "printf '%s\n' head '/dev/sda 99 9 500000 9% /'"

# ---- --install
# installs STATUS LINE COMMAND...: the same for doctor.sh --install; with an empty LINE it must print nothing
installs() {
    wanted=$1
    shift
    cases=$((cases + 1))
    machine
    rm -f "$folder/installed"
    doctors=--install
    "$@"
    doctor || fail "status $? of --install: $*"
    touch "$folder/installed"
    if [ -z "$wanted" ]; then
        [ ! -s "$folder/out" ] || fail "--install is not quiet: $*"
    else
        cat "$folder/out" "$folder/installed" | grep -qE "^$wanted\$" || fail "--install: no line '$wanted': $*"
    fi
}
installs "" true
installs "" gpu H200 6.1 11.8
installs "  gnuplot-nox: plots .*" remove gnuplot
installs "apt-get install -y --no-install-recommends gnuplot-nox" remove gnuplot
installs "Installed." remove gnuplot
two() { lack CLI/Version.hpp && remove perl; }
installs "apt-get install -y --no-install-recommends perl libcli11-dev" two
broken() { remove perl && fake apt-get "echo no network; exit 100"; }
installs "no network" broken
installs "The installation failed; .*" broken
only_say() { remove perl && variables=NO_INSTALL=1; }
installs "To install them, type:" only_say
[ ! -s "$folder/installed" ] || fail "NO_INSTALL=1 installs"
no_sudo() { remove perl && fake id "echo 1000"; }
installs "You are not root, and sudo is not installed: ask an administrator." no_sudo
[ ! -s "$folder/installed" ] || fail "installs without being root"
installs "  dnf install .*" fedora

# The script calls sudo only after a yes on a terminal, and never for optional packages alone.
many() { lack CLI/Version.hpp && lack opencv2/core/version.hpp && remove perl && remove gnuplot; }
sudoer() { "$@" && fake id "echo 1000" && fake sudo 'PATH=$PATH exec "$@"'; }
again() { # runs doctor.sh --install again on the same machine
    : >"$folder/installed"
    doctors=--install
    doctor
}
installs "  sudo apt-get update && sudo apt-get install -y --no-install-recommends perl .*" sudoer many
[ ! -s "$folder/installed" ] || fail "sudo without a terminal"
sed -n '/, type:$/,/^[^ ]/{/^ /p;}' "$folder/printed" | env -i PATH="$bin:$folder/tools" "$shell"
grep -q ' perl libcli11-dev libopencv-dev gnuplot-nox$' "$folder/installed" || fail "the printed command fails when it is copied"
[ "$(awk 'length > 80' "$folder/printed" | wc -l)" = 0 ] || fail "more than 80 columns"
on_a_runner() { many && variables=CI=true && fake sudo "[ \$1 != -n ] || exit $1; PATH=\$PATH exec \"\$@\"" && fake id "echo 1000"; }
installs "apt-get install -y --no-install-recommends perl libcli11-dev .*" on_a_runner 0
installs "To install them, type:" on_a_runner 1
[ ! -s "$folder/installed" ] || fail "sudo that asks for a password, on the runner of a CI service"
installs "  gnuplot-nox: plots .*" sudoer remove gnuplot
again
[ ! -s "$folder/out" ] || fail "optional packages are named twice"
if tool=$(command -v script); then
    answers() { # answers WORD LINE: types WORD on a terminal; LINE must then be printed
        echo "env -i PATH='$bin:$folder/tools' LAB_DOCTOR_ROOT='$root' BUILD='$folder/build' '$shell' '$folder/doctor.sh' --install" >"$folder/typed"
        : >"$folder/installed"
        { sleep 0.5 && echo "$1" && sleep 0.5; } | "$tool" -qec "sh '$folder/typed'" /dev/null | tr -d '\r' >"$folder/out"
        cat "$folder/out" "$folder/installed" | grep -qE "$2" || fail "no line '$2' after the answer $1"
    }
    machine
    sudoer many
    answers n '^Now building the parts that do not need the missing packages[.]$'
    answers y '^  sudo apt-get update'
    ! grep -q 'y/N' "$folder/out" || fail "it asks twice"
    [ ! -s "$folder/installed" ] || fail "sudo after a no"
    remove cmake # another missing package asks another question
    answers y '^apt-get install .* cmake perl '
fi

[ ! -s "$folder/wide" ] || { sort -u "$folder/wide" >"$folder/out" && fail "lines of more than 80 columns"; }
[ $failed = 1 ] || echo "$cases cases passed"
exit $failed
