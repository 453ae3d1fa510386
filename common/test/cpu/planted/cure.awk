# cure.awk: carries out the advice of the hazard build literally, on a copy of a program.
#   awk -f cure.awk ADVICE FILE.cu >CURED.cu
# ADVICE is the output of the hazard build. Advice that is not a recipe ("check the index") is carried out by the comment
# "// cured: ..." of a line, if the report names that line.
function each(numbers, list,   n) {  # "3, 5 and 9"
    gsub(/,| and /, " ", numbers)
    return split(numbers, list, " ")
}
function numbers_in(s) {
    match(s, /^[0-9]+((, [0-9]+)*( and [0-9]+))?/)
    return substr(s, 1, RLENGTH)
}
function pieces(code,   parts, i, all) {  # "`int i;` `i = 1;` for ..."
    split(code, parts, "`")
    for (i = 2; parts[i - 1] !~ /for/; i += 2) all = all (all == "" ? "" : " ") parts[i]
    return all
}
function carry_out(advice,   what, n, list, i, rest, code, parts, at) {
    if (match(advice, /give the (loop|branch) of line [0-9]+ braces, and /)) {
        rest = substr(advice, RSTART + RLENGTH)
        code = substr(advice, RSTART, RLENGTH)
        gsub(/[^0-9]/, "", code)
        open[code + 0] = 1
        match(rest, /after line [0-9]+/)
        close_after[substr(rest, RSTART + 11, RLENGTH - 11) + 0] = 1
        advice = rest
    }
    for (rest = advice; match(rest, /put [_a-z.]+\(\) (after|before) lines? [0-9]/); rest = substr(rest, at + 4)) {
        at = RSTART
        split(substr(rest, RSTART), what, " ")
        n = each(numbers_in(substr(rest, RSTART + RLENGTH - 1)), list)
        for (i = 1; i <= n; ++i)
            if (what[3] == "after") after[list[i]] = after[list[i]] " " what[2] ";"
            else before[list[i]] = before[list[i]] " " what[2] ";"
    }
    for (rest = advice; match(rest, /in line [0-9]+ (put|write) /); rest = substr(rest, RSTART + 4)) {
        split(substr(rest, RSTART), what, " ")
        split(substr(rest, RSTART), parts, "`")
        if (what[4] == "put") { from[what[3]] = parts[2]; to[what[3]] = parts[2] " " what[5] ";" }
        else if (match(rest, /write (`[^`]*` )+for `[^`]*`/)) {
            code = substr(rest, RSTART + 6, RLENGTH - 6)
            n = split(code, parts, "`")
            from[what[3]] = parts[n - 1]
            to[what[3]] = pieces(code)
        }
    }
    for (rest = advice; match(rest, /write (`[^`]*` )+for (the if of )?lines [0-9]+ to [0-9]+/); rest = substr(rest, RSTART + 4)) {
        code = substr(rest, RSTART + 6, RLENGTH - 6)
        n = split(code, what, " ")
        for (i = what[n - 2]; i <= what[n] + 0; ++i) dropped[i + 0] = 1
        before[what[n - 2]] = before[what[n - 2]] " " pieces(code)
    }
    for (rest = advice; match(rest, /drop lines? [0-9]+( to [0-9]+)?/); rest = substr(rest, RSTART + 4)) {
        n = split(substr(rest, RSTART, RLENGTH), what, " ")
        for (i = what[3] + 0; i <= what[n] + 0; ++i) dropped[i] = 1
    }
    for (rest = advice; match(rest, /after line [0-9]+ write /); rest = substr(rest, RSTART + 4)) {
        split(substr(rest, RSTART), what, " ")
        split(substr(rest, RSTART), parts, "`")
        after[what[3]] = after[what[3]] " " parts[2]
    }
    for (rest = advice; match(rest, /lines? [0-9]/); rest = substr(rest, RSTART + 4)) {
        n = each(numbers_in(substr(rest, RSTART + RLENGTH - 1)), list)
        for (i = 1; i <= n; ++i) named[list[i]] = 1
    }
}
FNR == NR {
    # The advice follows the listing of a report. Its continuation lines also begin with two spaces.
    if (/^cudacpu: /) { carry_out(advice); advice = ""; listed = 0 }
    for (rest = $0; match(rest, /planted\.cu:[0-9]+/); rest = substr(rest, RSTART + RLENGTH))
        named[substr(rest, RSTART + 11, RLENGTH - 11)] = 1
    if (/^ +[0-9]* \|/) { listed = 1; advice = ""; named[$1] = 1 }
    else if (listed && /^  /) advice = advice (advice == "" ? "" : " ") substr($0, 3)
    next
}
FNR == 1 { carry_out(advice) }
{
    line = FNR in dropped ? "" : $0
    if (FNR in named && (i = index(line, "// cured:"))) line = substr(line, i + 9)
    if (FNR in from && (i = index(line, from[FNR])))
        line = substr(line, 1, i - 1) to[FNR] substr(line, i + length(from[FNR]))
    if (FNR in before) print before[FNR]
    print line (FNR in open ? " {" : "")
    if (FNR in after) print after[FNR]
    if (FNR in close_after) print "}"
}
