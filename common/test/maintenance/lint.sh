#!/bin/sh
# lint.sh BUILD [JOBS]: checks the layout of the samples and of the C++ files of common/ with the two .clang-format files (100
# columns in samples, 116 in common/), and checks common/ with clang-tidy and cppcheck. Other versions of the tools give other
# results: the script leaves out a tool whose version is not the one named below, and says so.
# Exit status: 0 if clean, 1 if not, 3 if BUILD is not configured, 77 if none of the tools is installed.
. "$(dirname "$0")/../lib.sh"
build=$(cd "${1:?lint.sh BUILD [JOBS]}" && pwd) || exit 3
jobs=${2:-$(nproc 2>/dev/null || echo 2)}
cd "$top" || exit 3
if ! [ -r "$build/compile_commands.json" ]; then
    echo "lint.sh: there is no $build/compile_commands.json. Type: cmake -S . -B $build" >&2
    exit 3
fi
ran=0

# tool NAME VERSION: succeeds if the tool is installed in this version; sets $tool to its command
tool() {
    for tool in "$1-$2" "$1"; do
        version=$("$tool" --version 2>/dev/null | grep -oE '[0-9]+\.[0-9.]+' | head -1)
        case $version in "$2" | "$2".*) ran=1; return 0 ;; esac
    done
    echo "left out: $1 is ${version:-missing}, wanted is $2"
    return 1
}

# Not checked: the exercises, which learners edit; the translator's test, which tests unusual layouts; and the programs in
# refused/ and planted/, whose tests depend on line numbers. clang-format does not break a line of dashes, so the first check
# counts columns.
if tool clang-format 14; then
    ls [0-9][0-9]_*/*.cu >"$folder/samples"
    must "no line of a sample has more than 100 columns" awk -v out="$folder/out" '
        length > 100 { print FILENAME ":" FNR ": " length " columns" >out; wrong = 1 }
        END { exit wrong }' $(cat "$folder/samples")
    find common \( -name '*.cpp' -o -name '*.hpp' -o -name '*.cu' -o -name '*.cuh' -o -name '*.h' \) \
        ! -path 'common/test/cpu/refused/*' ! -path 'common/test/cpu/planted/*' ! -name translator_test.cu | cat "$folder/samples" - >"$folder/files"
    xargs -d '\n' "$tool" --dry-run -Werror <"$folder/files"
    status=$?
    must "clang-format, $(wc -l <"$folder/files") files" test $status = 0
fi

# The CPU device's files are built several times, and as one unit. Each gets its own entry, made from that of the file
# that includes it. The hazard build comes first, because it has the most code.
if tool clang-tidy 14; then
    perl -0777 -ne '
        for my $entry (sort { $a =~ /CUDACPU_HAZARDS/ <=> $b =~ /CUDACPU_HAZARDS/ } /\{.*?\n\}/gs) {
            my ($file) = $entry =~ m{"file": "([^"]*/common/(?!test/)[\w/]+\.cpp)"} or next;
            $entry =~ s/ -fno-weak//;  # only g++ knows this option
            open my $unit, "<", $file or next;
            my @sources = map { /^#include "(.*\.cpp)"/ } split /\n/, <$unit>;
            ($of{$_} = $entry) =~ s{\Q$file\E}{$_}g for @sources ? @sources : $file;
        }
        END { print "[\n", join(",\n", map { $of{$_} } sort keys %of), "\n]\n" }' \
        "$build/compile_commands.json" >"$folder/compile_commands.json"
    sed -n 's/^ *"file": "\(.*\)",*$/\1/p' "$folder/compile_commands.json" >"$folder/files"
    xargs -d '\n' -n 1 -P "$jobs" "$tool" --quiet --warnings-as-errors='*' -p "$folder" <"$folder/files" 2>"$folder/err"
    status=$?
    sed -i -E '/^[0-9]+ warnings? (and .* )?(generated|treated as errors)/d' "$folder/err"
    must "clang-tidy, $(wc -l <"$folder/files") files" test $status = 0
fi

# clang-tidy checks the style.
if tool cppcheck 2.10; then
    "$tool" --quiet --error-exitcode=1 --enable=warning,performance,portability --inline-suppr --std=c++20 -j "$jobs" \
        -I common -I common/cpu/include -I common/cpu/src -DCUDACPU_HAZARDS $(find common -name '*.cpp' ! -path 'common/test/*')
    must cppcheck test $? = 0
fi

must "the CPU device's layers include only lower ones" sh "$here/include_directions.sh"

[ $ran$failed != 00 ] || skip "no tool is here"
finish
