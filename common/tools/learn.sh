#!/bin/sh
# learn.sh BUILD [EX] [RESET] [SHOW]: shows the current exercise (EX, or the first one that is not right), and checks it after
# each save until it is right. Then it shows the next one. RESET restores an exercise. SHOW prints a model answer.
# --list in place of EX lists all exercises and counts them.
# If stdout is not a terminal, the current exercise is checked once. Exit status: 0 right (or Ctrl-C), 1 not right (with
# --list: an edited one is wrong), 2 no such exercise, 3 the CPU device is missing.
build=$1 wanted=$(echo $2) reset=$(echo $3) shown=$(echo $4) # echo removes the blanks around them
if [ -t 0 ] && [ -t 1 ] && [ "$wanted" != --list ] && [ -z "$reset$shown$LEARNING" ]; then
    set -m # a separate job: Ctrl-C reaches only this script, not make
    LEARNING=yes sh "$0" "$@"
    exit
fi
. "$(dirname "$0")/folder.sh"
cd "$top" || exit
writable "$build" || exit
mkdir -p "$build/learn/first" "$build/learn/tries" "$build/learn/state" || exit
touch "$build/learn/files"
build=$(cd "$build" && pwd) program=$build/learn/program.$$ # two may learn at once
. common/tools/exercises.sh
trap 'rm -f "$program" "$program".*' EXIT
trap 'exit 130' HUP TERM
trap 'echo; exit 0' INT

# An unchanged exercise is copied to build/learn/first, so that RESET works without git. A deleted one is restored. If the
# committed text has changed since (git pull), the copy is replaced from git, because the learner's file is compared with it.
first() { echo "$build/learn/first/$(number_of "$1").cu"; }
for file in $(exercises | sort -u - "$build/learn/files"); do
    sum=$(about "$file" =) kept=$(first "$file")
    if is_committed "$file" "$sum"; then
        cmp -s "$file" "$kept" || cp "$file" "$kept"
        continue
    fi
    is_committed "$kept" "$sum" || { committed "$file" "$program.committed" >/dev/null && cp "$program.committed" "$kept"; } || rm -f "$kept"
    if [ ! -f "$file" ] && [ -f "$kept" ] && cp "$kept" "$file"; then
        say "$file was missing. The original is restored." "$file 不见了，已恢复原文。"
    fi
done
exercises >"$build/learn/files"
if [ -n "$reset" ]; then
    file=$(file_of "$reset") || exit 2
    number=$(number_of "$file") yours=${build#"$top"/}/learn/$(number_of "$file").yours.cu
    if is_committed "$file" "$(about "$file" =)"; then
        say "$file is unchanged: nothing to restore." "$file 没有改动，不必恢复。"
        exit 0
    fi
    from=$(committed "$file" "$program.committed") || {
        say "The original of $file is neither in git nor in ${build#"$top"/}/learn/first." \
            "git 和 ${build#"$top"/}/learn/first 里都没有 $file 的原文。" | wrapped 80 >&2
        exit 1
    }
    cp -f "$file" "$build/learn/$number.yours.cu" && cp "$program.committed" "$file" || exit
    rm -f "$build/learn/tries/$number"
    say "$file is restored from ${from#"$top"/}." "$file 已从 ${from#"$top"/} 恢复。"
    say "Your version is in $yours" "你的版本在 $yours"
    exit 0
fi

current=""
case $wanted in '' | --list) ;; *) current=$(file_of "$wanted") || exit 2 ;; esac
[ -z "$shown" ] || file=$(file_of "$shown") || exit 2
targets=ex_cpu gpu=""
if [ -f "$build/learn/nvcc" ] && a_gpu_answers; then targets="ex_cpu ex_library" gpu=yes; fi
[ -f "$build/cpu/libexercise.a" ] ||
    say "Building the checker of the exercises. This takes a minute or two, only once." "正在构建检查练习的工具：只此一次，约一两分钟。"
sh common/tools/build.sh "$build" $targets || exit
if [ ! -f "$build/cpu/libexercise.a" ]; then
    say "The CPU device is missing. Type make doctor to see why." "缺少 CPU 设备。输入 make doctor 查看原因。" >&2
    exit 3
fi
checker=$(cat common/exercise* common/tools/exercises.sh "$build/cpu/cudacpu" common/cpu/driver/*.pm | cksum)

on_gpu() { compile_for_gpu "$1" "$program.gpu" && judge_on_gpu "$program.gpu"; }
# state FILE: todo, right or wrong; changed if the file changed during the check. The verdict on this text is kept in
# $build/learn/state, so that the same text is checked once.
state() {
    if is_committed "$1" "$(about "$1" =)"; then echo todo && return; fi
    [ -s "$1" ] || { echo changed && return; }
    known=$build/learn/state/$(number_of "$1")$language this="$(sum_of "$1") $(about "$1" =) $checker"
    if [ "$(head -1 "$known" 2>/dev/null)" != "$this" ]; then
        verdict=wrong
        [ -z "$green" ] || printf '\r\033[K%s %s' "$(say Checking 正在检查)" "$(number_of "$1")" >&2
        if { passes "$1" "$1" "$(first "$1")" && { [ -z "$gpu" ] || on_gpu "$1"; }; } >"$program.said" 2>&1; then verdict=right; fi
        [ -z "$green" ] || printf '\r\033[K' >&2
        if [ "$(sum_of "$1")" != "${this%% *}" ]; then echo changed && return; fi
        if [ $verdict = right ]; then
            echo "$1" >"$build/learn/solved"
        else
            echo "$this" >>"$build/learn/tries/$(number_of "$1")"
        fi
        { echo "$this" && echo $verdict && cat "$program.said"; } >"$known.$$"
        if [ $verdict = right ]; then cp "$known.$$" "${known%-zh}" && cp "$known.$$" "${known%-zh}-zh"; fi # in any language
        mv "$known.$$" "$known"
    fi
    sed -n 2p "$known"
}
said() { sed 1,2d "$build/learn/state/$(number_of "$1")$language"; }
described() { if [ -f "$(first "$1")" ]; then first "$1"; else echo "$1"; fi; } # the file to read title and task from
title() {
    if [ -n "$language" ] && [ -n "$(about "$1" zh)" ]; then about "$1" zh | head -1; else sed -n '1s,^// ,,p' "$(described "$1")"; fi
}
task() {
    if [ -n "$language" ] && [ -n "$(about "$1" zh)" ]; then about "$1" zh | sed 1d | joined; else sed -n '2,/^[^\/]/{/^\/\/ /s,^// ,,p;}' "$(described "$1")"; fi | wrapped 78 | sed 's/^/  /'
}
hints() {
    tries=$(tries_of "$1")
    if [ "$tries" -ge 3 ] && [ -n "$(about "$1" "hint$language")" ]; then
        say "Hint:" "提示："
        about "$1" "hint$language" | head -$((tries / 3)) | wrapped 78 | sed 's/^/  /'
    fi
    [ "$tries" -lt 9 ] || offer "$1"
}
# offer FILE: prints the command that shows its model answer, if it has one
offer() {
    [ ! -f "$(answers_of "$1")" ] ||
        say "Compare with the model answer: make learn SHOW=$(number_of "$1")" "对照参考答案：make learn SHOW=$(number_of "$1")"
}
place() { exercises | awk -v file="$1" -v of="$(say ' of ' ' / ')" '$0 == file { at = NR } END { print at of NR }'; } # 3 of 42
# show FILE: title, task, and where to read about it
show() {
    printf '\n%s  (%s)\n' "$(title "$1")" "$(place "$1")"
    task "$1"
    if lesson=$(lesson_of "$1"); then
        page=${lesson%%:*} heading=${lesson#*:}
        say "Read first: $page, section '$heading'" "先读：$page，“$heading”一节" | wrapped 80
    fi
    [ -t 1 ] || return 0
    say "Open  $1" "打开  $1"
    say "Edit \"your part\" and save the file. Each save is checked. Ctrl-C ends." \
        "改 \"your part\" 部分并保存：每次保存都会检查。按 Ctrl-C 结束。"
}
# verdict FILE: prints the verdict on its current text; true if it is right
verdict() {
    case $(state "$1") in
    right)
        said "$1"
        say "${green}RIGHT$usual  $(title "$1")" "${green}正确$usual  $(title "$1")"
        if place=$(rung "$1"); then say "Now look at $place" "现在看 $place"; fi
        offer "$1"
        return 0
        ;;
    wrong)
        say "${red}WRONG$usual  $(title "$1")" "${red}不对$usual  $(title "$1")"
        said "$1"
        hints "$1"
        ;;
    todo) [ -t 1 ] || say "todo: $1 is unchanged" "未做：$1 没有改动" ;;
    esac
    false
}

if [ "$wanted" = --list ]; then
    right=0 wrong=0 todo=0 folder=""
    for file in $(exercises); do
        [ "$folder" = "${file%/*}" ] || { folder=${file%/*} && echo "$folder:"; }
        case $(state "$file") in
        right) right=$((right + 1)) word=$green$(say right 正确)$usual ;;
        wrong) wrong=$((wrong + 1)) word=$red$(say wrong 不对)$usual ;;
        *) todo=$((todo + 1)) word=$(say "todo " 未做) ;;
        esac
        title=$(title "$file")
        printf '%s  %s  %-15s  %s\n' "$word" "$(number_of "$file")" "${file##*/}" "${title#*  }"
    done
    all=$((right + wrong + todo))
    say "$all exercises: $right right, $wrong wrong, $todo to do." "共 $all 题：正确 $right，不对 $wrong，未做 $todo。"
    [ $wrong = 0 ]
    exit
fi
if [ -n "$shown" ]; then
    file=$(file_of "$shown")
    number=$(number_of "$file")
    [ -f "$(answers_of "$file")" ] || { say "There is no model answer for $number." "$number 没有参考答案。" >&2 && exit 1; }
    if [ "$(state "$file")" != right ] && tries=$(tries_of "$file") && [ "$tries" -lt 9 ]; then
        say "$number is not right yet. Its model answer is shown when it is right, or after 9 tries; so far: $tries." \
            "$number 还没做对。做对之后，或者试过 9 次之后，才给出参考答案；目前试了 $tries 次。" | wrapped 80 >&2
        if [ ! -t 0 ] || [ ! -t 1 ]; then exit 1; fi
        printf '%s [y/N] ' "$(say "Show it now?" "现在就看吗？")" >&2
        read -r reply
        case $reply in [yY]*) ;; *) exit 1 ;; esac
    fi
    committed "$file" "$program.committed" >/dev/null || cp "$file" "$program.committed"
    echo "// $(title "$file")"
    model "$file" "$program.committed"
    exit
fi
while :; do
    for file in $([ -n "$current" ] || exercises); do
        if [ "$(state "$file")" != right ]; then current=$file && break; fi
    done
    if [ ! -t 1 ] && [ -z "$wanted" ] && [ -f "$build/learn/solved" ]; then
        verdict "$(cat "$build/learn/solved")" # since the last time
    fi
    rm -f "$build/learn/solved"
    if [ -z "$current" ]; then
        say "All exercises are right." "全部练习都正确。"
        say "Next: read a sample from top to bottom, change a line, and type make 04." "接下来：从头到尾读一个样例，改一行，再输入 make 04。"
        say "Or write your own program: make try FILE=yours.cu" "或者写自己的程序：make try FILE=yours.cu"
        exit 0
    fi
    show "$current"
    [ -t 1 ] || { verdict "$current" && exit 0 || exit 1; }
    while
        sum=$(sum_of "$current") # before the check: the file may change meanwhile
        ! verdict "$current"
    do
        # Some editors delete the file first, or write it in two steps.
        while now=$(sum_of "$current") && [ "$now" = "$sum" ] || [ ! -s "$current" ] ||
            { sleep 0.1 && [ "$(sum_of "$current")" != "$now" ]; }; do sleep 0.2; done
        echo
    done
    current=""
done
