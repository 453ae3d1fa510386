# small_lab.sh: source it in a test that sets $files. It copies the lab's tools and these exercises, as they are
# committed, to $t/lab, with the checker of the lab's build folder. The copy has no git repository. Then it defines
# the functions of common/tools/exercises.sh. The test is left out if something is missing.
[ -f "$build/cpu/libexercise.a" ] || skip "there is no exercises' part of the CPU device (cmake --build $build --target ex_cpu)"
unset LC_ALL LC_MESSAGES LEARNING MAKEFLAGS MAKELEVEL BUILD EX RESET SHOW OF
export LANG=C.UTF-8 CMAKE=true NO_COLOR=1
lab=$t/lab program=$t/program
. "$top/common/tools/exercises.sh"
mkdir -p "$lab/build/cpu" "$lab/common/test" "$lab/common/cpu"
cp "$top/Makefile" "$lab"
cp -r "$top/common/cpu/driver" "$lab/common/cpu"
cp -r "$top/common/tools" "$top/common/first" "$top"/common/*.cuh "$top"/common/*.cpp "$lab/common"
cp -r "$top/common/test/lib.sh" "$top/common/test/exercises.sh" "$top/common/test/exercises" "$lab/common/test"
ln -s "$build/cpu/cudacpu" "$build/cpu/exercise.hpp" "$build/cpu/exercise.hpp.gch" "$build"/cpu/lib*.a "$lab/build/cpu"
printf 'CMAKE_HOME_DIRECTORY:INTERNAL=%s\nCMAKE_CACHEFILE_DIR:INTERNAL=%s\n' "$lab" "$lab/build" >"$lab/build/CMakeCache.txt"
for file in $files; do
    mkdir -p "$lab/${file%/*}"
    cp "$top/${file%/*}/hints.txt" "$lab/${file%/*}"
    committed "$file" "$lab/$file" >"$t/source" || skip "$file as it is committed is nowhere"
done
