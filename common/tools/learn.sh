#!/bin/sh
# learn.sh BUILD [EX] [RESET]: leads through the exercises: shows the current one (the first that is not right, or EX), and
# checks it after each save until it is right, then goes on. RESET: restores that one. `--list` for EX: lists them.
# Where stdout is no terminal, the current one is checked once. Exit status: 0 right (or ended by Ctrl-C), 1 not right,
# 2 no such exercise, 3 the CPU device is missing.
build=$1 wanted=$2 reset=$3
. "$(dirname "$0")/folder.sh"
cd "$top" || exit
mkdir -p "$build/learn/first" "$build/learn/tries" "$build/learn/state" || exit
build=$(cd "$build" && pwd)
. common/tools/exercises.sh
trap 'exit 130' HUP TERM
trap 'echo; exit 0' INT

# What is as committed is kept, for RESET where there is no git.
for file in $(exercises); do
    first=$build/learn/first/$(number_of "$file").cu
    if is_committed "$file" "$(about "$file" =)"; then cmp -s "$file" "$first" || cp "$file" "$first"; fi
done
if [ -n "$reset" ]; then
    file=$(file_of "$reset") || exit 2
    number=$(number_of "$file")
    from=$(committed "$file" "$build/learn/committed") || {
        say "Neither git nor $build/learn/first has $file as it was." "git 和 $build/learn/first 里都没有 $file 的原文." >&2
        exit 1
    }
    if [ "$from" = "$file" ]; then
        say "$file is as it was: nothing to restore." "$file 没有改动过."
        exit 0
    fi
    cp "$file" "$build/learn/$number.yours.cu" && cp "$build/learn/committed" "$file" || exit
    rm -f "$build/learn/tries/$number"
    say "$file is restored, from $from." "$file 已恢复 (来自 $from)."
    say "What you had is in ${build#"$top"/}/learn/$number.yours.cu" "你的版本在 ${build#"$top"/}/learn/$number.yours.cu"
    exit 0
fi

targets=ex_cpu gpu=""
if [ -f "$build/learn/nvcc" ] && a_gpu_answers; then targets="ex_cpu ex_library" gpu=yes; fi
sh common/tools/build.sh "$build" $targets || exit
if [ ! -f "$build/cpu/libexercise.a" ]; then
    say "The CPU device is missing. Type make doctor to see why." "缺少 CPU 设备. 输入 make doctor 查看原因." >&2
    exit 3
fi
program=$build/learn/program
checker=$(cat common/exercise* "$build/cpu/cudacpu" | cksum)

on_gpu() { compile_for_gpu "$1" "$program.gpu" && judge_on_gpu "$program.gpu"; }
# state FILE: todo, right or wrong; what is known of this text, is not checked again. What was said is in $program.said.
state() {
    if is_committed "$1" "$(about "$1" =)"; then echo todo && return; fi
    known=$build/learn/state/$(number_of "$1") this="$(sum_of "$1") $checker"
    if [ "$(head -1 "$known" 2>/dev/null)" != "$this" ]; then
        if { compile "$1" "$program" && judge "$program" && { [ -z "$gpu" ] || on_gpu "$1"; }; } >"$program.said"; then
            verdict=right
        else
            verdict=wrong
            echo "$this" >>"$build/learn/tries/$(number_of "$1")"
        fi
        { echo "$this" && echo $verdict && cat "$program.said"; } >"$known.new"
        mv "$known.new" "$known"
    fi
    sed -n 2p "$known"
}
said() { sed '1,2d' "$build/learn/state/$(number_of "$1")"; }
title() {
    if [ -n "$language" ]; then about "$1" zh | head -1; else sed -n '1s,^// ,,p' "$1"; fi
}
task() {
    if [ -n "$language" ]; then
        about "$1" zh | sed '1d; s/^/  /'
    else
        awk 'NR == 1 { next } !/^\/\// { exit } { sub(/^\/\/ ?/, "  "); print }' "$1" | sed '1{/^ *$/d}'
    fi
}
tries() { sort -u "$build/learn/tries/$(number_of "$1")" 2>/dev/null | wc -l; }
hints() {
    if [ "$(tries "$1")" -ge 3 ]; then say "Hint:" "提示:" && about "$1" "hint$language" | sed -n '1s/^/  /p'; fi
    if [ "$(tries "$1")" -ge 6 ]; then about "$1" "hint$language" | sed -n '2s/^/  /p'; fi
}
# look FILE: where the sample does the same
look() {
    for rung in $(about "$1" next); do
        place=$(grep -nE "(void|bool|int|float|T) $rung\(" "${1%%/*}"/*.cu | head -1 | cut -d: -f1,2)
        say "  Now look at $rung, $place" "  现在看 $rung, $place"
    done
}
first_open() {
    for file in $(exercises); do
        [ "$(state "$file")" = right ] || { echo "$file" && return; }
    done
}

if [ "$wanted" = --list ]; then
    for file in $(exercises); do
        case $(state "$file") in
        right) colour=$green word=$(say "right" "正确") ;;
        wrong) colour=$red word=$(say "wrong" "不对") ;;
        *) colour="" word=$(say "todo " "未做") ;;
        esac
        echo "$colour$word$usual  $(title "$file")"
    done
    exit 0
fi
current=""
[ -z "$wanted" ] || current=$(file_of "$wanted") || exit 2
while :; do
    [ -n "$current" ] || current=$(first_open)
    if [ -z "$current" ]; then
        say "${green}RIGHT${usual}: all exercises." "${green}正确${usual}: 全部练习."
        exit 0
    fi
    printf '\n%s\n' "$(title "$current")"
    task "$current"
    echo
    if [ -t 1 ]; then
        say "Open $current, and save it: it is checked at once. Ctrl-C ends." "打开 $current, 保存后立即检查. Ctrl-C 结束."
    fi
    while :; do
        sum=$(sum_of "$current")
        case $(state "$current") in
        right)
            said "$current"
            say "${green}RIGHT${usual}: $(title "$current"). In three orders; nothing races." \
                "${green}正确${usual}: $(title "$current"). 三种线程顺序下都对, 没有竞争."
            look "$current"
            [ -t 1 ] || exit 0
            break
            ;;
        wrong)
            say "${red}WRONG${usual}" "${red}不对${usual}"
            said "$current"
            hints "$current"
            ;;
        *) say "todo: $current" "未做: $current" ;;
        esac
        [ -t 1 ] || exit 1
        while [ "$(sum_of "$current")" = "$sum" ]; do sleep 0.2; done
        echo
    done
    current=""
done
