#!/bin/sh
# test.sh BUILD JOBS [OPTION OF CTEST...]: runs the tests and prints a summary. The programs of the tests must be built already:
# the tests build.TARGET, which build them, are skipped. BUILD/test.log has the output of all tests. If tests fail, the summary
# has one line for each kernel, with the command that shows the failure, and at most 40 lines in all.
# Exit status: ctest's, 0 if all pass.
. "$(dirname "$0")/folder.sh"
build=${1:?test.sh BUILD JOBS} jobs=${2:?test.sh BUILD JOBS}
shift 2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'echo >&2; echo "Stopped. The output so far is in $build/Testing/Temporary/LastTest.log.tmp" >&2; exit 130' INT TERM
began=$(date +%s)
shows=0
[ -t 2 ] && shows=1

# Whether there is a GPU is checked once, because only three or four programs a second can start on a GPU.
for program in "$build"/gpu/[0-9]*; do
    [ -x "$program" ] || break
    LAB_NO_GPU=$("$program" --n 1 --repeats 1 2>&1 >/dev/null)
    [ $? = 77 ] || LAB_NO_GPU=""
    export LAB_NO_GPU
    break
done

# mawk reads a pipe line by line only with an option that other awks do not have.
case $(awk -W version 2>/dev/null </dev/null) in mawk*) awk="awk -W interactive" ;; *) awk=awk ;; esac
# The results are taken from ctest's lines, which on a terminal also show the progress. One more test than JOBS runs at a time,
# because some tests wait.
{
    ctest --test-dir "$build" --parallel $((jobs + 1)) --timeout 1500 --no-tests=error \
        --exclude-regex '^build[.]' --fixture-exclude-setup . "$@" 2>&1
    echo "status $?"
} | $awk -v shows="$shows" -v results="$folder/results" -v other="$folder/other" -v status="$folder/status" '
    /^status [0-9]+$/ { print $2 > status; next }
    /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
        split($1, count, "/")
        result = /\*\*\*Skipped/ ? "skipped" : / Passed +[0-9.]+ sec/ ? "passed" : /\*\*\*Timeout/ ? "timeout" : "failed"
        failed += result == "failed" || result == "timeout"
        for (word = 1; $word !~ /^#/; ++word);
        print result, $(word + 1) > results
        if (shows) printf "\r%d of %d tests%s ", ++done, count[2], failed ? ", " failed " failed" : "" > "/dev/stderr"
        next
    }
    /^ *Start |^Internal ctest|^Test project|^$/ { next }
    { print > other }
    END { if (shows && done) printf "\r%40s\r", "" > "/dev/stderr" }'
status=$(cat "$folder/status" 2>/dev/null || echo 1)
if [ ! -s "$folder/results" ]; then
    cat "$folder/other" >&2
    exit "$status"
fi
log=$build/test.log
cp "$build/Testing/Temporary/LastTest.log" "$log" || exit 1
seconds=$(($(date +%s) - began))

# The samples list their variants and wrong twins.
for program in $(awk '$1 ~ /failed|timeout/ && $2 ~ /^[0-9]+_/ { sub(/\..*/, "", $2); print $2 }' "$folder/results" | sort -u); do
    for device in cpu hazards gpu; do
        [ -x "$build/$device/$program" ] || continue
        "$build/$device/$program" --list 2>/dev/null | awk -v program="$program" '$1 ~ /variant|twin/ { print program, $1, $2 }'
        break
    done
done >"$folder/names"

build=$(words "$build") awk -v asked="${*:+ $*}" -v log_file="$log" -v top="$top" \
    -v minutes="$((seconds / 60)):$(printf %02d $((seconds % 60)))" '
BEGIN { build = ENVIRON["build"] } # quoted for a shell
FILENAME ~ /results$/ { result[$2] = $1; ++number[$1]; tests[++test_count] = $2; next }
FILENAME ~ /names$/ { known[$1, $3] = $2; next }

# ---- the log: the output of each test
/^[0-9]+\/[0-9]+ Testing: / { end_of_run(); test = $3; printed = 0; next }
/^Output:$/ { printed = 1; next }
/^<end of output>$/ || /^Test time =/ { end_of_run(); printed = 0; next }
!printed || /^-+$/ { next }
result[test] == "skipped" { # a script prints the reason in a separate line
    if (/^left out: / || !(test in reason)) reason[test] = $0
    sub(/^left out: /, "", reason[test])
    next
}
result[test] == "passed" || !(test in result) { next }
test !~ /^[0-9]+_[a-z0-9_]+\.(cpu|gpu|hazards|asan)\./ { # not a test of a sample: take the most informative line
    if (!(test in line) && /^FAIL |: Failure$|[Ee]rror|FAIL:|\[  FAILED|wanted/) line[test] = $0
    next
}
/^FAIL  / { end_of_run(); begin_of_run($0); next }
/^      \| / && is_run {
    sub(/^      \| /, "")
    if (/ WRONG *$/ && ((program, $1) in known)) wrong[$1] = 1
    if (match($0, /in kernel [A-Za-z0-9_]+/) && ((program, substr($0, RSTART + 10, RLENGTH - 10)) in known))
        wrong[substr($0, RSTART + 10, RLENGTH - 10)] = 1
    if (match($0, /[A-Za-z0-9_]+\.cuh?:[0-9]+/) && /in kernel |runtime error|(^ *|reads? |writes? )at / && place == "")
        place = substr($0, RSTART, RLENGTH)
    if (/^cudacpu: / && what == "") {
        what = $0
        sub(/^cudacpu: (hazard: )?/, "", what)
        sub(/( on | at 0x|[:;,(]).*/, "", what)
        if (what !~ /^an? /) what = (what ~ /^[aeiou]/ ? "an " : "a ") what
    }
    if (goes_on && /^      [^ ]/) why = why $0
    goes_on = 0
    if (/^    [a-z_0-9]+: / && why == "") { why = $0; sub(/^ *[a-z_0-9]+: /, "", why); goes_on = 1 }
    sub(/  +/, " ", why)
}

function begin_of_run(text,   parts, words, n, i) {
    place = what = why = ""
    is_run = 0
    for (i in wrong) delete wrong[i]
    split(test, parts, ".")
    program = parts[1]; device = parts[2]; group = parts[3]
    failed_in[program] = failed_in[program] " " device "." group
    if (group ~ /^(checks|files|faults|fuzz|refusals|together|seeds)/ || !match(text, "[^ ]*/" device "/" program)) return
    order = match(text, /LAB_ORDER=(reverse|[0-9]+) /) ? substr(text, RSTART, RLENGTH) : ""
    match(text, "[^ ]*/" device "/" program)
    command = substr(text, RSTART + RLENGTH + 1)
    is_run = 1
    n = split(command, words, " ")
    named = ""; names = 0
    for (i = 1; i < n; ++i)
        if (words[i] ~ /^--(only|wrong)$/) { named = words[i + 1]; ++names }
    luck = text ~ /status 0, wanted 1: /
}
# A failed run belongs to the kernels that its command names, otherwise to those that its table calls wrong.
function end_of_run(   name, some) {
    if (program == "") return
    if (is_run && names == 1) { note(named); some = 1 }
    else if (is_run) for (name in wrong) { note(name); some = 1 }
    if (!some) note("")
    is_run = 0
    program = ""
}
function note(name,   key, rank, options) {
    key = program " " name
    ++runs[key]
    if (!(key in best)) kernels[++kernel_count] = key
    options = command
    gsub(/--(only|wrong) [^ ]+ ?/, "", options)
    sub(/ +$/, "", options)
    # The command that shows the failure best: one of the hazard build, else the one with the fewest options.
    rank = (device == "hazards" ? 0 : device == "cpu" ? 100 : 200) + length(options) + (order != "" ? 50 : 0) + (name == "" ? 1000 : 0)
    if ((key in best) && best[key] <= rank) return
    best[key] = rank
    says[key] = luck ? "this wrong twin is not detected" : what != "" ? what : why != "" ? why : "wrong"
    if (place != "") says[key] = says[key] ", " place
    if (name == "") { shows[key] = "ctest --test-dir " build asked " -R " program "[.]" device "[.]" group " --output-on-failure"; return }
    name = (known[program, name] == "twin" ? "--wrong " : "--only ") name
    if (order == "" && device ~ /cpu|hazards/ && is_sample(program)) # make NN also runs the hazard build, with a small size
        shows[key] = "make " substr(program, 1, 2) " ARGS=\"" name (device == "hazards" || options == "" ? "" : " " options) "\""
    else
        shows[key] = order build "/" device "/" program " " name (options == "" ? "" : " " options)
}
function is_sample(program) { return system("test -d \"" top "/" program "\"") == 0 }
function many(count, what) { return count " " what (count == 1 ? "" : "s") }
function cut(text, width) { return length(text) > width ? substr(text, 1, width - 3) "..." : text }
END {
    end_of_run()
    failed = number["failed"] + number["timeout"]
    total = failed + number["passed"] + number["skipped"]
    lines = 0
    most = 24
    for (k = 1; k <= kernel_count; ++k) {
        split(kernels[k], parts, " ")
        if (parts[2] != "") has_kernel[parts[1]] = 1
    }
    for (pass = 1; pass <= 2; ++pass) # kernels first
        for (k = 1; k <= kernel_count; ++k) {
            split(kernels[k], parts, " ")
            if ((parts[2] == "") != (pass == 2) || (pass == 2 && (parts[1] in has_kernel))) continue
            if (++lines <= most) printf "%-46s %s\n", shows[kernels[k]], cut("# " (pass == 2 ? parts[1] ": " : "") says[kernels[k]], 100)
        }
    for (t = 1; t <= test_count; ++t) {
        test = tests[t]
        if (result[test] !~ /failed|timeout/) continue
        split(test, parts, ".")
        if (parts[1] in failed_in && result[test] != "timeout") continue
        others[++other_count] = test
    }
    for (o = 1; o <= other_count; ++o)
        if (++lines <= most) {
            test = others[o]
            gsub(/[.]/, "[.]", test)
            printf "%-46s %s\n", "ctest --test-dir " build asked " -R \"^" test "$\" --output-on-failure", \
                cut("# " (result[others[o]] == "timeout" ? "took too long" : others[o] in line ? line[others[o]] : "failed"), 100)
        }
    if (lines > most) print "... and " lines - most " more"
    if (lines) print ""
    for (t = 1; t <= test_count; ++t) {
        if (!(tests[t] in reason)) continue;
        why = reason[tests[t]]
        if (!skips[why]++) reasons[++reason_count] = why
    }
    for (r = 1; r <= reason_count && r <= 6; ++r) print cut(sprintf("%5d skipped: %s", skips[reasons[r]], reasons[r]), 100)
    printf "%s: %s of %s passed%s%s, in %s min\n", failed ? "FAILED" : "PASSED", number["passed"] + 0, many(total, "test"), \
        failed ? ", " failed " failed" : "", number["skipped"] ? ", " number["skipped"] " skipped" : "", minutes
    print "Their output is in " log_file
}' "$folder/results" "$folder/names" "$log"
exit "$status"
