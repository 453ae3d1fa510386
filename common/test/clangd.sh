#!/bin/sh
# clangd.sh BUILD [FILE.cu]: tests that editors can use compile_commands.json. clangd must find no error in a sample's file, and
# must find one in a copy with a misspelt word. Exit status: 0 if so, 1 if not, 77 if clangd is missing.
. "$(dirname "$0")/lib.sh"
build=$(cd "$1" && pwd) || exit 1
clangd=$(command -v clangd || ls /usr/bin/clangd-[0-9]* 2>/dev/null | head -1)
[ "$clangd" ] || skip "no clangd (apt-get install clangd)"
cd "$top" || exit 1
file=${2:-$(ls 03_*/*shared.cu)}

errors() { # errors BUILD FILE: prints the errors that clangd finds. A failed code action ("tweak:") is not an error
    timeout 120 "$clangd" --compile-commands-dir="$1" --check-lines=1-1 --check="$2" >"$folder/all" 2>&1
    grep -E '^E\[' "$folder/all" | grep -v 'tweak: ' >"$folder/out"
    grep -q 'All checks completed' "$folder/all" || { fail "clangd has not read $2: $(tail -1 "$folder/all")"; return 1; }
}
must "compile_commands.json has $file" grep -q "\"file\": *\"$top/$file\"" "$build/compile_commands.json"
errors "$build" "$file" && must "clangd finds no error in $file" test ! -s "$folder/out"
sed 's/__syncthreads()/__syncthread()/' "$file" >"$folder/misspelt.cu"
cp .clangd "$folder" && file=$top/$file copy=$folder/misspelt.cu perl -MJSON::PP -MText::ParseWords -0777 -ne '
    my ($entry) = grep { $_->{file} eq $ENV{file} } @{JSON::PP->new->decode($_)};
    $entry->{arguments} = [map { $_ eq $ENV{file} ? $ENV{copy} : $_ } shellwords(delete $entry->{command})];
    $entry->{file} = $ENV{copy};
    print JSON::PP->new->encode([$entry])' "$build/compile_commands.json" >"$folder/compile_commands.json"
errors "$folder" "$folder/misspelt.cu" && must "in a copy with a misspelt word it finds that" grep -q "undeclared identifier '__syncthread'" "$folder/out"
finish
