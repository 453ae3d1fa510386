#!/bin/sh
# exercises.sh BUILD quick|all|gpu [NN...]: tests that the answers in common/test/exercises are judged correctly, for all
# samples or for those named. quick: one right and one wrong answer of each exercise. all: all answers; the unchanged
# exercise must be judged wrong. gpu: the right answers, built by nvcc, also under compute-sanitizer.
# exercises.sh BUILD sums: writes the checksums of the exercises into each hints.txt. Run it after an exercise is edited or added.
# The script ignores the learner's edits: it takes each exercise from the last commit, and leaves out one that is not committed.
# An answer replaces the text between "// ---- your part" and "// ---- the check":
#     // RUN: answer      then a kernel, or sed commands that edit the exercise (in later answers: the first right answer)
#     // STATUS: 1        below RUN: the answer is wrong
#     // SAYS: TEXT       the report about it must contain this text; {{...}} is a regular expression
# The answers of a sample are compiled together, each in its own namespace. SHOW=1 prints the reports about wrong answers.
# Exit status: 0 if all are judged correctly, 1 if not, 77 if the CPU device or the GPU is missing.
. "$(dirname "$0")/lib.sh"
build=$(cd "$1" && pwd) mode=$2
shift 2
unset LC_ALL LC_MESSAGES
export LANG=C.UTF-8 # the answers expect the English messages
. "$top/common/tools/folder.sh"
. "$top/common/tools/exercises.sh"
program=$folder/program

if [ "$mode" = sums ]; then
    for file in $(exercises); do
        number=${file##*/} hints=$top/${file%/*}/hints.txt
        line="= ${number%%_*} $(sum_of "$top/$file")"
        if grep -qs "^= ${number%%_*} " "$hints"; then
            sed -i "s/^= ${number%%_*} [0-9]*/$line/" "$hints"
        else
            echo "$line" >>"$hints"
        fi
    done
    exit
fi
if [ "$mode" = gpu ]; then
    a_gpu_answers || skip "no GPU answers"
    ${CMAKE:-cmake} --build "$build" --target ex_library >/dev/null || exit
    sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null) ||
        skip "no compute-sanitizer on the PATH or in /usr/local/cuda/bin"
else
    [ -f "$build/cpu/libexercise.a" ] || skip "no exercises' part of the CPU device (cmake --build $build --target ex_cpu)"
fi

# answers NUMBER: writes the exercise with each of its answers to NUMBER_N.cu, and the answer's head to NUMBER_N.head
answers() {
    awk -v file="$1" '/^\/\/ RUN: / { out = file "_" ++n } /^\/\/ [A-Z]+: / { print > (out ".head"); next } { print > (out ".answer") }' \
        "$here/exercises/$1.txt"
    echo "// STATUS: 1" >"$1_0.head" # the unchanged exercise
    cp "$1.cu" "$1_0.cu"
    part_of "$1.cu" >edited
    for answer in "$1"_*.answer; do
        if is_sed "$answer"; then sed -f "$answer" edited >part; else cp "$answer" part; fi
        [ "$answer" != "$1_1.answer" ] || cp part edited
        sed '/^\/\/ ---- your part/,/^\/\/ ---- the check/{/^\/\/ ----/!d;}' "$1.cu" |
            sed '/^\/\/ ---- your part/r part' >"${answer%.answer}.cu"
    done
    if [ "$(grep -L STATUS "$1"_*.head | wc -l)" -lt 2 ] || [ "$(grep -l STATUS "$1"_*.head | wc -l)" -lt 5 ]; then
        fail "$1: 2 right and 4 wrong answers at least"
    fi
}
# chosen NUMBER: prints the answers that this mode tries
chosen() {
    case $mode in
    all) ls "$1"_*.head ;;
    quick) grep -L STATUS "$1"_[1-9].head | head -1 && grep -l STATUS $(grep -L 'not compile' "$1"_[1-9].head) | head -1 ;;
    gpu) grep -L STATUS "$1"_[1-9].head ;;
    esac | sed 's/\.head$//'
}
one_program() { # one_program NAME ANSWER...: builds one program of these answers. It runs those that its arguments name, or all
    program=$1
    shift
    {
        echo '#include "exercise.cuh"'
        for answer; do grep -h '^#include <' "$answer.cu"; done | sort -u
        for answer; do
            echo "namespace answer_$(echo "$answer" | tr . _) {"
            echo "#line 1 \"$answer.cu\""
            sed 's/^#include.*//' "$answer.cu"
            echo "}"
        done
        echo 'int main(int argc, char** argv) {'
        echo '    int status = 0;'
        for answer; do
            echo "    if (argc < 2 || !strcmp(argv[1], \"$answer\")) status |= answer_$(echo "$answer" | tr . _)::main();"
        done
        echo '    return status;'
        echo '}'
    } >"$program.cu"
}
# said ANSWER: does the file out contain each text that the answer's head names?
said() {
    perl -0777 -e '
        my ($head, $report) = map { open my $in, "<", $_ or die "$_: $!\n"; <$in> } @ARGV;
        for my $text ($head =~ /^\/\/ SAYS: (.*)/mg) {
            my $part = join "", map { /^\{\{(.*)\}\}$/ ? "(?:$1)" : quotemeta } split /(\{\{.*?\}\})/, $text;
            $report =~ /$part/m or exit 1;
        }' "$1.head" out
}
try() { # try ANSWER COMMAND...: runs the answer and tests that it is judged as its head says
    answer=$1 kind=right
    ! grep -q STATUS "$answer.head" || kind=wrong
    shift
    if "$@" >out; then judged_as=right; else judged_as=wrong; fi
    if [ $kind != $judged_as ]; then fail "$answer: should be $kind" && return; fi
    if ! said "$answer"; then fail "$answer: not said: $(sed -n 's,^// SAYS: ,,p' "$answer.head")" && return; fi
    ok "$answer $kind"
    [ -z "${SHOW:-}" ] || sed 's/^/      | /' out
}

cd "$folder" || exit 1
for sample in ${*:-01 02 03 04 05 06}; do
    together="" alone=""
    for file in $(exercises | grep "^$sample"); do
        number=$(number_of "$file")
        if [ -z "$(about "$file" =)" ]; then
            cp "$top/$file" "$folder/$number.cu"
        elif ! committed "$file" "$folder/$number.cu" >/dev/null; then
            echo "left out: $number is edited, and its committed text is nowhere"
            continue
        fi
        if [ "$mode" = all ] && git -C "$top" diff --quiet HEAD -- "$file" 2>/dev/null &&
            ! is_committed "$top/$file" "$(about "$file" =)"; then
            fail "$file was committed without its sum: type sh common/test/exercises.sh $build sums"
        fi
        answers "$number"
        for answer in $(chosen "$number"); do
            if grep -q 'not compile' "$answer.head"; then alone="$alone $answer"; else together="$together $answer"; fi
        done
    done
    [ -n "$together" ] || { fail "$sample has no exercises" && continue; }
    one_program "$sample" $together
    if [ "$mode" = gpu ]; then
        must "$sample compiled by nvcc" compile_for_gpu "$folder/$sample.cu" "$folder/$sample"
        must "$sample on the GPU" judge_on_gpu "$folder/$sample"
        for tool in memcheck racecheck; do
            LAB_UNTIMED=1 run "$sanitizer" --tool $tool --error-exitcode 9 "$folder/$sample"
            if [ $status = 0 ]; then ok "$sample $tool"; else fail "$sample $tool: status $status"; fi
        done
        continue
    fi
    must "$sample compiled" compile "$folder/$sample.cu" "$folder/$sample"
    for answer in $together; do try "$answer" judge "$folder/$sample" "$answer"; done
    for answer in $alone; do try "$answer" compile "$folder/$answer.cu" "$folder/alone"; done
done
finish
