#!/bin/sh
# mutants.sh [--test|--make] BUILD [PROGRAM[:LINE|:KIND]...]: plants one bug at a time into the right kernels, their launches and
# the checks of the programs, and tests whether the tests notice it. The default is all programs, with the sequels.
# excused.txt in a sample's folder lists the changes that no test on this device can notice, with the reason, as
# `mutant KIND LINE  #  REASON`. These do not count. --test leaves out the tests that only make check-all runs. --make runs
# only the checks of `make NN`. These test kernels, so it leaves out the changes of checks.
# Exit status: 0 if the tests notice 95 % or more, 1 if they notice fewer or if an excused.txt names a line that no program has,
# 3 if something is missing.
#
# All mutants of a program are compiled together, from a changed copy of its source in a temporary folder. Each change calls
# lab_mutant(K), and the environment variable LAB_MUTANT says which K is active.
. "$(dirname "$0")/../lib.sh"
by=all
case ${1:-} in --test | --make) by=${1#--} && shift ;; esac
build=${1:?mutants.sh BUILD [PROGRAM[:LINE|:KIND]...]}
of_checks='equal|nan-passes|[a-z]*-bound|first-only|half-check'
jobs=$(nproc 2>/dev/null || echo 2)

home_of() { ls -d "$top/${1%%_*}"_*/; }
source_of() { # source_of NN_stem: prints stem.cu in the folder NN_*, or else the .cu file there that is not a sequel
    [ -f "$(home_of "$1")${1#*_}.cu" ] && echo "$(home_of "$1")${1#*_}.cu" && return
    for file in "$(home_of "$1")"*.cu; do
        stem=${file##*/}
        [ -x "$build/cpu/${1%%_*}_${stem%.cu}" ] || echo "$file"
    done
}

# group KIND GROUP PROGRAM MUTANT: runs one group of a program's tests, and prints the first line with FAIL.
group() {
    case $2 in checks) script=checks.sh ;; *) script="sample.sh $2" ;; esac
    export LAB_MUTANT="$4" PATH="$all/bin:$PATH" TMPDIR="$folder"
    if [ "$2" = make ]; then
        timeout - "$all/$3/cpu/$3" >"$folder/run" 2>&1 || { echo "FAIL  $all/$3/cpu/$3" && return; }
        sh "$top/common/tools/one.sh" --checks "$all/$3/cpu/$3" "$all/$3/hazards/$3" >"$folder/run" 2>&1 && return 1
        sed -n '3s/^ */FAIL  /p' "$folder/run"
    else
        sh "$top/common/test"/$script "$all/$3/$1/$3" 2>&1 | grep -m 1 '^FAIL'
    fi
}

if [ "$build" = --one ]; then # mutants.sh --one FOLDER PROGRAM MUTANT LINE WORD...: runs the tests on one mutant
    all=$2 sample=$3 mutant=$4 place="$3:$5"
    shift 5
    why=$(awk -F'  #  ' -v change="mutant $*" '$1 == change { print $2; exit }' "$(home_of "$sample")excused.txt" 2>/dev/null)
    if [ -n "$why" ]; then echo "$place  $*  known: $why" && exit 0; fi # otherwise it would run all tests, which takes long
    groups=$all/$sample/groups
    if echo "$1" | grep -qxE "$of_checks"; then # the tests of the checks come first
        grep -E ' (twins|checks)$' "$groups" >"$folder/groups"
        grep -vE ' (twins|checks)$' "$groups" >>"$folder/groups"
        groups=$folder/groups
    fi
    while read -r seconds kind name; do
        export LAB_SECONDS=$((seconds + 10))
        failure=$(group "$kind" "$name" "$sample" "$mutant") || continue
        why=$(echo "$failure" | sed "s/^FAIL *//; s|$all/[^ ]*||; s/, wanted [0-9]: */:/")
        echo "$place  $*  killed by $kind.$name ($why)"
        exit 0
    done <"$groups"
    echo "$place  $*  SURVIVED"
    exit 0
fi

cudacpu=$build/cpu/cudacpu
if [ ! -x "$cudacpu" ] || [ ! -f "$build/liblab.a" ]; then
    echo "There is no CPU device in $build. Type make doctor to see what is missing." >&2
    exit 3
fi
shift
[ $# -gt 0 ] || set -- $(cd "$build/cpu" && ls -d [0-9]*)
build=$(realpath "$build")
all=$folder

# sample.sh gives each run two minutes. Many mutants loop endlessly, so this shorter `timeout` comes first in PATH.
mkdir "$folder/bin"
printf '#!/bin/sh\nshift\nexec %s "$LAB_SECONDS" "$@"\n' "$(command -v timeout)" >"$folder/bin/timeout"
chmod +x "$folder/bin/timeout"

# In its own object file, so that the hazard build does not report its reads of host memory.
cat >"$folder/mutant.cpp" <<'END'
#include <cstdlib>
bool lab_mutant(int k) { // a static in the function, because global variables of a sample may ask before main()
    static const int chosen = std::getenv("LAB_MUTANT") ? std::atoi(std::getenv("LAB_MUTANT")) : 0;
    return k == chosen;
}
END
${CXX:-c++} -O2 -c "$folder/mutant.cpp" -o "$folder/mutant.o" || exit 3
cat >"$folder/before.cu" <<'END'
#include <type_traits>
[[gnu::const]] __host__ __device__ bool lab_mutant(int k);
template <class Grid>
Grid lab_fewer(bool fewer, Grid grid) {
    if constexpr (std::is_same_v<Grid, dim3>) {
        if (fewer) --(grid.y > 1 ? grid.y : grid.x > 1 ? grid.x : grid.z);
        return grid;
    } else {
        return fewer && grid > 1 ? grid - 1 : grid;
    }
}
template <int k, class T, class U>
__device__ T lab_Add(T* p, U x) {
    if (!lab_mutant(k)) return atomicAdd(p, T(x));
    const T old = *p;
    return *p = old + T(x), old;
}
template <int k, class T, class U>
__device__ T lab_Inc(T* p, U most) {
    if (!lab_mutant(k)) return atomicInc(p, T(most));
    const T old = *p;
    return *p = old >= T(most) ? T(0) : old + 1, old;
}
template <int k, class T, class U>
__device__ T lab_Exch(T* p, U x) {
    if (!lab_mutant(k)) return atomicExch(p, T(x));
    const T old = *p;
    return *p = T(x), old;
}
template <int k, class T, class U, class V>
__device__ T lab_CAS(T* p, U expected, V x) {
    if (!lab_mutant(k)) return atomicCAS(p, T(expected), T(x));
    const T old = *p;
    if (old == T(expected)) *p = T(x);
    return old;
}
END

for sample in $(printf '%s\n' "$@" | cut -d: -f1 | sort -u); do
    source=$(source_of "$sample") && [ -f "$source" ] && [ -x "$build/cpu/$sample" ] || exit 3
    mkdir -p "$folder/$sample"
    {
        cat "$folder/before.cu"
        awk -v list="$folder/$sample/list" -f "$here/mutants.awk" "$source" "$source"
    } >"$folder/$sample/mutants.cu"
    for kind in hazards asan; do
        if [ $by = all ] || [ $kind = hazards ]; then echo "$sample $kind"; fi
    done
done >"$folder/builds"
echo "compiling $(wc -l <"$folder/builds") programs ..." >&2
export build top folder
xargs -L 1 -P "$jobs" sh -c '
    opencv=""
    grep -q opencv2 "$folder/$1/mutants.cu" &&
        opencv="-isystem /usr/include/opencv4 -isystem /usr/local/include/opencv4 -lopencv_core -lopencv_imgcodecs"
    cd "$folder/$1" && mkdir "$2" && "$build/cpu/cudacpu" mutants.cu -c -o $2.o --$2 -O0 -w -I"$top/common" $opencv || exit
    kinds=$2
    [ $2 = asan ] || { kinds="cpu hazards" && mkdir cpu; } # the same linking as in CMakeLists.txt
    for kind in $kinds; do
        flag=""
        [ $kind = cpu ] || flag=--$kind
        "$build/cpu/cudacpu" $2.o $flag -o $kind/$1 "$folder/mutant.o" "$build/liblab.a" -pthread $opencv || exit
    done' compile <"$folder/builds" || exit 3

echo "running the tests without a mutant ..." >&2
for sample in $(cut -d' ' -f1 "$folder/builds" | uniq); do
    tests="hazards.right cpu.twins cpu.orders cpu.run cpu.options cpu.checks"
    if [ $by != test ] || [ -d "$top/$sample" ]; then tests="$tests cpu.blocks cpu.threads cpu.sizes"; fi
    [ $by != all ] || tests="$tests asan.right cpu.blocks_more"
    [ $by != make ] || tests=cpu.make
    for test in $tests; do
        start=$(date +%s)
        LAB_SECONDS=300
        export LAB_SECONDS
        if failure=$(group "${test%.*}" "${test#*.}" "$sample" 0); then
            echo "$sample: $test fails without a mutant: $failure" >&2
            exit 3
        fi
        echo "$(($(date +%s) - start)) ${test%.*} ${test#*.}"
    done | sort -s -n >"$folder/$sample/groups" # the fastest first
    [ "$(wc -l <"$folder/$sample/groups")" = "$(echo "$tests" | wc -w)" ] || exit 3
    for wanted in "$@"; do
        line=${wanted#"$sample"}
        case $line in
        "") sed "s|^|$folder $sample |" "$folder/$sample/list" ;;
        :*) awk -v at="${line#:}" -v before="$folder $sample" '$2 == at || $3 == at { print before, $0 }' "$folder/$sample/list" ;;
        esac
    done
done | awk -v by=$by -v of_checks="^($of_checks)$" 'by != "make" || $5 !~ of_checks' >"$folder/mutants"
echo "$(wc -l <"$folder/mutants") mutants ..." >&2
xargs -r -L 1 -P "$jobs" sh "$0" --one <"$folder/mutants" | tee "$folder/lines"

stale=0
for home in $(for sample in $(cut -d' ' -f1 "$folder/builds" | uniq); do home_of "$sample"; done | uniq); do
    for source in "$home"*.cu; do
        awk -v list="$folder/list" -f "$here/mutants.awk" "$source" "$source" >"$folder/out"
        cat "$folder/list"
    done |
        cut -d' ' -f3- | tr -s ' ' >"$folder/changes" # in the form in which xargs passes them to --one
    sed -n 's/^mutant \(.*\)  #  .*/\1/p' "$home/excused.txt" 2>"$folder/err" | grep -vxF -f "$folder/changes" |
        sed "s|^|$(basename "$home")/excused.txt names what is no change of any program there: |" | grep . && stale=1
done
awk -v stale=$stale -v of_checks="^($of_checks)$" '
    function share(killed, of) { return sprintf("%d of %d noticed, %.1f %%", killed, of, of ? 100 * killed / of : 100) }
    {
        program = $1
        sub(/:.*/, "", program)
        if (!(program in all)) order[++programs] = program
        all[program] += 0
        if (/  known: [^ ]/) { ++known[program]; ++known_all; next }
        ++all[program]
        killed[program] += !/  SURVIVED$/
        if ($2 !~ of_checks) next
        kinds[$2]
        ++all[$2]
        killed[$2] += !/  SURVIVED$/
    }
    END {
        print ""
        for (i = 1; i <= programs; ++i) {
            print order[i] ": " share(killed[order[i]], all[order[i]]) "; " known[order[i]] + 0 " known"
            of += all[order[i]]
            sum += killed[order[i]]
        }
        for (kind in kinds) print "of the checks, " kind ": " share(killed[kind], all[kind])
        print share(sum, of) "; " known_all + 0 " known ones cannot be"
        exit stale || sum < 0.95 * of
    }' "$folder/lines"
