#!/bin/sh
# exercises.sh BUILD quick|all|gpu [EX...]: are the answers of common/test/exercises judged as they should be? quick: one
# right and one wrong answer of each exercise; all: all of them; gpu: the right ones by nvcc, under compute-sanitizer.
# exercises.sh BUILD sums: writes the sums of the exercises as they are now into the hints.txt, after an edit.
# The learner's own edits don't count: an exercise is taken as it is committed, and is left out where that is nowhere.
# An answer takes the place of what stands between "// ---- your part" and "// ---- the check":
#     == right            a kernel
#     == wrong REGEX      a kernel, or sed's commands that make one of the first right answer; what must be said about it
# Exit status: 0 as it should be, 1 not, 77 the CPU device, or the GPU, is missing.
. "$(dirname "$0")/lib.sh"
build=$(cd "$1" && pwd) mode=$2 
shift 2
. "$top/common/tools/exercises.sh"
mkdir -p "$build/learn/first"

if [ "$mode" = sums ]; then
    for file in $(exercises); do
        number=${file##*/}
        sed -i "s/^= ${number%%_*} .*/= ${number%%_*} $(sum_of "$top/$file")/" "$top/${file%/*}/hints.txt"
    done
    exit
fi
[ -f "$build/cpu/libexercise.a" ] || skip "the exercises' part of the CPU device is not built (cmake --build $build --target ex_cpu)"
[ "$mode" != gpu ] || [ -f "$build/gpu/libexercise.a" ] || skip "no GPU build of ex_library"

# answer NUMBER FILE: the FILE.N.cu and FILE.N.head of each answer
split() {
    awk -v file="$2" '/^== / { out = file "." ++n; print > (out ".head"); next } { print > out }' "$here/exercises/$1.txt"
}
# put ANSWER: into the exercise $folder/ex.cu
put() {
    case $(head -c 2 "$1") in
    s/ | s, | s\| | /*) sed -f "$1" "$folder/a.1" >"$folder/answer" ;;
    *) cp "$1" "$folder/answer" ;;
    esac
    sed "/^\/\/ ---- your part/,/^\/\/ ---- the check/{/^\/\/ ----/!d;}" "$folder/ex.cu" |
        sed "/^\/\/ ---- your part/r $folder/answer" >"$folder/tried.cu"
}
for file in $(exercises); do
    number=$(number_of "$file")
    case " $* " in "  " | *" $number "*) ;; *) continue ;; esac
    if ! committed "$file" "$folder/ex.cu" >/dev/null; then
        echo "left out: $number is edited, and its committed text is nowhere"
        continue
    fi
    rm -f "$folder"/a.*
    if [ "$mode" = all ] && judge "$folder/ex.cu" "$folder/program" >"$folder/out"; then fail "$number: right before it is done"; fi
    split "$number" "$folder/a"
    rights=0 wrongs=0
    for head in $(ls "$folder"/a.*.head | sort -t. -k3n); do
        answer=${head%.head} kind=$(cut -d' ' -f2 "$head") regex=$(cut -d' ' -f3- "$head")
        case $kind in right) rights=$((rights + 1)) ;; *) wrongs=$((wrongs + 1)) ;; esac
        if [ "$mode" = quick ] && { [ $kind$rights = right2 ] || [ $kind$wrongs = wrong2 ] || [ $wrongs -gt 2 ]; }; then continue; fi
        if [ "$mode" = gpu ] && [ $kind = wrong ]; then continue; fi
        put "$answer"
        what="$number $kind ${answer##*.}"
        if [ "$mode" = gpu ]; then
            if ! judge_on_gpu "$folder/tried.cu" "$folder/program" >"$folder/out" 2>&1; then fail "$what on the GPU" && continue; fi
            grep -h yours "$folder/out"
            for tool in memcheck racecheck; do
                must "$what $tool" run compute-sanitizer --tool $tool --error-exitcode 9 "$folder/program"
                [ $status = 0 ] || fail "$what $tool: status $status"
            done
        elif [ $kind = right ]; then
            if judge "$folder/tried.cu" "$folder/program" >"$folder/out"; then ok "$what"; else fail "$what"; fi
        elif judge "$folder/tried.cu" "$folder/program" >"$folder/out"; then
            fail "$what: found right"
        elif grep -qE -e "$regex" "$folder/out"; then
            ok "$what"
            [ -z "${SHOW:-}" ] || sed 's/^/      | /' "$folder/out"
        else
            fail "$what: '$regex' is not said"
        fi
    done
    if [ $rights -lt 2 ] || [ $wrongs -lt 4 ]; then fail "$number has $rights right and $wrongs wrong answers: 2 and 4 at least"; fi
done
finish
