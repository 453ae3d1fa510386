#!/bin/sh
# places.sh SOURCE: builds the lab from a folder without write permission, into a folder whose path has spaces, quotes and
# non-ASCII letters. The user is an ordinary one without a home folder, and the temporary files are on another file system.
# Exit status: 0 if the build works, 1 if not.
. "$(dirname "$0")/lib.sh"
if [ "$1" != --inside ]; then
    place="$folder/a b ü'c"
    mkdir -p "$place/source" "$place/made"
    copy "$place/source" || exit 1
    user="env HOME=/nonexistent"
    if [ "$(id -u)" = 0 ]; then
        chown -R 65534:65534 "$folder"
        user="setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent"
    fi
    chmod -R a-w "$place/source"
    $user sh "$place/source/common/test/places.sh" --inside "$place"
    exit
fi

cd "$2/made" || exit 1
source="$2/source" build="$2/made/b d é'f"
shared=$(mktemp -d -p /dev/shm 2>/dev/null) && TMPDIR=$shared && export TMPDIR
trap 'rm -rf "$shared" "$folder"' EXIT
patience=900 sample=$(cd "$source" && ls -d 0[0-9]_* | sed -n 3p)
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
ends 0 cmake -S "$source" -B "$build" -DLAB_GPU=OFF -DCMAKE_BUILD_TYPE=Debug
ends 0 cmake --build "$build" --parallel 2 --target "cpu_$sample"
ends 0 "$build/cpu/$sample"
ends 0 "$build/cpu/cudacpu" tiny.cu -o "tiny program's"
ends 0 "./tiny program's"
ends 0 sh "$source/common/tools/run.sh" "$build" cpu
ends 0 make -C "$source" NO_INSTALL=1 JOBS=2 BUILD="$build/again" \
    CMAKE_FLAGS="-DLAB_GPU=OFF -DLAB_CPU=OFF -DCMAKE_BUILD_TYPE=Debug -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON"
ends 0 make -C "$source" doctor
find "$source" -newer tiny.cu >"$folder/out"
must "nothing is written into the source" test ! -s "$folder/out"
finish
