#!/bin/sh
# places.sh SOURCE: is the lab built from a folder that nobody may write to, into one with spaces, quotes and letters
# beyond ASCII in its path, by an ordinary user without a home, with temporary files on another file system?
# Exit status: 0 yes, 1 no.
set -u
if [ "$1" != --inside ]; then
    source=$(cd "$1" && pwd) || exit 1
    top=$(mktemp -d) || exit 1
    trap 'chmod -R u+w "$top"; rm -rf "$top"' EXIT
    trap 'exit 1' HUP INT TERM
    place="$top/a b ü'c"
    mkdir -p "$place/source" "$place/made"
    (cd "$source" && { git ls-files -zco --exclude-standard 2>/dev/null ||
        find . \( -name .git -o -name 'build*' \) -prune -o -type f -print0; } | tar -cf - --null -T -) |
        tar -xf - -C "$place/source" || exit 1
    user="env HOME=/nonexistent"
    if [ "$(id -u)" = 0 ]; then
        chown -R 65534:65534 "$top"
        user="setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent"
    fi
    chmod -R a-w "$place/source"
    $user sh "$place/source/common/test/places.sh" --inside "$place"
    exit
fi

cd "$2/made" || exit 1
source="$2/source" build="$2/made/b d é'f"
shared=$(mktemp -d -p /dev/shm 2>/dev/null) && TMPDIR=$shared && export TMPDIR
trap 'rm -rf "$shared"' EXIT
trap 'exit 1' HUP INT TERM
failed=0
must() { # must STATUS COMMAND...
    status=$1
    shift
    "$@" >out 2>&1
    got=$?
    if [ $got = "$status" ]; then echo "ok: $*"; return; fi
    echo "FAIL: status $got, wanted $status: $*"
    tail -20 out
    failed=1
}
cat >tiny.cu <<'END'
#include <cstdio>
__global__ void kernel(int* p) { *p = 42; }
int main() {
    int* p;
    cudaMallocManaged(&p, sizeof *p);
    kernel<<<1, 1>>>(p);
    cudaDeviceSynchronize();
    printf("%d\n", *p);
    cudaFree(p);
}
END
must 0 cmake -S "$source" -B "$build" -DLAB_GPU=OFF -DLAB_CHECKED=OFF -DCMAKE_BUILD_TYPE=Debug
must 0 cmake --build "$build" --parallel 2 --target cpu_03_dot_shared
must 0 "$build/cpu/03_dot_shared"
must 0 "$build/cpu/cudacpu" tiny.cu -o "tiny program's"
must 0 "./tiny program's"
must 0 sh "$source/common/run.sh" "$build" cpu
must 0 make -C "$source" NO_INSTALL=1 JOBS=2 BUILD="$build/again" \
    CMAKE_FLAGS="-DLAB_GPU=OFF -DLAB_CPU=OFF -DCMAKE_BUILD_TYPE=Debug -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON"
must 0 make -C "$source" doctor
if [ -n "$(find "$source" -newer tiny.cu)" ]; then
    echo "FAIL: written into the source: $(find "$source" -newer tiny.cu)"
    failed=1
fi
exit $failed
