#!/bin/sh
# words.sh NAME COMMAND...: runs the command with the words of the environment variable NAME as its last arguments. Blanks
# separate the words; quotes and backslashes group them as in a shell. Nothing in them is expanded or executed. Exit status: the
# command's, 2 if a quote is not closed.
name=$1
shift
words=$(LC_ALL=C awk -v name="$name" 'BEGIN {
    text = ENVIRON[name]
    for (i = 1; i <= length(text) + 1; ++i) {
        c = substr(text, i, 1)
        if (quote == "" && (c == "" || c ~ /[ \t\n]/)) { # the word ends here
            n = split(word, parts, "\047") # mawk and gawk read a backslash in the text for gsub() differently
            if (begun) printf " \047%s", parts[1]
            for (k = 2; k <= n; ++k) printf "\047\\\047\047%s", parts[k]
            if (begun) printf "\047"
            begun = 0
            word = ""
            continue
        }
        begun = 1
        if (c == "\\" && quote != "\047" && i < length(text)) {
            c = substr(text, ++i, 1)
            word = word (quote != "" && c !~ /["\\$`]/ ? "\\" : "") c
        } else if (c == quote) quote = ""
        else if (quote == "" && c ~ /["\047]/) quote = c
        else word = word c
    }
    if (quote == "") exit 0
    print name " has a quote that is not closed: " text > "/dev/stderr"
    exit 2
}') || exit
eval "set -- \"\$@\" $words"
exec "$@"
