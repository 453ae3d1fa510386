# exercises.sh: functions that learn.sh, grade.sh and the tests of the exercises share. Source it after folder.sh. It needs
# $top, $build and $program.
# An exercise is NN_name/exercises/K_name.cu, and its number is NN.K. hints.txt in the same folder may have lines about it:
#     = K SUM [RUNG [FILE]]  cksum's number of the committed file; the function of the sample, or of FILE, that does the same
#     points N            the points that `make grade` gives for it; 1 without this line
#     hint TEXT           printed after the third try; the second hint after the sixth
#     zh TEXT             title and task in Chinese, one per line; hint-zh TEXT: the hints
# An exercise without SUM is not compared with its committed text.
export LC_COLLATE=C PERL_BADLANG=0
harness=$top/common
language="" # or -zh
case ${LC_ALL:-${LC_MESSAGES:-${LANG:-}}} in zh*) language=-zh ;; esac
say() { if [ -z "$language" ]; then echo "$1"; else echo "$2"; fi; } # say ENGLISH CHINESE
# wrapped COLUMNS: breaks long lines. A Chinese character takes two columns. No line begins with a punctuation mark.
wrapped() {
    perl -CS -e 'my ($most, $end) = (shift, "[\x{ff0c}\x{3002}\x{ff1a}\x{ff1b}\x{ff1f}\x{3001}\x{ff09}]*");
        while (<STDIN>) {
            my ($indent) = /^( *)/;
            my ($line, $width) = ("", 0);
            for my $word (/[^\S\n]+|[\x{2e80}-\x{ffff}]$end|[^\s\x{2e80}-\x{ffff}]+$end/g) {
                my $columns = length($word) + (() = $word =~ /[\x{2e80}-\x{ffff}]/g);
                if ($width + $columns > $most && $line =~ /\S/) {
                    print $line =~ s/ *$/\n/r;
                    ($line, $width) = ($indent, length $indent);
                    next if $word =~ /^ /;
                }
                $line .= $word;
                $width += $columns;
            }
            print "$line\n";
        }' "$1"
}

# joined: joins the lines of a Chinese text, with a space only between Latin words
joined() { perl -CS -0pe 's/(?<=[\x{2e80}-\x{ffff}])\n(?=[\x{2e80}-\x{ffff}])|(?<=[\x{3001}-\x{3002}\x{ff09}-\x{ff1f}])\n(?=.)//g; s/\n(?=.)/ /g'; }

exercises() { (cd "$top" && ls -d [0-9][0-9]_*/exercises/*_*.cu | sort -t/ -k1,1 -k3,3n); }
number_of() { # number_of FILE: 04.2
    number_of=${1##*/}
    echo "${1%%_*}.${number_of%%_*}"
}
file_of() { # file_of 04.2: its file, from the top
    for file_of in $(exercises); do
        case $(number_of "$file_of") in "$1" | "0$1") echo "$file_of" && return ;; esac
    done
    say "There is no exercise $1. Type make exercises for a list" "没有练习 $1。输入 make exercises 查看清单" >&2
    false
}
# about FILE WORD: the text after WORD in the exercise's lines of hints.txt; for the word =, SUM
about() {
    about=${1##*/}
    [ -f "$top/${1%/*}/hints.txt" ] || return 0
    awk -v k="${about%%_*}" -v word="$2" '$1 == "=" { on = $2 == k } !on || $1 != word { next }
        $1 == "=" { print $3; next }
        { sub("^[^ ]* ?", ""); print }' "$top/${1%/*}/hints.txt"
}
points_of() { # points_of FILE: the points for the exercise
    points=$(about "$1" points | head -1)
    echo "${points:-1}"
}
tries_of() { sort -u "${2:-$build}/learn/tries/$(number_of "$1")" 2>/dev/null | wc -l; } # tries_of FILE [BUILD]
# rung FILE: the name of the function that does the same, and its place; false if there is none
rung() {
    rung=${1##*/} home=${1%%/*}
    rung=$(sed -n "s/^= ${rung%%_*} [0-9]* //p" "$top/${1%/*}/hints.txt" 2>/dev/null)
    [ -n "$rung" ] || return
    case $rung in *' '*) source=${rung#* } ;; *) source=$home/${home#*_}.cu ;; esac
    line=$(grep -nE "^[^/]*[ *]${rung% *}\(.*\{" "$top/$source" | head -1)
    echo "${rung% *}(), $source:${line%%:*}"
    [ -n "$line" ]
}
# page_of FILE: the page that teaches it, in the reader's language. lesson_of FILE: the page and the heading of the section that
# ends with the exercise's link, as PAGE:HEADING; false if no section has it.
page_of() { if [ -n "$language" ] && [ -f "$top/${1%%/*}/README.zh-CN.md" ]; then echo "${1%%/*}/README.zh-CN.md"; else echo "${1%%/*}/README.md"; fi; }
lesson_of() {
    page=$(page_of "$1")
    awk -v page="$page" -v link="[\`$(number_of "$1")\`](exercises/${1##*/})" '
        /^```/ { code = !code }
        !code && /^##* / { heading = $0; sub(/^#* */, "", heading); gsub(/[`*]/, "", heading) }
        index($0, link) && !found { found = 1; print page ":" heading }
        END { exit !found }' "$top/$page" 2>/dev/null
}
sum_of() { cksum 2>/dev/null <"$1" | cut -d' ' -f1; } 2>/dev/null # nothing if it is not there
is_committed() { [ -n "$2" ] && [ "$(sum_of "$1")" = "$2" ]; } # is_committed FILE SUM

# answers_of FILE: the file of its answers. model FILE COMMITTED: prints the first answer, which is right, as the text between
# "// ---- your part" and "// ---- the check". An answer is that text, or sed commands that change COMMITTED into it.
answers_of() { echo "$harness/test/exercises/$(number_of "$1").txt"; }
is_sed() { case $(head -c 2 "$1") in s/ | s, | /*) ;; *) false ;; esac; }
part_of() { sed '1,/^\/\/ ---- your part/d; /^\/\/ ---- the check/,$d' "$1"; }
model() {
    [ -f "$(answers_of "$1")" ] || return
    awk '/^\/\/ RUN: / { if (n++) exit; next } { print }' "$(answers_of "$1")" >"$program.model"
    if is_sed "$program.model"; then part_of "$2" | sed -f "$program.model"; else cat "$program.model"; fi
}

# committed FILE COPY: writes the committed text of the exercise to COPY, even if the learner has changed the file. It comes from
# the file itself, from git, or from the copy that make learn keeps. Prints the source; false if there is none.
committed() {
    sum=$(about "$1" =) seen=$build/learn/first/$(number_of "$1").cu
    is_committed "$top/$1" "$sum" && cp "$top/$1" "$2" && echo "$1" && return
    for commit in HEAD $(git -C "$top" log --format=%H -- "$1" 2>/dev/null); do
        git -C "$top" show "$commit:./$1" >"$2" 2>/dev/null || break
        if is_committed "$2" "$sum"; then echo "git" && return; fi
    done
    [ -f "$seen" ] && is_committed "$seen" "$sum" && cp "$seen" "$2" && echo "$seen"
}

# as_found EXERCISE FILE COMMITTED: has the learner changed only "your part" in FILE? Lines may be added above the check.
# Layout and comments are ignored. "Your part" must not use the name of a function of exercise.cuh that the check calls, because
# the compiler could then call another function. If not, prints what to do.
squeezed() { sed 's,//.*,,' | tr -d '[:space:]'; }
names() { sed 's,//.*,,; s/"[^"]*"//g' | grep -oE '[A-Za-z_][A-Za-z_0-9]*' | sort -u; }
above() { sed '/^\/\/ ---- the check/,$d' "$1"; }
check_of() { sed '1,/^\/\/ ---- the check/d' "$1"; }
as_found() {
    given=$(sed '/^\/\/ ---- your part/,$d; /^#include/d' "$3" | squeezed)
    [ "$(check_of "$2" | squeezed)" = "$(check_of "$3" | squeezed)" ] || { not_as_found "$1" && return 1; }
    case $(above "$2" | squeezed) in *"$given"*) ;; *) not_as_found "$1" && return 1 ;; esac
    { # the names that the header declares outside of its namespaces and that the check uses
        echo lab
        awk '/^namespace/ { inside = 1 } !inside && match($0, /^[a-z][^(]*[ *]([a-z_]+\(|[A-Z][a-z]+ \{)/) {
            split(substr($0, 1, RLENGTH), word, /[ *({]+/); for (n = 1; word[n] != ""; ++n) last = word[n]; print last }
            /^}  \/\/ namespace/ { inside = 0 }' "$harness/exercise.cuh" | sort -u >"$program.names"
        check_of "$3" | names | grep -xFf "$program.names"
    } >"$program.check"
    above "$3" | names >"$program.names"
    used=$(above "$2" | names | grep -xFf "$program.check" | grep -vxFf "$program.names" | head -1)
    [ -n "$used" ] || return 0
    say "Your part uses the name $used, which belongs to the check. Use another name." \
        "你的代码里有 $used 这个名字，它是检查部分的。请换一个名字。"
    false
}
not_as_found() {
    say "Change only \"your part\". The rest of the file differs from the original." '只能改 "your part" 部分。其余部分和原文不同。'
    say "Undo that change, or type: make learn RESET=$(number_of "$1")" "请改回去，或输入：make learn RESET=$(number_of "$1")"
}
# guarded FILE COMMITTED: prints FILE with guards. It does not compile if a name in the check is a macro that FILE, but not
# COMMITTED, defines or includes above the check.
guarded() {
    macros=$(check_of "$1" | names | grep -vxF "$(above "$2" | sed -nE 's/^[ \t]*#[ \t]*define[ \t]+(\w+).*/\1/p; $s/.*/#/p')")
    for macro in $macros; do printf '#ifdef %s\n#define lab_%s_%s\n#endif\n' "$macro" $$ "$macro"; done
    printf '#line 1 "%s"\n' "${1##*/}"
    sed '/^\/\/ ---- the check/q' "$1"
    for macro in $macros; do
        printf '#if defined %s && !defined lab_%s_%s\n#error the check uses %s\n#endif\n' "$macro" $$ "$macro" "$macro"
    done
    printf '#line %d\n' $(($(sed '/^\/\/ ---- the check/q' "$1" | wc -l) + 1))
    check_of "$1"
}
# passes EXERCISE FILE COMMITTED: is FILE right on the CPU device? If not, prints what is wrong. If there is no file COMMITTED,
# FILE is not compared with it.
passes() {
    { printf '#line 1 "%s"\n' "${2##*/}" && cat "$2"; } >"$program.cu"
    if [ -f "$3" ]; then as_found "$@" && guarded "$2" "$3" >"$program.cu" || return; fi
    if ! compile "$2" "$program" "$program.cu" >"$program.told"; then
        if grep -q '#error the check uses' "$program.err"; then not_as_found "$1"; else cat "$program.told"; fi
        return 1
    fi
    judge "$program" && by_kernels "$2"
}
# by_kernels FILE: after judge: does no host loop in "your part" read the arrays? If one does, prints its place.
by_kernels() {
    [ -s "$program.end" ] || return 0
    loop=$(addr2line -i -e "$program" $(cat "$program.end") 2>/dev/null </dev/null |
        awk -v name="${1##*/}" -v from="$(grep -n '^// ---- your part' "$1" | cut -d: -f1)" \
            -v to="$(grep -n '^// ---- the check' "$1" | cut -d: -f1)" '
            { sub(/ \(discriminator.*/, ""); sub(/.*\//, ""); line = $0; sub(/.*:/, "", line); sub(/:[^:]*$/, "") }
            $0 == name && line + 0 > from && line + 0 < to { print name ":" line; exit }')
    [ -n "$loop" ] || return 0
    say "The result is right, but at $loop the host reads the array, element by element. Let the kernel do that." \
        "结果正确，但 $loop 处是主机在逐个读数组的元素。应该由核函数来做。" | wrapped 80
    false
}

# The linker redirects memory accesses, atomics, clocks and exit() to exercise_counts.cpp.
count=-Wl,--wrap=_ZN7cudacpu18about_to_do_atomicEPvjjNS_5WhereEPKv
count=$count,--wrap=exit,--wrap=clock,--wrap=_ZN7cudacpu11clock_ticksEv,--wrap=_ZN7cudacpu16special_registerEPKc
for access in read write; do
    for kind in "" volatile_ unaligned_ unaligned_volatile_; do
        for bytes in 1 2 4 8 16; do count=$count,--wrap=__tsan_$kind$access$bytes; done
    done
done
for access in read_range write_range memcpy memmove memset; do count=$count,--wrap=__tsan_$access; done

# report FILE: prints the first report of the CPU device: what it is, where, and which lines, but not what to do. A race of
# equal values is printed only if there is no other hazard.
report() {
    awk -v hazards="$(grep -c '^cudacpu: hazard: ' "$1")" '
        /^cudacpu: note: (race, but of equal|数据竞争（)/ && hazards { on = 0; next }
        /^cudacpu: / { on = !reports++; listed = 0; sub(/^cudacpu: (hazard: |note: )?/, "") }
        /^[^ ]/ && reports && !on { exit }
        on && /^ +[0-9]* +\|  / { listed = 1; print; next }
        on && listed && !/^          / { exit }
        on && !/^  (launched|check|put|use|give|let|write|no memory of)/ { print }' "$1" | sed '/^hazards were found/d; s,[^ (]*/exercises/,,' | wrapped 80 | head -12
}
# Warnings of g++ that are mistakes in any kernel.
mistakes="-Werror=address -Werror=unused-value -Werror=return-type -Werror=uninitialized -Wno-maybe-uninitialized"
# compile FILE PROGRAM [SOURCE]: compiles it in the CPU device's hazard build, with the options in $debug; SOURCE is FILE with guards. Prints the errors.
compile() {
    if sed 's,//.*,,' "$1" | grep -q 'long double'; then
        say "A GPU has no long double: nvcc treats it as double." "GPU 没有 long double：nvcc 把它当作 double。"
        return 1
    fi
    sources=${1%/*}
    if (cd "$sources" && "$build/cpu/cudacpu" "${3:-${1##*/}}" -o "$2" --hazards -fsanitize=shift-exponent,float-cast-overflow $mistakes ${debug:-} \
        --header "$build/cpu/exercise.hpp" -I"$harness" "$build/cpu/libexercise.a" $count) >"$2.err" 2>&1; then return; fi
    say "It does not compile:" "编译不通过："
    complaints "${1##*/}" "$2.err" | sed "s/cudacpu::api:://g; s/cudacpu::own<\([^<>]*\)>/\1/g" | wrapped 80 >"$2.complaints"
    head -10 "$2.complaints"
    members "$2.complaints"
    false
}
# complaints FILE ERRORS: prints the first three errors of g++, each with its line of the file. An error in a header is printed
# with the line that led to it.
complaints() {
    awk -v file="$1" '
        source && /^ *[0-9]+ \|/ { print }
        { source = 0; mine = index($0, file ":") == 1 }
        mine { split(substr($0, length(file) + 2), at, ":"); place = at[1] }
        /: (fatal )?error: |错误：/ || mine && /undefined reference/ {
            if (!place) { elsewhere = elsewhere ? elsewhere : $0; next }
            if (!seen[place]++ && ++told <= 3) {
                source = mine
                print mine ? $0 : file ":" place ":" substr($0, match($0, / (fatal )?(error|错误)/))
            }
            place = ""
        }
        END { if (!told) print elsewhere }' "$2"
}
# in_words FILE: explains the first report: in English only a race; in Chinese every kind, because most reports are English
in_words() {
    english="" chinese=""
    case $(grep -m 1 -E '^cudacpu: |: runtime error: ' "$1") in
    *'race between streams'*) chinese="流之间的竞争：两个流用同一块内存，谁也不等谁。" ;;
    *'of equal values'* | *写入的值相同*) english="Two threads write one element (the same value), and nothing orders them:" chinese="竞争：多个线程写同一个元素，只是值碰巧相同。" ;;
    *race* | *数据竞争*) english="Two threads access one element, one of them writes, and nothing orders them:" chinese="竞争：几个线程访问同一个元素，其中有写，中间没有同步。" ;;
    *'out of bounds'* | *'illegal memory'* | *越界访问*) chinese="越界：下标超出了数组的范围。看看是哪个线程、哪个元素。" ;;
    *'nobody has written'* | *从未写入*) chinese="读了还没有线程写过的值。" ;;
    *'never reach'*) chinese="有的线程已经结束，不会到达这个同步点。" ;;
    *'divergent barrier'*) chinese="同一个线程块的线程停在不同的同步点。" ;;
    *'too early'*) chinese="主机没等设备做完，就用了设备要写的内存。" ;;
    *'come to an end'* | *'not end'*) chinese="核函数停不下来：看循环的条件。" ;;
    *'runtime error'*) chinese="这里的结果 C++ 没有规定，在 GPU 和 CPU 上可能不同。" ;;
    *lane*) chinese="线程束操作的掩码，与实际到来的线程不一致。" ;;
    *cudacpu:*) ;;
    *) return ;;
    esac
    if [ -n "$language" ]; then echo "${chinese}CPU 设备的报告："; elif [ -n "$english" ]; then echo "$english"; fi
}
# undefined FILE: prints the first report of UndefinedBehaviorSanitizer: there a GPU and a CPU give different results
undefined() {
    awk -F ': runtime error: ' 'NF > 1 {
        split($1, at, ":")
        print $2 "\n  at " at[1] ":" at[2]
        while ((getline line < at[1]) > 0) if (++n == at[2] && sub(/^ */, "", line)) printf "%7d |  %.66s\n", n, line
        exit }' "$1" | wrapped 80
}
# ending STATUS PROGRAM: why the program printed nothing
ending() {
    case $1 in
    124 | 137 | 152) say "The program does not end." "程序停不下来。" ;;
    136) say "The program crashed on the host: a division by 0?" "程序在主机上崩溃了：除以了 0？" ;;
    1[3-9]?) say "The program crashed on the host: an invalid pointer, or endless recursion?" "程序在主机上崩溃了：指针不对，还是无穷递归？" ;;
    *)
        if [ -f "$2.end" ]; then
            say "The result is right, but only by luck." "结果碰巧是对的。"
        else
            say "The program ended before the check was complete." "检查还没有做完，程序就结束了。"
        fi
        ;;
    esac
}
# printed FILE: shows what the program printed. If its kernels print much, the middle is cut, and the verdict at the end stays.
printed() { awk -v lines="$(wc -l <"$1")" 'NR <= 4 || NR > lines - 8; NR == 5 && lines > 12 { print "..." }' "$1"; }
# judge PROGRAM [ARGUMENT]: runs the compiled program in the folder of its source, in three orders of its threads. Exit status 0
# if it is right. If not, prints what is wrong. A race is wrong even if the threads write the same value.
judge() (
    cd "$sources" || exit
    for order in forward reverse 1; do
        rm -f "$1.end"
        # The limit is five seconds of processor time. The shell's message "Killed" is not shown.
        (ulimit -t 5; LAB_ORDER=$order LAB_END=$1.end timeout 60 "$@" >"$1.out" 2>"$1.err" </dev/null; exit $?) 2>/dev/null
        judged=$?
        if [ $judged = 0 ] && [ -f "$1.end" ] && ! grep -qE '^cudacpu: note: |: runtime error: ' "$1.err"; then continue; fi
        [ $order = forward ] || say "In another order of the threads (LAB_ORDER=$order):" "换一种线程顺序 (LAB_ORDER=$order):"
        in_words "$1.err"
        report "$1.err"
        undefined "$1.err"
        if [ -s "$1.out" ]; then printed "$1.out" | wrapped 80; else ending $judged "$1"; fi
        return 1
    done
)
# compile_for_gpu FILE PROGRAM, judge_on_gpu PROGRAM: the same with nvcc, and one run on the GPU
compile_for_gpu() {
    if (cd "$top" && $(cat "$build/learn/nvcc") -Icommon "$1" "$build/gpu/libexercise.a" -o "$2") >"$2.err" 2>&1; then return; fi
    say "nvcc does not compile it:" "nvcc 编译不通过："
    grep 'error' "$2.err" | head -3
    false
}
judge_on_gpu() {
    timeout 60 "$1" >"$1.out" 2>&1 </dev/null
    judged=$?
    printed "$1.out" | sed 's/^/GPU: /'
    return $judged
}
