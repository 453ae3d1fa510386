#!/bin/sh
# diff.sh NN A B: shows the differences between rungs A and B of sample NN (04), or of program NN_name (a sequel), word by word:
# [-words of A-] and {+words of B+}, or colours on a terminal. A rung is its comment, its kernel and its launch. Exit status: 0,
# 2 if there is no such sample or rung, 3 without git.
. "$(dirname "$0")/folder.sh"
cd "$top" || exit
if [ $# != 3 ]; then
    echo "Which rungs? Type make diff 04 modulo masked" >&2
    exit 2
fi
case $1 in *_*) name=${1%/} ;; [1-9]) name=$(folder_of "0$1") ;; *) name=$(folder_of "$1") ;; esac
file=$(folder_of "$name")/${name#*_}.cu
if [ ! -f "$file" ]; then
    echo "There is no sample $1. Type make help for a list" >&2
    exit 2
fi
folder=$(mktemp -d) || exit
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' HUP INT TERM

# rung NAME: the paragraphs that define the kernel NAME or launch_NAME. A blank line within braces does not end a paragraph.
rung() {
    awk -v defines="[ *](launch_)?$1\\\\(.*[{,]\$" '
        function end() { if (found) printf "%s", text; text = ""; found = 0 }
        depth == 0 && !NF { end(); next }
        { text = text $0 "\n"; if (depth == 0 && $0 ~ defines) found = 1; depth += gsub(/{/, "{") - gsub(/}/, "}") }
        END { end() }' "$file"
}
for word in "$2" "$3"; do
    rung "$word" >"$folder/$word" 2>/dev/null
    if [ ! -s "$folder/$word" ]; then
        echo "$file has no rung '$word'. Its rungs are:" >&2
        sed -nE 's/^.*[ *]launch_([a-z0-9_]+)\(.*\{.*/  \1/p' "$file" | awk '!seen[$0]++' >&2
        exit 2
    fi
done
if cmp -s "$folder/$2" "$folder/$3"; then
    echo "The same lines of $file define both $2 and $3."
    exit 0
fi
command -v git >/dev/null || { echo "make diff needs git. Type apt-get install git" >&2 && exit 3; }
words=plain
[ -z "$green" ] || words=color
git --no-pager diff --no-index --no-prefix --no-ext-diff --patience -U999 --word-diff=$words \
    --word-diff-regex='[A-Za-z0-9_]+|[^[:space:]]' "$folder/$2" "$folder/$3" | sed 1,5d
