#!/bin/sh
# readme.sh BUILD [JOBS]: is what the README files say still what the programs print? Each command that a README names is
# run, each output and figure that it quotes is looked for in what the command printed, each link is followed.
# Where no `$ command` stands in a quoted block, a comment, which GitHub does not show, names the source on the line above:
#   <!-- from: COMMAND -->                   the block below is what COMMAND prints; `…` stands for lines left out
#   <!-- file: NAME -->                      the block below is the file NAME, which commands need
#   <!-- prints: COMMAND | TEXT | TEXT -->   behind a paragraph, table or block: each TEXT stands in it and in what COMMAND prints;
#                                            or `PRINTED => TEXT`, where the paragraph puts it in other words
# Times of the CPU device do not count. Exit status: 0 all as written, 1 not, 77 no CPU device.
set -u
LC_ALL=C
export LC_ALL
if [ "$1" = --job ]; then # readme.sh --job FOLDER TOP N: runs command N in a folder of its own, which looks like TOP
    folder=$2 top=$3 job=$4
    mkdir "$folder/$job" && cd "$folder/$job" || exit 1
    ln -s "$top"/* . && rm -f build && ln -s "$folder/build" build
    cp "$folder"/files/* . 2>/dev/null
    # A program that this build leaves out, as something that it needs is missing
    for program in $(grep -oE 'build/[a-z]+/[0-9a-z_]+' "$folder/$job.sh"); do
        [ -e "$program" ] || { [ -d "$top/${program##*/}" ] && echo skipped >"$folder/$job.status" && exit; }
    done
    grep -q hazards.sh "$folder/$job.sh" && [ ! -d build/hazards ] && echo skipped >"$folder/$job.status" && exit
    unset DISPLAY WAYLAND_DISPLAY LAB_ORDER
    timeout 60 sh "$folder/$job.sh" >out 2>err </dev/null
    echo $? >"$folder/$job.status"
    source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$folder/build/CMakeCache.txt")
    cat err out | sed "s|${source:-$top}/||g; s|$folder/$job/||g" >"$folder/$job.out"
    exit
fi

build=$(cd "$1" && pwd) || exit 1
jobs=${2:-2} top=$(cd "$(dirname "$0")/../.." && pwd)
[ -d "$build/cpu" ] || exit 77
folder=$(mktemp -d) && mkdir "$folder/files" && ln -s "$build" "$folder/build" || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$top" || exit 1
readmes=$(ls README.md ./*/README.md common/*/README.md | sed 's|^\./||')

# What is to be checked, a line each, with tabs between: what, file:line, and then
#   command STATUS COMMAND | block COMMAND, then want TEXT... | figure COMMAND PRINTED TEXT | link, make or script WORDS
awk -v files="$folder/files/" '
function say(kind, rest) { print kind "\t" FILENAME ":" FNR "\t" rest }
function command(text, in_block,    status) {
    status = text ~ /ends with status 1/ ? "1" : text ~ /--wrong/ ? "0|1" : "0"
    sub(/ +# .*/, "", text)
    sub(/^make && /, "", text)
    if (text ~ /^make( |$)/) { say("make", text); return "" }
    if (text ~ /^sh common/) { split(text, word, " "); say("script", word[2]); return "" }
    if (text ~ /^(ncu|compute-sanitizer) .*build\/gpu\//) sub(/.*build\/gpu/, "build/gpu", text)
    if (text !~ /^(LAB_ORDER=[a-z0-9]+ )?build\/[a-z]+\/[0-9a-z_]+( |$)/) return text
    if (text ~ /^build\/gpu/) { # are the options right? The CPU device says so, with little data
        if (text ~ /all_gpus/) return ""
        sub(/gpu/, "cpu", text)
        if (text !~ /--(n|width|height) /) text = text " --n 1000"
        text = text " "
        gsub(/--n [0-9]+ +/, "--n 1000 ", text)
        gsub(/--width [0-9]+ +/, "--width 40 ", text)
        gsub(/--height [0-9]+ +/, "--height 40 ", text)
        gsub(/--repeats [0-9]+ +/, "--repeats 2 ", text)
    }
    say("command", status "\t" text)
    return text
}
function end_paragraph(    rest, span) { # commands in the text, and links
    rest = paragraph
    while (match(rest, /`[^`]*`/)) {
        span = substr(rest, RSTART + 1, RLENGTH - 2)
        rest = substr(rest, RSTART + RLENGTH)
        if (span ~ /^((make && )?(LAB_ORDER=[a-z0-9]+ )?build\/[a-z]+\/[0-9]|make( |$)|compute-sanitizer .*build)/) command(span)
    }
    if (paragraph != "") last = paragraph
    gsub(/[`*]/, "", last)
    paragraph = ""
}
FNR == 1 { fence = source = file = last = paragraph = "" }
/^ *```/ {
    end_paragraph()
    fence = !fence
    asked = source != "" || file != ""
    if (fence && source != "") say("block", source)
    if (fence) last = ""
    else source = file = before = ""
    next
}
fence && file != "" { print > (files file); next }
fence && /^ *$/ { next }
fence { last = last " " $0; gsub(/  +/, " ", last) }
fence && open { line = line (cut ? " " : "\036") $0; sub(/^ +/, " ", line) }
fence && !open { line = $0 }
fence {
    open = cut = sub(/\\$/, "", line)
    shell = line ~ /^\$ /
    text = line
    if (shell) open = open || gsub(/\047/, "&", text) % 2
    if (open) next
    if (shell) { # it runs after the ones before it in the block
        text = substr(line, 3)
        if (text ~ /build\//) command(text)
        source = before text
        before = before "{ " text "; } >/dev/null 2>&1; "
        say("block", source)
        asked = 1
    } else if (source != "") say("want", line)
    else if (line ~ /^(make|sh common\/|ncu |compute-sanitizer |LAB_ORDER=[^ ]* build\/|build\/)/) command(line)
    else if (!asked && line ~ /^(on the CPU device|cudacpu: )|CPU-device ms/) {
        say("block", ":")
        say("want", line)
        asked = 1
    }
    next
}
/^ *<!-- (from|file): .* -->$/ {
    end_paragraph()
    text = $0
    sub(/ *-->$/, "", text)
    if (sub(/^ *<!-- from: /, "", text)) source = text
    else { sub(/^ *<!-- file: /, "", text); file = text }
    next
}
/^ *<!-- prints: .* -->$/ {
    end_paragraph()
    text = $0
    sub(/^ *<!-- prints: /, "", text)
    sub(/ *-->$/, "", text)
    parts = split(text, part, / \| /)
    for (i = 2; i <= parts; ++i) {
        if (split(part[i], both, / => /) < 2) both[2] = both[1]
        say("figure", part[1] "\t" both[1] "\t" both[2] "\t" last)
    }
    if (parts < 2) say("figure", "\t\t(a comment that quotes nothing)\t")
    next
}
/<!--/ { say("figure", "\t\t(a comment in no known form)\t") }
/^ *$/ || /^#/ { end_paragraph(); next }
{
    text = $0
    sub(/^ +/, "", text)
    paragraph = paragraph (paragraph == "" ? "" : " ") text
    gsub(/`[^`]*`/, "`", text)
    while (match(text, /\]\([^)]*\)/)) {
        say("link", substr(text, RSTART + 2, RLENGTH - 3))
        text = substr(text, RSTART + RLENGTH)
    }
}' $readmes >"$folder/checks" || exit 1

# Each command once
awk -F'\t' -v folder="$folder/" '
{ command = $1 == "command" ? $4 : $1 == "block" || $1 == "figure" ? $3 : "" }
command != "" && !(command in number) {
    number[command] = ++count
    text = command
    gsub(/\036/, "\n", text)
    print text > (folder count ".sh")
    close(folder count ".sh")
    print count
    print count "\t" command > (folder "numbers")
}' "$folder/checks" | xargs -P "$jobs" -n 1 sh "$0" --job "$folder" "$top"

# Which access is interrupted, and so what a hazard build reports first, is up to the compiler. The quotes are g++ 12's.
compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
other=""
case $("$compiler" -dumpversion) in 12 | 12.*) ;; *) other=hazards ;; esac

# Links, targets of make and scripts need no command.
complain() { printf '%s\n      wanted: %s\n      got:    %s\n' "$1" "$2" "$3"; }
anchors() { sed -n 's/^##* //p' "$1" | tr 'A-Z ' 'a-z-' | tr -d '`*.,:;?!()"/&+=\047'; }
grep -E '^(link|make|script)	' "$folder/checks" | while IFS='	' read -r kind place text; do
    case $kind in
    link)
        file=$(dirname "${place%:*}")/${text%%#*}
        case $text in
        http*) ;;
        '#'*) anchors "${place%:*}" | grep -qxF -e "${text#*#}" || complain "$place" "the anchor $text" "none" ;;
        *'#'*) [ -f "$file" ] && anchors "$file" | grep -qxF -e "${text#*#}" || complain "$place" "$text" "no such anchor" ;;
        *) [ -e "$file" ] || complain "$place" "the file $text" "there is none" ;;
        esac
        ;;
    make)
        for word in ${text#make}; do
            case $word in
            *=*) grep -q "${word%%=*}" Makefile || complain "$place" "make's variable ${word%%=*}" "the Makefile has none" ;;
            *) grep -q "^$word:" Makefile || complain "$place" "make $word" "the Makefile has no such target" ;;
            esac
        done
        ;;
    script) [ -f "$text" ] || complain "$place" "the script $text" "there is none" ;;
    esac
done >"$folder/failures"

awk -F'\t' -v folder="$folder/" -v other="$other" '
function complain(place, command, wanted, got) {
    gsub(/\036/, "\n               ", command)
    print place (command == "" ? "" : "\n      command: " command) "\n      wanted: " wanted "\n      got:    " got
}
# A line without what differs each time: the times and clocks of a table of the CPU device, and from 0 to 99 ns
function plain(text,    i, cells, cell) {
    gsub(/from [0-9]+ to [0-9]+ ns/, "from * to * ns", text)
    cells = split(text, cell, /  +/)
    if (text ~ /CPU-device ms/) for (columns = i = cells; i; --i) varies[i] = cell[i] ~ /CPU-device ms|clocks|warm|% of tut/
    if (columns && cells == columns && cell[1] != "") {
        text = cell[1]
        for (i = 2; i <= cells; ++i) text = text "  " (varies[i] ? "*" : cell[i])
    }
    return text
}
function printed(job,    text) { # fills line[], status and whole
    lines = columns = 0
    whole = ""
    getline status < (folder job ".status")
    close(folder job ".status")
    while ((getline text < (folder job ".out")) > 0) {
        if (text ~ /^ *$/) continue
        line[++lines] = plain(text)
        whole = whole " " text
    }
    close(folder job ".out")
    gsub(/  +/, " ", whole)
    columns = 0
}
# Does text hold part, and not within a longer number?
function holds(text, part,    at, before, after) {
    while (at = index(text, part)) {
        before = at > 1 ? substr(text, at - 1, 1) : ""
        after = substr(text, at + length(part), 2)
        if (!(part ~ /^[0-9]/ && before ~ /[0-9.,-]/) && !(part ~ /[0-9]$/ && after ~ /^([0-9e]|[.,][0-9])/)) return 1
        text = substr(text, at + 1)
    }
    return 0
}
# The lines between two `…` must follow each other; the next ones come somewhere behind.
function end_segment(    start, i, best, most) {
    if (!wants) return
    most = -1
    for (start = from; start <= lines + 1; ++start) {
        for (i = 0; i < wants && start + i <= lines && line[start + i] == want[i]; ++i);
        if (i > most) { most = i; best = start }
        if (i == wants) { from = start + i; wants = 0; return }
    }
    complain(place[most], command, want[most], most ? (best + most <= lines ? line[best + most] : "(the end)") : "no such line" (from > 1 ? " behind the ones before" : ""))
    wants = in_block = 0 # what follows would only repeat it
}
function end_block() { end_segment(); in_block = 0 }
FILENAME ~ /numbers$/ { number[$2] = $1; next }
$1 != "want" { end_block() }
$1 == "command" {
    printed(number[$4])
    if (status == "skipped") next
    if (status !~ "^(" $3 ")$") complain($2, $4, "status " $3, "status " status (status == 124 ? ", after 60 seconds" : "") "; " line[1])
}
$1 == "block" {
    command = $3
    from = 1
    if (command == ":") in_block = lines = status = 0
    else printed(number[command])
    in_block = status != "skipped" && !(other && command ~ other)
    if (status == 124) complain($2, command, "an end", "none in 60 seconds")
}
$1 == "want" && in_block {
    if (command == ":") { complain($2, "", "a comment above the block, <!-- from: COMMAND -->", "none"); in_block = 0; next }
    if ($3 ~ /^ *…$/) { end_segment(); next }
    if ($3 ~ /^…/) next
    place[wants] = $2
    want[wants++] = plain($3)
}
$1 == "figure" {
    if ($3 == "") { complain($2, "", "<!-- prints: COMMAND | TEXT -->", $5); next }
    printed(number[$3])
    if (status == "skipped" || (other && $3 ~ other)) next
    if (!holds(whole, $4)) complain($2, $3, $4, substr(whole, 2, 1500))
    if (!holds($6, $5)) complain($2, $3, $5, "the paragraph above does not say so")
}
END { end_block() }' "$folder/numbers" "$folder/checks" >>"$folder/failures"

for readme in $readmes; do
    awk -F'\t' -v readme="$readme" -v folder="$folder/" '
    FILENAME ~ /failures$/ { if (index($0, readme ":") == 1) ++bad; next }
    FILENAME ~ /numbers$/ { number[$2] = $1; next }
    index($2, readme ":") == 1 {
        ++count[$1]
        if ($1 == "command") { getline status < (folder number[$4] ".status"); close(folder number[$4] ".status"); skipped += status == "skipped" }
    }
    END {
        printf "%s  %s: %d commands%s, %d quoted blocks of %d lines, %d figures, %d links, %d make targets\n", bad ? "FAIL" : "ok  ", readme,
            count["command"], skipped ? " (" skipped " not built)" : "", count["block"], count["want"], count["figure"], count["link"], count["make"]
    }' "$folder/failures" "$folder/numbers" "$folder/checks"
done
[ -z "$other" ] || echo "not compared: what the hazard builds print, as $compiler is not the g++ 12 that the README files quote"
cat "$folder/failures"
[ ! -s "$folder/failures" ]
