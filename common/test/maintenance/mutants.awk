# mutants.awk: plants the changes of mutants.sh into a sample, which it reads twice:
#     awk -v list=FILE -f mutants.awk sample.cu sample.cu >mutants.cu
# FILE gets a line for each change: its number, line, kind, and the text of the line.
#
# The code of a right kernel is in functions marked __global__ or __device__, before the section of the wrong twins. (A function
# that is also __host__ belongs to the CPU reference.) If a twin is an Op, the rest of a function after the first use of that
# Op belongs to the twin. Launches and resets of right kernels are before or after that section. The code of the checks is the
# host code in the sections after the twins, and any function that returns std::string or bool.
function on(kind) { # makes a change of this kind; returns the expression that selects it
    print ++count, FNR, kind, shown >list
    return "\001" count "\002" # the markers protect it from other changes
}
function end_of(s, open,   i, depth, c) { # returns where the parenthesis that opens at s[open] closes, or 0
    for (i = open; i <= length(s); ++i) {
        c = substr(s, i, 1)
        depth += (c == "(") - (c == ")")
        if (!depth) return i
    }
    return 0
}
function barriers(s,   out, call) {
    while (match(s, /(__syncthreads|__syncwarp|[a-z_]+\.sync|__threadfence)\([a-z_]*\);/)) {
        call = substr(s, RSTART, RLENGTH)
        out = out substr(s, 1, RSTART - 1) on(call ~ /fence/ ? "no-fence" : "no-barrier") " ? (void)0 : (void)" call
        s = substr(s, RSTART + RLENGTH)
    }
    return out s
}
function atomics(s,   out) {
    while (match(s, /atomic(Add|Inc|Exch|CAS)\(/)) {
        on("no-atomic")
        out = out substr(s, 1, RSTART - 1) "lab_" substr(s, RSTART + 6, RLENGTH - 7) "<" count ">("
        s = substr(s, RSTART + RLENGTH)
    }
    return out s
}
function condition(s,   parts, n, i, out) { # returns the condition of a loop
    n = split(s, parts, / && /)
    for (i = 1; i <= n; ++i)
        out = out (i > 1 ? " && " : "") parts[i] (parts[i] ~ / < / ? " + " on("one-more-turn") : "")
    return out
}
function loops(s,   start, close_at, clauses) { # keeps the text between the parentheses in `header`
    header = ""
    if (!match(s, /(for|while) \(/)) return s
    start = RSTART + RLENGTH
    if (!(close_at = end_of(s, start - 1))) return s
    header = substr(s, start, close_at - start)
    if (split(header, clauses, /;/) == 3) {
        if (clauses[1] ~ / \/ 2$/) clauses[1] = clauses[1] " + " on("stride")
        clauses[2] = condition(clauses[2])
        if (clauses[3] ~ / [-+*\/]= [^,]*$/) clauses[3] = clauses[3] " + " on("stride")
        header = clauses[1] ";" clauses[2] ";" clauses[3]
    } else if (s ~ /while \(/) {
        header = condition(header)
    }
    return substr(s, 1, start - 1) "\003" substr(s, close_at)
}
function guards(s,   start, close_at, inner, rest, parts, n, i) {
    if (match(s, /if \(/)) {
        start = RSTART + RLENGTH
        close_at = end_of(s, start - 1)
        inner = substr(s, start, close_at - start)
        rest = substr(s, close_at)
        if (rest ~ /^\) return/) {
            if (inner ~ / [<>]=? /) inner = "!" on("no-guard") " && (" inner ")"
        } else {
            n = split(inner, parts, / && /)
            inner = ""
            for (i = 1; i <= n; ++i)
                inner = inner (i > 1 ? " && " : "") \
                    (parts[i] ~ / [<>]=? / ? "(" on("no-guard") " || " parts[i] ")" : parts[i])
        }
        s = substr(s, 1, start - 1) inner rest
    }
    if (match(s, /[A-Za-z_][A-Za-z0-9_.]*( [+*] [A-Za-z0-9_.]+)* (<|>=) [A-Za-z0-9_.]+( \* [a-z]+)? \?/))
        s = substr(s, 1, RSTART - 1) "(" on("no-guard") " || " substr(s, RSTART, RLENGTH - 2) ")" \
            substr(s, RSTART + RLENGTH - 2)
    return s
}
function first_values(s,   out) {
    while (match(s, /[A-Za-z_\]] = (0|Op::identity)[;,]/)) {
        out = out substr(s, 1, RSTART + RLENGTH - 2) " + " on("first-value")
        s = substr(s, RSTART + RLENGTH - 1)
    }
    return out s
}

# A function only reads through its pointers to const. `other` maps each one to a pointer of the same type to read instead.
function arrays(signature,   parts, n, i, type, name, first, written) {
    split("", other)
    sub(/.*__(global|device)__/, "", signature)
    sub(/__launch_bounds__\([^)]*\)/, "", signature)
    sub(/^[^(]*\(/, "", signature)
    n = split(signature, parts, /,/)
    for (i = 1; i <= n; ++i) {
        if (parts[i] !~ /^[^(&]*\*[^(&]*$/) continue
        name = type = parts[i]
        sub(/ *$/, "", name)
        sub(/.*[* ]/, "", name)
        gsub(/const |\*.*| /, "", type)
        if (!(type in first)) first[type] = name
        else {
            other[name] = first[type]
            if (!(first[type] in other)) other[first[type]] = name
        }
        if (parts[i] !~ /const /) written[name]
    }
    for (name in written) delete other[name]
}
function wrong_arrays(s,   name, out, at, before, after) {
    for (name in other) {
        out = ""
        while (at = index(s, name)) {
            before = substr(out substr(s, 1, at - 1), length(out) + at - 1, 1)
            after = substr(s, at + length(name), 1)
            out = out substr(s, 1, at - 1)
            if (before ~ /[A-Za-z0-9_.>\005]/ || after ~ /[A-Za-z0-9_(]/) out = out name
            else out = out "(" on("wrong-array") " ? \005" other[name] " : \005" name ")"
            s = substr(s, at + length(name))
        }
        s = out s
    }
    gsub("\005", "", s)
    return s
}
function clocks(s,   place) { # a kernel reads two clocks; the changes move both before its work, or both after it
    if (!match(s, /[a-z_]+\[[^\]]*\] = clock64\(\);/)) return s
    place = substr(s, RSTART, index(substr(s, RSTART), " = ") - 1)
    if (begin == "") {
        begin = place
        return s " const long long lab_begin = clock64();"
    }
    s = substr(s, 1, RSTART - 1) place " = " on("clock-outside") " ? lab_begin : clock64();" substr(s, RSTART + RLENGTH)
    return "if (" on("clock-outside") " && threadIdx.x == 0) " begin " = clock64(); " s
}
function huge(s,   start, value) { # changes the computation of a bound
    if (!match(s, /(double|float) [a-z_]*(bound|slack|tolerance|epsilon)[a-z_]* = [^;]*;/)) {
        if (!match(s, /return (std::expm1|loss)\([^;]*;/)) return s
        start = RSTART + 7
    } else start = RSTART + index(substr(s, RSTART), " = ") + 2
    value = substr(s, start)
    sub(/;.*/, "", value)
    s = substr(s, 1, start - 1) "(1 + 999 * " on("huge-bound") ") * (" value ")" substr(s, start + length(value))
    sub(/constexpr /, "const ", s)
    return s
}

function comma_after(s, start,   i, depth, c) { # returns the next comma outside parentheses, or 0
    for (i = start; i <= length(s); ++i) {
        c = substr(s, i, 1)
        depth += (c == "(") - (c == ")")
        if (c == "," && !depth) return i
    }
    return 0
}
function launches(s,   name, open_at, comma) { # a kernel that does not loop over its elements needs all its blocks
    if (s ~ /cudaMemset(Async)?\([^,]+, 0, /) sub(/CHECK\(/, "if (!" on("no-reset") ") &", s)
    if (!match(s, /[A-Za-z_.>][A-Za-z_0-9.>]*(<[a-z_A-Z0-9, ]*>)?<<</)) return s
    open_at = RSTART + RLENGTH - 1
    name = substr(s, RSTART)
    sub(/<.*/, "", name)
    if (!(comma = comma_after(s, open_at + 1))) return s
    if (name in loops_over || name ~ /[.>]|^kernel$/) return s # a function pointer: the kernel is unknown
    return substr(s, 1, open_at) "lab_fewer(" on("fewer-blocks") ", " substr(s, open_at + 1, comma - open_at - 1) ")" \
        substr(s, comma)
}
function compares(s) {
    return s ~ /mismatch\(|equal\(|wrong == 0/ ||
        s ~ / (==|!=|<=) / && s ~ /want([^s]|$)|expect|exact|right|answer|differ|bound|slack|tolerance/
}
function balanced(s) { return gsub(/\(/, "(", s) == gsub(/\)/, ")", s) }
function weaker(s,   value, start, at, op, close_at, inner, out, rest, parts, n, i) { # replaces a comparison by a weaker one
    if (match(s, /(mismatch|equal)\([a-z_]+\.begin\(\), [a-z_]+\.end\(\)/)) {
        start = RSTART + RLENGTH
        value = substr(s, RSTART, RLENGTH)
        sub(/.*, /, "", value)
        s = substr(s, 1, start - length(value) - 1) "(" on("first-only") " ? " value " : " value ")" substr(s, start)
        sub(/\.end\(\) : /, ".begin() + 1 : ", s)
    }
    while (match(s, /[-+*] (slack|tolerance|bound|epsilon)[a-z_]*|<=? (slack|tolerance|bound|epsilon)[a-z_]*/)) {
        value = op = substr(s, RSTART, RLENGTH)
        sub(/ .*/, "", op)
        sub(/^[^ ]* /, "", value)
        out = out substr(s, 1, RSTART - 1) op " ((" value " + 1.5 * " on("wide-bound") ") * (1 + " on("doubled-bound") "))"
        s = substr(s, RSTART + RLENGTH)
    }
    s = out s
    if (match(s, /[A-Za-z_.0-9\[\]]+ <= [^?;&|]+( \?| &&|;)/) && s ~ /bound|tolerance|epsilon|error/ && s !~ /(if|for) \(/) {
        at = substr(s, RSTART, RLENGTH)
        sub(/( \?| &&|;)$/, "", at)
        inner = at
        sub(/ <= /, " > ", inner)
        s = substr(s, 1, RSTART - 1) "(" on("nan-passes") " ? !(" inner ") : (" at "))" substr(s, RSTART + length(at))
    } else if (checker && match(s, /^ *return [^;]* <= [^;]* && [^;]*;/)) {
        n = split(substr(s, 1, RLENGTH - 1), parts, / && /)
        rest = substr(s, RLENGTH)
        match(parts[1], /^ *return /)
        s = substr(parts[1], 1, RLENGTH)
        parts[1] = substr(parts[1], RLENGTH + 1)
        for (i = 1; i <= n; ++i) s = s (i > 1 ? " && " : "") "(" on("half-check") " || " parts[i] ")"
        s = s rest
    } else if (checker && match(s, /^ *return .* <= [^;]*;/)) {
        inner = substr(s, RSTART, RLENGTH - 1)
        value = substr(inner, index(inner, " <= ") + 4)
        sub(/^ *return /, "", inner)
        sub(/ <= .*/, "", inner)
        s = "    return " on("nan-passes") " ? !(" inner " > " value ") : " inner " <= (" value ") * (1 + " \
            on("doubled-bound") ") * (1 + 999 * " on("huge-bound") ") / (1 - " on("wide-bound") ")" substr(s, RLENGTH)
    } else if (match(s, /[A-Za-z_.0-9\[\]]+ == [A-Za-z_.0-9\[\]]+(\([^()]*\))?( \?|\)|;)/)) {
        inner = substr(s, RSTART, RLENGTH)
        sub(/( \?|\)|;)$/, "", inner)
        rest = substr(s, RSTART + length(inner))
        if (rest ~ /^ \? (""|wrong)/ || (rest !~ /^ \?/ && (inner ~ /want|expect|exact|answer/ || rest ~ /^\) \+\+right/ || checker && s ~ /return /)))
            s = substr(s, 1, RSTART - 1) "(" on("equal") " || " inner ")" rest
    }
    if (match(s, /bool right = [^;]* && [^;]*;/)) {
        rest = substr(s, RSTART + RLENGTH - 1)
        n = split(substr(s, RSTART + 13, RLENGTH - 14), parts, / && /)
        s = substr(s, 1, RSTART + 12)
        for (i = 1; i <= n; ++i)
            s = s (i > 1 ? " && " : "") (parts[i] ~ /\001/ ? parts[i] : "(" on("half-check") " || " parts[i] ")")
        s = s rest
    }
    if (match(s, /if \(/) && s ~ / (!=|<|>|<=|>=) /) {
        start = RSTART + RLENGTH
        close_at = end_of(s, start - 1)
        if (!close_at) return s
        inner = substr(s, start, close_at - start)
        rest = substr(s, close_at)
        if (rest ~ /^\) continue/ && !checker) return s
        if (rest ~ /^\) continue/) { # counts the case as right, without further comparisons
            n = split(inner, parts, / && /)
            inner = ""
            for (i = 1; i <= n; ++i) inner = inner (i > 1 ? " && " : "") "(" on("half-check") " || " parts[i] ")"
        } else {
            n = split(inner, parts, / \|\| /)
            for (i = 1; i <= n; ++i) if (!balanced(parts[i])) n = split(inner, parts, /\003/) # keep it as one part
            inner = ""
            for (i = 1; i <= n; ++i) inner = inner (i > 1 ? " || " : "") "!" on("half-check") " && (" parts[i] ")"
        }
        s = substr(s, 1, start - 1) inner rest
    }
    return s
}
function first_only(s,   variable, at) { # changes a loop that compares
    if (!match(s, /for \([^;]*; [a-z_]+ < [A-Za-z_.()]+;/)) return s
    at = RSTART + RLENGTH - 1
    variable = substr(s, RSTART, RLENGTH)
    sub(/^[^;]*; /, "", variable)
    sub(/ .*/, "", variable)
    return substr(s, 1, at - 1) " && (!" on("first-only") " || " variable " < 1)" substr(s, at)
}

NR == FNR { # first pass: finds the twins that are an Op, the kernels that loop over their elements, and the lines that compare
    if (/[ |]wrong[ ,|]/ && match($0, /<Op::[a-z_]+>/)) mistakes[substr($0, RSTART + 1, RLENGTH - 2)]
    if (/__(global|device)__/) declared = $0
    else if (declared != "") declared = declared " " $0
    if (declared ~ /^[^({]*;/) declared = "" # it is a variable
    if (declared != "") {
        function_name = declared
        sub(/.*__(global|device)__/, "", function_name) # leave out functions among the template parameters
        sub(/__launch_bounds__\([^)]*\)/, "", function_name)
        if (function_name ~ /\(/) { # otherwise its name is on the next line
            sub(/\(.*/, "", function_name)
            sub(/.*[ *&]/, "", function_name)
            of_device = 1
            declared = ""
        }
    }
    for (name in loops_over) if (of_device && $0 ~ ("[^a-z_]" name "[(<]")) loops_over[function_name]
    if (of_device && /gridDim/ && !/\[[^\]]*gridDim/) loops_over[function_name]
    if (/^}/ || /__(global|device)__.*}$/) of_device = 0
    line_compares[FNR] = !/^ *\/\// && (compares($0) || / != .*return |(==|!=) .*(continue|return)/)
    next
}
FNR == 1 { print "#line 1 \"" FILENAME "\"" }
/^\/\/ ---- (run, )?check/ || /^\/\/ ---- / && twins { checking = 1 }
/^\/\/ ---- wrong twins/ { twins = 1 }
{
    shown = $0
    gsub(/^ *|"|'|\\/, "", shown)
    gsub(/  +/, " ", shown)
    shown = substr(shown, 1, 60)
    sub(/ *$/, "", shown)
    comment = ""
    if (match($0, /  *\/\/.*/)) {
        comment = substr($0, RSTART)
        $0 = substr($0, 1, RSTART - 1)
    }
    ends = 0
    if (!inside && !twins && /__(global|device)__/ && /\(/ && !/__host__/) {
        match($0, /^ */)
        close_line = substr($0, 1, RLENGTH) "}"
        inside = 1
        ends = /\{.*\}$/
        signature = begin = ""
        body = 0
    }
    for (mistake in mistakes) if (index($0, mistake ")")) mistaken = 1
    if (inside && /^#else/) left_out = 1 # the CPU device compiles the branch for compute capability 8.0
    if (/^#endif/) left_out = 0
    if (inside && !mistaken && !left_out) {
        code = first_values(guards(atomics(barriers(loops($0)))))
        if (at = index(code, "\003")) code = substr(code, 1, at - 1) header substr(code, at + 1)
        at = 1
        if (!body) {
            signature = signature code
            if (body = match(code, /\) (const )?\{/)) {
                at = RSTART + RLENGTH
                sub(/\) (const )?\{.*/, "", signature)
                arrays(signature)
            }
        }
        if (body) code = substr(code, 1, at - 1) wrong_arrays(clocks(substr(code, at)))
        gsub("\001", "lab_mutant(", code)
        gsub("\002", ")", code)
        $0 = code
    } else if (!inside && !mistaken) {
        if (/^(inline |static )?(std::string [a-z_]+|bool whole_program|[A-Za-z_:]+ [a-z_]*(compare|check|differ|agree|same|right|wrong)[a-z_]*)\(/)
            checker = !/[};]$/ # no body follows a declaration or a function on one line
        code = $0
        if (/^#if/) ++conditional
        if (/^#endif/) --conditional
        if ((checking || checker) && !conditional && !/__(global|device)__|^#/) {
            if (line_compares[FNR] || checker) code = weaker(code)
            if (code ~ /for \(/)
                for (i = 0; i <= 6; ++i) if (line_compares[FNR + i]) { code = first_only(code); break }
        }
        if (!conditional && (!twins || checking)) code = huge(code)
        if (!conditional && (!twins || checking)) code = launches(code) # this build may lack code under #if
        if (/^}/) checker = 0
        gsub("\001", "lab_mutant(", code)
        gsub("\002", ")", code)
        $0 = code
    }
    if (inside && ($0 == close_line || ends)) inside = mistaken = 0
    print $0 comment
}
