#!/bin/sh
# languages.sh [FOLDER...]: compares each README.zh-CN.md with the README.md beside it. Without arguments it takes the top
# folder, common, common/course, common/first and the folders that have pages. In each section it compares headings, fenced
# blocks, numbers, links, images, tables, <details>, and the names in `code`. Links are compared by file, not by anchor.
# Lines of a block may differ after "# " or "// ". A block marked ```text-diagram in README.zh-CN.md is a drawing with
# words: its number of lines and its numbers must agree.
# Exit status: 0 if all pages agree, 1 if not.
. "$(dirname "$0")/../lib.sh"
cd "$top" || exit 1
[ $# -gt 0 ] || set -- . common common/course common/first $(ls -d [0-9]*_*/README*.md | sed 's,/.*,,' | sort -u)
for place; do
    place=${place%/}/
    place=${place#./}
    for file in "${place}README.md" "${place}README.zh-CN.md"; do
        [ -r "$file" ] || { fail "$file is missing"; continue 2; }
    done
    # The Chinese file comes first, because it marks the blocks that are drawings.
    LC_ALL=C awk -v folder="$place" '
    function item(key, text) { # counts an item of this file; the other file must have it as often under the same key
        n[file]++
        keys[file, n[file]] = key
        texts[file, n[file]] = text
        lines[file, n[file]] = FNR
        rank[file, n[file]] = ++count[file, key]
    }
    function numbers(text, key,    token) {
        while (match(text, /[0-9],[0-9][0-9][0-9]/)) text = substr(text, 1, RSTART) substr(text, RSTART + 2)
        while (match(text, /[A-Za-z_][A-Za-z_0-9]*|(-|−)?[0-9]+(\.[0-9]+)?(⁻|⁰|¹|²|³|⁴|⁵|⁶|⁷|⁸|⁹)*/)) {
            token = substr(text, RSTART, RLENGTH)
            text = substr(text, RSTART + RLENGTH)
            sub(/^−/, "-", token)
            if (token !~ /^[A-Za-z_]/) item(key " number " token, "number " token) # names such as H200 and L2 are not numbers
        }
    }
    function link(what, target) {
        if (target == (file == 1 ? "README.md" : "README.zh-CN.md")) {
            item("other language", "link to the other language")
            return
        }
        sub(/#.*/, "#", target)
        if (file == 1) sub(/\.zh\./, ".", target) # x.zh.svg corresponds to x.svg
        if (file == 1 && target !~ /README/) sub(/\.zh-CN\.md/, ".md", target)
        if (file == 1 && !sub(/README\.zh-CN\.md/, "README.md", target) && target ~ /README\.md#?$/) {
            page = folder target
            sub(/README\.md#?$/, "README.zh-CN.md", page)
            if ((getline line <page) >= 0) target = "the English " target
            close(page)
        }
        item(section " " what " " target, what " to " target)
    }
    function prose(text,    start) {
        while (match(text, /!\[[^]]*\]\(/)) { # an image
            start = RSTART
            text = substr(text, 1, start - 1) substr(text, start + RLENGTH - 2)
            match(substr(text, start), /\)/)
            link("image", substr(text, start + 2, RSTART - 3))
            text = substr(text, 1, start - 1) substr(text, start + RSTART)
        }
        while (match(text, /\]\([^)]*\)/)) {
            start = RSTART
            link("link", substr(text, start + 2, RLENGTH - 3))
            match(text, /\]\([^)]*\)/)
            text = substr(text, 1, RSTART - 1) " " substr(text, RSTART + RLENGTH)
        }
        while (match(text, /src(set)?="[^"]*"/)) { # an image for light or dark pages
            split(substr(text, RSTART, RLENGTH), words, "\"")
            text = substr(text, 1, RSTART - 1) substr(text, RSTART + RLENGTH)
            link("image", words[2])
        }
        while (sub(/<details>/, "", text)) item(section " details", "<details>")
        numbers(text, section)
    }

    FNR == 1 { file++; name[file] = FILENAME; section = block = table = fenced = in_table = in_code = in_comment = 0 }
    /^ *```/ {
        fenced = !fenced
        if (!fenced) next
        block++
        row = 0
        if (/text-diagram/) drawing[section, block] = 1
        item(section " block " block, "fenced block " block " of the section")
        next
    }
    fenced {
        key = section " block " block " line " ++row
        if ((section, block) in drawing) {
            item(key, "line " row " of a drawing")
            numbers($0, section " block " block)
        } else {
            sub(/(^|[ \t]+)(#|\/\/) .*/, "")
            sub(/[ \t]+$/, "")
            item(key " " $0, "line " row " of a block: " $0)
        }
        next
    }
    /^#+ / {
        section++
        block = table = 0
        item("heading " section " " $1, "heading " section ": " $0)
        head[file, section] = FNR
    }
    /^ *$/ { in_code = 0 } # `code` ends at the end of its paragraph at the latest
    { was_table = in_table; in_table = /^ *\|/ }
    in_table {
        if (!was_table) { table++; row = 0 }
        cells = $0
        row++
        columns = gsub(/\|/, "", cells) - gsub(/\\/, "", cells) - 1
        item(section " table " table " " row " " columns, "row " row " of table " table " with " columns " columns")
    }
    {
        text = $0
        plain = ""
        while (in_comment || index(text, "<!--")) {
            if (!in_comment) {
                plain = plain substr(text, 1, index(text, "<!--") - 1)
                text = substr(text, index(text, "<!--"))
            }
            end = index(text, "-->")
            in_comment = !end
            comment = end ? substr(text, 1, end + 2) : text
            text = substr(text, length(comment) + 1)
            if (in_comment) break
        }
        parts = split(plain text, part, "`")
        text = ""
        for (i = 1; i <= parts; i++) {
            if (i > 1) {
                if (in_code) item(section " `" code, "`" code "`")
                in_code = !in_code
                code = ""
            }
            if (in_code) code = code (i == 1 ? " " : "") part[i]
            else text = text " " part[i]
        }
        prose(text)
    }

    function compare(pattern,    f, i, key, other, bad) {
        for (f = 1; f <= 2; f++) {
            other = 3 - f
            for (i = 1; i <= n[f]; i++) {
                key = keys[f, i]
                if (key !~ pattern || rank[f, i] <= count[other, key] + 0) continue
                if (key ~ /^[0-9]+ `/ && count[other, key]) continue # the number of times does not matter
                at = key + 0 ? ":" head[other, key + 0] : ""
                printf "FAIL  %s:%d: %s is not in %s%s\n", name[f], lines[f, i], texts[f, i], name[other], at
                bad = 1
            }
        }
        return bad
    }
    END { # if the headings differ, sections cannot be compared
        if (compare("^heading")) exit 1
        exit compare("")
    }
    ' "${place}README.zh-CN.md" "${place}README.md" && ok "${place}README.zh-CN.md" || failed=1
done
finish
