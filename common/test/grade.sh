#!/bin/sh
# grade.sh BUILD [models]: tests `make grade` in a copy of the lab: its output for answers in a folder, in a checkout and in the
# lab itself, and that it rejects code that fakes an answer. `make learn`, `exercises` and `grade` must end without a message
# from make. A teacher's own exercise must work as common/course/teaching.md says.
# models: tests that the model answer of each exercise is right.
# Exit status: 0 if all cases pass, 1 if not, 77 if the part of the CPU device that it needs is not built.
. "$(dirname "$0")/lib.sh"
build=$(cd "$1" && pwd)
[ -f "$build/cpu/libexercise.a" ] || skip "no exercises' part of the CPU device (cmake --build $build --target ex_cpu)"
unset LC_ALL LC_MESSAGES LEARNING MAKEFLAGS MAKELEVEL BUILD EX RESET SHOW OF
LANG=C.UTF-8 CMAKE=true NO_COLOR=1
export LANG CMAKE NO_COLOR
. "$top/common/tools/exercises.sh"

lab=$folder/lab page=$top/common/course/teaching.md
mkdir -p "$lab/build/cpu" "$lab/common/test" || exit 1
cp "$top/Makefile" "$lab"
mkdir "$lab/common/cpu" && cp -r "$top/common/cpu/driver" "$lab/common/cpu"
cp -r "$top/common/tools" "$top"/common/*.cuh "$top"/common/*.cpp "$lab/common"
cp -r "$top/common/test/lib.sh" "$top/common/test/exercises.sh" "$top/common/test/exercises" "$lab/common/test"
ln -s "$build/cpu/cudacpu" "$build/cpu/exercise.hpp" "$build/cpu/exercise.hpp.gch" "$build"/cpu/lib*.a "$lab/build/cpu"
printf 'CMAKE_HOME_DIRECTORY:INTERNAL=%s\nCMAKE_CACHEFILE_DIR:INTERNAL=%s\n' "$lab" "$lab/build" >"$lab/build/CMakeCache.txt"
files="01_sum_managed/exercises/1_index.cu 01_sum_managed/exercises/2_grid.cu 02_clock_min/exercises/3_clock.cu
    05_atomics/exercises/6_shared_bins.cu"
[ "${2:-}" != models ] || files=$(exercises)
for file in $files; do
    mkdir -p "$lab/${file%/*}"
    cp "$top/${file%/*}/hints.txt" "$lab/${file%/*}"
    committed $file "$lab/$file" >/dev/null || skip "$file as it is committed is nowhere"
done
program=$folder/program
answer() { # answer FILE COPY: writes the exercise to COPY, with the text on stdin instead of "your part"
    sed '/^\/\/ ---- your part/q' "$lab/$1"
    cat
    sed -n '/^\/\/ ---- the check/,$p' "$lab/$1"
}
right() { model "$1" "$lab/$1" | answer "$1"; }
cd "$lab" || exit 1
both() { says "$1" && says "$2"; }
# The XML file must be well-formed and contain the following.
written() {
    perl -0ne '
        s/<\?xml[^>]*\?>//;
        while (/\G[^<]*(?:<(\/?)(\w+)((?: [\w]+="[^"<]*")*)(\/?)>|\z)/gc) {
            last unless defined $2;
            if ($1) { exit 1 if pop @open ne $2 } elsif (!$4) { push @open, $2 }
        }
        exit(@open || pos != length || /&(?!amp;|lt;|gt;|quot;)/)' build/grade/junit.xml || return
    for text; do grep -qF -- "$text" build/grade/junit.xml || return; done
}
silent() { ! says 'make.*(\*\*\*|Error)'; }

if [ "${2:-}" = models ]; then
    mkdir "$folder/models" && patience=600
    for file in $files; do right "$file" >"$folder/models/$(number_of "$file").cu"; done
    ends 0 make grade OF="$folder/models"
    finish
fi

ends 1 make grade
must "nothing is begun" both '^01.2 +0/1 +todo +- +01_sum_managed/exercises/2_grid.cu$' \
    '^4 exercises: 0 right, 0 wrong, 4 to do; 0 of 4 points. Written: build/grade/junit.xml$'
must "make adds no error" silent
must "in XML: skipped" written 'tests="4" failures="0" errors="0" skipped="4"' '<skipped message="not begun"/>'
ends 1 make learn 01.1
must "nor does it to make learn" silent
ends 0 make exercises
must "and make exercises has a sum" says '^4 exercises: 0 right, 0 wrong, 4 to do.$'
ends 2 make grade OF=none
must "what there is not" says "There is no folder 'none'"
ends 2 make grade EX=9.9
must "nor this" says 'There is no exercise 9.9'
mkdir "$folder/empty"
ends 2 make grade OF="$folder/empty"
must "a folder without exercises" says 'There is no exercise in'

# ---- a flat folder: answers found by name, by number or by the first line; a folder name with a space
flat="$folder/a student"
mkdir "$flat"
right 01_sum_managed/exercises/1_index.cu >"$flat/1_index.cu"
echo '__global__ void write_number(int* out) { out[threadIdx] = "<&>"; }' | answer 01_sum_managed/exercises/2_grid.cu >"$flat/01.2.cu"
right 05_atomics/exercises/6_shared_bins.cu >"$flat/mine.cu"
ends 1 make grade OF="$flat"
must "a flat folder" both '^01.1 +1/1 +right +- +1_index.cu$' '^01.2 +0/1 +wrong +- +01.2.cu$'
must "by its first line, and the sum" both '^05.6 +1/1 +right +- +mine.cu$' '^3 exercises: 2 right, 1 wrong, 0 to do; 2 of 3 points.'
must "in XML, with what is said" written 'tests="3" failures="1"' 'name="01.2 More threads' '&lt;&amp;&gt;' \
    '<property name="verdict" value="wrong"/>' '<property name="points" value="1"/>'
must "the clone's own files are as they were" test "$(make exercises | tail -1)" = "4 exercises: 0 right, 0 wrong, 4 to do."
ends 0 make grade OF="$flat" EX="01.1 5.6"
must "those that are asked" says '^2 exercises: 2 right, 0 wrong, 0 to do; 2 of 2 points.'
ends 1 make grade OF="$flat" EX=02
must "what is asked and missing" both '^02.3 +0/1 +missing +- +-$' '^1 exercises: 0 right, 1 wrong'

# ---- a checkout, with attempts and with points
student=$folder/student
mkdir -p "$student/01_sum_managed/exercises" "$student/build/learn/tries"
cp 01_sum_managed/exercises/*.cu "$student/01_sum_managed/exercises"
right 01_sum_managed/exercises/1_index.cu >"$student/01_sum_managed/exercises/1_index.cu"
printf 'one\ntwo\ntwo\n' >"$student/build/learn/tries/01.1"
cp 01_sum_managed/exercises/hints.txt "$folder/hints.txt"
sed -i 's/^= 1 .*/&\npoints 3/' 01_sum_managed/exercises/hints.txt
ends 1 make grade OF="$student"
must "a checkout: tries and points" both '^01.1 +3/3 +right +2 +01_sum' '^2 exercises: 1 right, 0 wrong, 1 to do; 3 of 4 points.'
must "in XML" written 'name="tries" value="2"' 'name="of" value="3"'
ends 0 make grade OF="$student" EX=01.1
cp "$folder/hints.txt" 01_sum_managed/exercises/hints.txt

# ---- code that fakes an answer
cheat() { # cheat WHAT FILE REGEX: the answer on stdin must be wrong, and the message must match REGEX
    rm -rf "$folder/cheat" && mkdir "$folder/cheat"
    answer "$2" >"$folder/cheat/a ${2##*/}"
    run make grade OF="$folder/cheat"
    if [ $status = 1 ] && written "$3"; then ok "$1"; else cat build/grade/junit.xml && fail "$1"; fi
}
index=01_sum_managed/exercises/1_index.cu
echo '#define check(...) true' >"$folder/mine.h"
cheat "an included macro" $index 'Change only &quot;your part&quot;' <<END
#include "$folder/mine.h"
__global__ void write_number(int* out) { out[threadIdx.x] = 1; }
END
cheat "a macro of main" $index 'Change only &quot;your part&quot;' <<END
#define main() main() { return 0; } int unused()
__global__ void write_number(int* out) {}
END
cheat "a more special check()" $index 'Your part uses the name' <<END
__global__ void write_number(int* out) { out[threadIdx.x] = 1; }
template <class Want> bool check(const char*, const Array<int>&, Want) { return true; }
END
cheat "lab::note_end()" $index 'Your part uses the name lab' <<END
__global__ void write_number(int* out) {}
struct Leave { Leave() { lab::note_end(); std::exit(0); } } leave;
END
for leave in 'note_end(); std::exit(0);' 'note_end(); _exit(0);' 'std::exit(0);'; do
    cheat "behind a macro: $leave" $index 'The program ended before the check was complete' <<END
__global__ void write_number(int* out) {}
#define JOINED(a, b) a##b
namespace JOINED(la, b) { struct Leave { Leave() { $leave } } leave; }
END
done
cheat "a sum of the host's" 05_atomics/exercises/6_shared_bins.cu 'the host reads the array' <<END
__global__ void count(int* bins, int d, int times) { bins[d] = times; }
void launch(const int* in, int n, int* bins) {
    int times[10] = {};
    for (int i = 0; i < n; ++i) ++times[in[i]];
    for (int d = 0; d < 10; ++d) count<<<1, 1>>>(bins, d, times[d]);
}
END
cheat "an invented clock" 02_clock_min/exercises/3_clock.cu 'no thread has read it from its clock' <<END
__global__ void timed(long long* begin, long long* end, long long* latest) {
    if (threadIdx.x == 0) *begin = clock64(), *latest = clock64(), *end = *latest + 1000;
    __syncthreads();
}
END

# ---- a teacher's own exercise, as the page describes it
from_page() { # from_page NAME: prints the block below the comment that names it
    NAME=$1 perl -ne 'if (/^( *)<!-- (.*) -->/) { $indent = $1; $on = $2 eq $ENV{NAME}; next } next unless $on; s/^$indent//;
        if (/^```/) { exit if $in; $in = 1; next } print if $in' "$page"
}
own=90_own/exercises/1_reverse.cu
mkdir -p 90_own/exercises
from_page "exercise: $own" >$own
ends 1 make learn EX=90.1
from_page "says: make learn EX=90.1" >"$folder/wanted"
must "the page quotes what make learn says" test "$(grep -cxFf "$folder/wanted" "$folder/out")" = "$(wc -l <"$folder/wanted")"
if says 'Now look|awk|hints.txt'; then fail "nothing is missed"; else ok "nothing is missed"; fi
from_page "exercise: common/test/exercises/90.1.txt" >common/test/exercises/90.1.txt
ends 0 sh common/test/exercises.sh build all 90
must "its answers" test "$(grep -c '^ok .* right$' "$folder/out") $(grep -c '^ok .* wrong$' "$folder/out")" = "2 5"
program=$folder/program
(harness=$lab/common && right $own) >"$folder/right.cu"
cp $own "$folder/own.cu"
cp "$folder/right.cu" $own
ends 0 make learn EX=90.1
must "right, and an answer is offered" both '^RIGHT  90.1' 'make learn SHOW=90.1$'
if says 'Now look at'; then fail "nothing to look at"; else ok "nothing to look at"; fi
ends 0 make learn SHOW=90.1
must "and shown" says 'out\[i\] = in\[n - 1 - i\];'
cp "$folder/own.cu" $own
ends 0 sh common/test/exercises.sh build sums
must "sealed" grep -qx "= 1 $(sum_of $own)" 90_own/exercises/hints.txt
ends 1 make learn EX=90.1
must "untouched, it is to do" says '^todo: 90_own/exercises/1_reverse.cu'
sed 's/n - 1 - i/i/' "$folder/right.cu" >$own
ends 1 make learn EX=90.1
must "another check is refused" says 'Change only "your part"'
ends 0 make learn RESET=90.1
must "and restored" cmp -s $own "$folder/own.cu"
from_page "exercise: hints" >>90_own/exercises/hints.txt
LANG=zh_CN.UTF-8 ends 1 make learn EX=90.1
must "its Chinese title" says '^90.1  倒过来的数组'
cp "$folder/right.cu" $own
ends 0 make grade EX=90
must "and its points" says '^1 exercises: 1 right, 0 wrong, 0 to do; 2 of 2 points.'
finish
