#!/bin/sh
# files.sh BINARY: tests how a sample treats files, and prints a line for each case. A file must be written completely or not at
# all, whatever fails and whenever the run is stopped. Nothing else in its folder may change.
# Exit status: 0 if all cases pass, 1 if not, 77 if there is no device to run on.
. "$(dirname "$0")/lib.sh"
sample "$1"
chmod 755 "$folder" # another user also runs the program
binary=$folder/program at=$folder/at
cp "$1" "$binary" && mkdir "$at" || exit 1
cd "$folder" || exit 1
user="" # a prefix for commands: runs them as a user without root's permissions
[ "$(id -u)" = 0 ] && user="setpriv --reuid=65534 --regid=65534 --clear-groups"

as=""
try() { run $as "$binary" $small "$@"; }
ended() { [ "$status" = "$1" ]; }
holds() { [ "$(ls -A "$at" | tr '\n' ' ')" = "$*${1:+ }" ]; } # holds FILE...: the folder has exactly these files, in the order of ls
is_old() { [ "$(cat "$at/x")" = old ]; }
is_whole() { [ "$(head -c 14 "$1")" = sample,device, ] && [ "$(tail -c 1 "$1" | od -An -c | tr -d ' ')" = '\n' ] &&
    [ "$(wc -l <"$1")" = "$lines" ]; }
explains() { joined=$(tr -s "\n " "  " <err) && echo "$joined" | grep -q "$1" && echo "$joined" | grep -q "type "; } # lines wrap at 80 columns
old() { rm -rf "${at:?}"/* && echo old >"$at/x"; }
variant=$(words variant | tail -1)

# ---- what is in a CSV file
small="--n 5003"
try --csv rows.csv
must "a CSV file is written" ended 0
must "it has a header" grep -q '^sample,device,' rows.csv
must "it has a row that is ok" grep -q ',ok$\|,ok,' rows.csv
must "all lines have as many fields" test "$(sed 's/"[^"]*"//g' rows.csv | awk -F, '{print NF}' | sort -u | wc -l)" = 1
for twin in $(words twin); do # the first that is certain to be wrong on this device
    try --csv twin.csv --wrong "$twin"
    ended 1 && break
done
if [ -f twin.csv ]; then must "a wrong twin's file says so" grep -q WRONG twin.csv; fi
if takes --out; then
    try --out picture.png --csv rows.csv
    must "a picture and a CSV file" sh -c 'head -c 4 picture.png | grep -q PNG && grep -q ok rows.csv'
    ln -s /dev/full full.png
    try --out full.png --csv "$at/x"
    must "no room for the picture: status 3" ended 3
    must "... and no CSV file" holds
fi
small="--n 5003 --only $variant"
try --csv rows.csv
lines=$(wc -l <rows.csv)

# ---- a file that cannot be written: status 3 before any kernel runs; file name, reason and advice are printed
refused() { # refused WHAT REASON NAME
    try --csv "$3"
    must "$1: status 3" ended 3
    must "$1: says why" explains "$3.*$2"
    must "$1: nothing has run" test ! -s out
}
refused "no such folder" "No such file" "$at/none/x"
refused "a folder" "folder" "$at"
refused "a file in place of a folder" "Not a directory" "$folder/rows.csv/x"
refused "a name that is too long" "too long" "$at/$(printf '%0300d' 0)"
must "nothing is left" holds
try --csv /dev/full
must "a full disk: status 3" ended 3
must "a full disk: says why" explains "/dev/full.*No space"
old
(
    ulimit -f 0 # no file may grow; output goes through a pipe
    "$binary" $small --csv "$at/x" 2>&1
    echo "status $?"
) | cat >out
must "no room in a file: status 3" grep -qx 'status 3' out
must "no room in a file: the old one is kept" is_old
must "no room in a file: nothing is left" holds x
(
    ulimit -f 0
    { "$binary" $small >printed; } 2>&1
    echo "status $?"
) | cat >out
must "no room for what is printed to a file: status 3" grep -qx 'status 3' out
as=$user
if $as "$binary" --list >/dev/null 2>&1; then
    [ -z "$user" ] || chown 65534 "$at"
    chmod 444 "$at/x"
    refused "a file without the right to write" "Permission denied" "$at/x"
    chmod 644 "$at/x" && chmod 555 "$at"
    refused "a folder without the right to write" "Permission denied" "$at/y"
    [ -z "$user" ] || chown 65534 "$at/x"
    refused "an old file in such a folder" "Permission denied" "$at/x"
    chmod 755 "$at"
    must "the old file is kept" is_old
    must "and nothing else" holds x
else
    echo "SKIPPED  permissions: this is root, and '$user' does not run"
fi
as=""

# ---- links, permissions and other files
old && chmod 640 "$at/x" && echo mine >"$at/x.part" && ln -s x "$at/link"
try --csv "$at/link"
must "through a link: whole" is_whole "$at/x"
must "the link stays" test -L "$at/link"
must "the mode stays" test "$(ls -l "$at/x" | cut -c1-10)" = -rw-r-----
must "a neighbour x.part stays" grep -qx mine "$at/x.part"
must "no other file" holds link x x.part
rm -f "$at"/* && (umask 027 && try --csv "$at/x")
must "a new file has the umask's mode" test "$(ls -l "$at/x" | cut -c1-10)" = -rw-r-----
try --csv /dev/stdout
must "/dev/stdout gets the rows and keeps the rest" sh -c 'grep -q "^sample,device," out && grep -q "^PASSED" out && head -1 out | grep -q :'
try --csv /dev/null
must "/dev/null" ended 0

# ---- a run that is stopped leaves the complete old file or the complete new one
began=$(date +%s%N)
try
took=$((($(date +%s%N) - began) / 1000000))
for signal in INT TERM; do
    i=0
    while [ $i -lt 10 ]; do
        old
        after=$((took * i / 8 + 1))
        timeout --preserve-status -s $signal $((after / 1000)).$(printf %03d $((after % 1000))) \
            "$binary" $small --csv "$at/x" >out 2>err
        status=$?
        case $signal$status in INT130 | TERM143 | INT0 | TERM0) ;; *) fail "$signal after $after ms: ended with $status" ;; esac
        holds x || fail "$signal after $after ms: more than the file is there"
        is_old || is_whole "$at/x" || fail "$signal after $after ms: the file is not whole"
        i=$((i + 1))
    done
    ok "$signal at $i moments of a run of $took ms"
done

# ---- two runs at the same time
for i in 1 2 3 4 5; do
    old
    "$binary" $small --csv "$at/x" >out 2>err &
    "$binary" $small --csv "$at/x" >/dev/null 2>&1
    status=$?
    wait $! && ended 0 && is_whole "$at/x" && holds x || fail "two runs into one file"
done
ok "two runs at once into one file, $i times"

# ---- the printed output
for arguments in "$small" --help --list; do
    "$binary" $arguments >/dev/full 2>err
    status=$?
    must "no room for what $arguments prints: status 3" ended 3
    must "... and says why" explains "standard output: No space"
done
old
"$binary" $small --csv "$at/x" >&- 2>err
status=$?
must "stdout is closed: status 3" ended 3
must "... the file is whole, without what was printed" is_whole "$at/x"
finish
