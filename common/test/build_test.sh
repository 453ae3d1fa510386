#!/bin/sh
# build_test.sh: tests that `make` builds what the sources of its folder say, wherever the folder and its build folder are. It
# also tests that `make` never executes a file name, an option or a folder name that the user types. The lab in this test has
# one program, which is a copy of its source. Exit status: 0 if all cases pass, 1 if not.
. "$(dirname "$0")/lib.sh"
lab="$folder/a lab's ü"
mkdir -p "$lab/common" "$lab/01_fake/exercises"
cp "$top/Makefile" "$lab"
cp -r "$top/common/tools" "$lab/common"
echo 'exit 0' >"$lab/common/tools/doctor.sh"
cat >"$lab/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.24)
project(cuda_lab LANGUAGES NONE)
execute_process(COMMAND sh -c "eval \"$SETUP\"")
set(program ${PROJECT_BINARY_DIR}/cpu/01_fake)
add_custom_command(OUTPUT ${program} COMMAND sh -c "eval \"$STEP\"" COMMAND mkdir -p cpu COMMAND cp ${PROJECT_SOURCE_DIR}/01_fake/fake.cu ${program}
                   DEPENDS 01_fake/fake.cu VERBATIM)
add_custom_target(01_fake ALL DEPENDS ${program})
add_custom_target(lab)
END
source() { printf '#!/bin/sh\n[ "$1" != --list ] || { echo "variant k"; exit; }\necho %s\n' "$1" >01_fake/fake.cu; } # source TEXT
cd "$lab" || exit
source first
chmod +x 01_fake/fake.cu
touch 01_fake/fake.sh
unset MAKEFLAGS MAKELEVEL CMAKE_FLAGS ARGS FILE
export BUILD=build DEVICE=cpu JOBS=2 CMAKE=cmake SETUP=true STEP=true
builds() { # builds WHAT TEXT [MAKE-ARGUMENT]: make ends with status 0, and the program prints the text
    run make build "${3:-BUILD=build}"
    printed=$("${BUILT:-build}/cpu/01_fake")
    must "$1: $2" test "$status $printed" = "0 $2"
}
moved() { says '^This folder was moved or copied: rebuilding[.]$'; }

# ---- folders that were moved and copied
builds "a new build" first
! moved || fail "a new build is no copy"
cp -a "$lab" "$folder/copy"
cd "$folder/copy" || exit
source second
builds "a copy" second
must "it says so" moved
builds "the copy once more" second
! moved || fail "it is said once"
must "the original is left alone" test "$("$lab/build/cpu/01_fake")" = first
mv "$folder/copy" "$folder/moved"
cd "$folder/moved" || exit
source third
builds "a moved folder" third
must "it says so" moved
ln -s "$folder/moved" "$folder/link"
cd "$folder/link" || exit
builds "through a link" third
! moved || fail "a link is no other folder"
rm -r build
ends 0 cmake -S "$folder/link" -B "$folder/link/build"
builds "built by hand through a link" third
! moved || fail "a link is no other folder by hand"
rm "$folder/link"
cd "$folder/moved" || exit
source fourth
builds "the link is gone" fourth
must "it says so" moved
# One build folder for two checkouts, with a space in its name
export BUILT="$folder/one build's"
builds "elsewhere" fourth "BUILD=$BUILT"
cd "$lab" || exit
builds "another's build" first "BUILD=$BUILT"
must "it says so" moved
mkdir -p "$BUILT/learn"
echo mine >"$BUILT/learn/01.1.yours.cu"
cd "$folder/moved" && builds "there and back" fourth "BUILD=$BUILT"
must "what the learner wrote is kept" grep -q mine "$BUILT/learn/01.1.yours.cu"
ends 0 make clean BUILD="$BUILT"
must "make clean removes it" test ! -e "$BUILT"
unset BUILT
cd "$lab" || exit

# ---- two builds at the same time: the second waits until the first is configured
rm -r build
SETUP="touch '$folder/begun'; sleep 1" make build >"$folder/first" 2>&1 &
timeout 20 sh -c "until [ -e '$folder/begun' ]; do sleep 0.1; done"
builds "the second" first
must "it says that it waits" says '^Another build in build is running[.] Waiting for it to end[.]$'
must "the first is through" wait $!

# ---- folders and files that cannot be written
for goal in build learn 01; do
    ends 2 make $goal BUILD=/proc/nowhere
    says '^Cannot write to /proc/nowhere: .*[.]$' && says 'make BUILD=/elsewhere$' || fail "it does not say what to type"
done
ends 2 sh -c 'ulimit -f 1000; trap "" XFSZ; make build'
says '^Cannot write to build: File too large[.]$' || fail "a disk that is full"
source first
STEP=false ends 2 make build
! says 'Cannot write' || fail "the disk is not to blame"
STEP=false ends 2 sh -c 'ulimit -f 100000; trap "" XFSZ; make build' # 50 MB
says '^Cannot write to .*/build: File too large[.]$' || fail "a disk on which a large file has no room"
for jobs in 0 two -1; do
    ends 2 make build JOBS=$jobs
    says "^JOBS is '$jobs'; type a number" || fail "JOBS=$jobs"
done

# ---- user input is data and is never executed
words() { ARGS=$1 ends "$2" sh common/tools/words.sh ARGS printf '[%s]'; }
is() { must "these words: $1" test "$(cat "$folder/out")" = "$1"; }
words "--csv 'my file.csv'" 0 && is '[--csv][my file.csv]'
words ' a "b  c" d\ e "x\"y" "\z" '"'it'\\''s' '' " 0 && is "[a][b  c][d e][x\"y][\\z][it's][]"
words '$(touch x) * ; ~ #' 0 && is '[$(touch][x)][*][;][~][#]'
words "it's" 2 && says 'ARGS has a quote that is not closed'
for bait in '$$(touch x).cu' '"; touch x; ".cu' '$(shell touch x).cu'; do
    for typed in "try FILE" "try FILE=01_fake/fake.cu ARGS" "01 ARGS" "learn EX" "learn RESET" "learn SHOW" "grade OF" "grade EX" "build BUILD" "clean BUILD" "01 DEVICE" \
        "build JOBS" "build CMAKE" "build CMAKE_FLAGS"; do
        run make ${typed% *} "${typed##* }=$bait" # the goal, and the value of the variable
        test ! -e x || fail "make $typed='$bait' runs it" && rm -f x
    done
    for goals in try learn ""; do run make $goals "$bait"; done
done
# A line break is rejected: not even make -i executes the text after it.
for goal in "" try learn 01; do
    for typed in "" FILE= EX= RESET= BUILD= DEVICE=; do
        ends 2 make -i $goal "${typed}none.cu${newline}touch x # "
        says 'The name contains a line break; type it in one line' || fail "make $goal $typed does not name the line break"
    done
done
must "nothing was run" test -z "$(find "$folder" -name x)"

# The word after the goal also names the file or the exercise.
ends 2 make try none.cu
says "'none.cu'" && ! says 'no command make' || fail "make try none.cu"
ends 2 make "try none.cu"
says 'There is no command make try none.cu' || fail "goal and file in one word"
ends 2 make try 01_fake/fake.sh
says "'01_fake/fake.sh'" && ! says 'Nothing to be done' || fail "a file that is there"
echo 'int main() {}' >-dash.cu
ends 2 make try FILE=-dash.cu
says '^The CPU device is missing' && ! says 'invalid option' || fail "a name that begins with a dash"
echo 'echo "exercise $2"' >common/tools/learn.sh
ends 0 make learn 04.2
must "and nothing else" test "$(cat "$folder/out" "$folder/err")" = "exercise 04.2"

# ---- progress on a terminal, even if awk buffers its input (mawk)
if command -v script >/dev/null; then
    rm -r build
    screen=$folder/screen STEP='for i in 1 2 3 4 5 6 7 8 9; do ! grep -q % "$screen" || exit 0; sleep 0.5; done; exit 1' TERM=xterm \
        ends 0 script -qfec "make build" "$folder/screen"
fi

# An in-source build would replace the lab's Makefile by CMake's.
ends 2 make build BUILD=.
says "^BUILD is '.', a folder with the sources; type" || fail "the sources' own folder"
finish
