#!/bin/sh
# grade.sh BUILD [OF] [EX]: checks exercises on the CPU device, prints a table and a sum, and writes both as JUnit XML to
# BUILD/grade/junit.xml. OF is a folder with a student's checkout, or with only the files; the default is this checkout. EX
# lists exercises (04.2) or samples (04); the default is all exercises in the folder. A listed exercise without a file is wrong.
# Exit status: 0 all of them are right, 1 not all, 2 no such folder or exercise, 3 the CPU device is missing.
build=$1 of=$2 asked=$3
. "$(dirname "$0")/folder.sh"
cd "$top" || exit
writable "$build" || exit
mkdir -p "$build/grade" || exit
shown=$build/grade/junit.xml build=$(cd "$build" && pwd) program=$build/grade/program.$$
. common/tools/exercises.sh
trap 'rm -f "$program" "$program".*' EXIT
trap 'exit 130' HUP INT TERM
[ -z "$of" ] || { [ -d "$of" ] && of=$(cd "$of" && pwd); } || { say "There is no folder '$of'." "没有文件夹 '$of'。" >&2 && exit 2; }

# submitted EXERCISE: the file that is graded as this exercise: the exercise's path below the folder; else a file in the folder
# that is named like the exercise or its number, or has its number in the first line. False if there is none.
submitted() (
    number=$(number_of "$1") name=${1##*/}
    cd "${of:-$top}" || exit
    for submitted in "$1" "$name" "$number.cu" "${number}_${name#*_}"; do
        if [ -f "$submitted" ] && { [ "$submitted" != "$name" ] || [ "$(exercises | grep -c "/$name$")" = 1 ]; }; then
            echo "$PWD/$submitted" && exit
        fi
    done
    for submitted in *.cu; do
        case $(head -1 "$submitted" 2>/dev/null) in "// $number "*) echo "$PWD/$submitted" && exit ;; esac
    done
    false
)
files=""
for word in $asked; do
    case $word in
    *.*) files="$files $(file_of "$word")" || exit 2 ;;
    *)
        more=$(exercises | grep -E "^0?${word}_") || { say "There are no exercises $word." "没有练习 $word。" >&2 && exit 2; }
        files="$files $more"
        ;;
    esac
done
if [ -z "$files" ]; then
    for file in $(exercises); do if submitted "$file" >/dev/null; then files="$files $file"; fi; done
    [ -n "$files" ] || { say "There is no exercise in '$of'." "'$of' 里没有练习。" >&2 && exit 2; }
fi

sh common/tools/build.sh "$build" ex_cpu >&2 || exit
[ -f "$build/cpu/libexercise.a" ] || {
    say "The CPU device is missing. Type make doctor to see why." "缺少 CPU 设备。输入 make doctor 查看原因。" >&2
    exit 3
}

# judged EXERCISE FILE: prints right, wrong, todo or missing, and writes what is wrong to $program.said.
judged() {
    : >"$program.said"
    [ -f "$2" ] || { say "The folder has no file of this exercise." "文件夹里没有这道题的文件。" >"$program.said" && echo missing && return; }
    committed "$1" "$program.committed" >/dev/null || rm -f "$program.committed"
    if [ -f "$program.committed" ] && [ "$(squeezed <"$2")" = "$(squeezed <"$program.committed")" ]; then
        echo todo
    elif passes "$1" "$2" "$program.committed" >"$program.said" 2>&1; then
        echo right
    else
        echo wrong
    fi
}
printf '%-8s  %-6s  %-7s  %5s  %s\n' exercise points verdict tries file
right=0 wrong=0 todo=0 points=0 most=0
for file in $files; do
    number=$(number_of "$file") worth=$(points_of "$file") got=0 tries=-
    path=$(submitted "$file")
    learnt=$build
    [ -z "$of" ] || learnt=$of/build
    [ ! -d "$learnt/learn/tries" ] || tries=$(tries_of "$file" "$learnt")
    start=$(date +%s%N) verdict=$(judged "$file" "$path")
    case $verdict in
    right) right=$((right + 1)) got=$worth ;;
    todo) todo=$((todo + 1)) ;;
    *) wrong=$((wrong + 1)) ;;
    esac
    points=$((points + got)) most=$((most + worth))
    path=${path#"${of:-$top}"/}
    printf '%-8s  %-6s  %-7s  %5s  %s\n' "$number" "$got/$worth" "$verdict" "$tries" "${path:--}"
    { # a record of lines, the last one open
        printf '%s\n' "$number" "$(sed -n '1s,^// *[0-9.]* *,,p' "$file")" "${file%%/*}" "$path" "$got" "$worth" "$verdict" "$tries" \
            "$((($(date +%s%N) - start) / 1000000))"
        cat "$program.said"
        printf '\0'
    } >>"$program.records"
done
perl -0 -e '
    my (%of, @suites);
    my $sum = sub { my ($verdict, @cases) = @_; scalar grep { $_->[6] =~ $verdict } @cases };
    my $counts = sub { sprintf q(tests="%d" failures="%d" errors="0" skipped="%d"), scalar @_, $sum->(qr/wrong|missing/, @_), $sum->(qr/todo/, @_) };
    while (my $record = <>) {
        chomp $record;
        $record =~ s/\e\[[0-9;]*m//g;
        utf8::decode($record) or utf8::upgrade($record);
        $record =~ tr/\t\n\x20-\x{d7ff}\x{e000}-\x{fffd}//cd;    # what XML does not take
        $record =~ s/[&<>"]/{"&" => "&amp;", "<" => "&lt;", ">" => "&gt;", q(") => "&quot;"}->{$&}/ge;
        my @case = split /\n/, $record, 10;
        push @suites, $case[2] unless $of{$case[2]};
        push @{$of{$case[2]}}, \@case;
    }
    binmode STDOUT, ":utf8";
    print qq(<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="exercises" ), $counts->(map { @$_ } values %of), ">\n";
    for my $suite (@suites) {
        print qq(  <testsuite name="$suite" ), $counts->(@{$of{$suite}}), ">\n";
        for (@{$of{$suite}}) {
            my ($number, $title, $folder, $path, $got, $worth, $verdict, $tries, $ms, $said) = @$_;
            printf qq(    <testcase classname="%s" name="%s %s" file="%s" time="%.3f">\n      <properties>\n), $folder, $number, $title, $path, $ms / 1000;
            my %property = (exercise => $number, points => $got, of => $worth, verdict => $verdict, tries => $tries);
            printf qq(        <property name="%s" value="%s"/>\n), $_, $property{$_} for qw(exercise points of verdict tries);
            print "      </properties>\n";
            print qq(      <skipped message="not begun"/>\n) if $verdict eq "todo";
            my ($first) = split /\n/, $said;
            print qq(      <failure message="$first">$said</failure>\n) if $verdict =~ /wrong|missing/;
            print "    </testcase>\n";
        }
        print "  </testsuite>\n";
    }
    print "</testsuites>\n"' "$program.records" >"$program.xml" && mv "$program.xml" "$build/grade/junit.xml" || exit
all=$((right + wrong + todo))
say "$all exercises: $right right, $wrong wrong, $todo to do; $points of $most points. Written: $shown" \
    "共 $all 题：正确 $right，不对 $wrong，未做 $todo；得分 $points / $most。已写入 $shown"
[ $right = $all ]
