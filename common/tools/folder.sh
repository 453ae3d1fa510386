# folder.sh: functions that the scripts of this folder share. Source it with `.`. It sets $top, the lab's top folder.
top=$(cd "$(dirname "$0")/../.." && pwd)

# folder_of PROGRAM: the name of its folder; for a sequel (04_all_gpus), the folder with its number
folder_of() {
    if [ -d "$top/$1" ]; then echo "$1"; else (cd "$top" && ls -d "${1%%_*}"_*/ 2>/dev/null | head -1 | tr -d /); fi
}

# settings FILE PROGRAM WORD: the text after WORD in the lines of FILE (bench.txt, for example) about PROGRAM. These are the
# lines after `program PROGRAM`; for the folder's own program also the lines before any `program` line.
settings() {
    [ ! -f "$1" ] || awk -v program="$2" -v word="$3" -v at="$(basename "$(dirname "$1")")" '
        $1 == "program" { at = $2; next }
        at == program && $1 == word { sub(/^[ \t]*[^ \t]+[ \t]*/, ""); sub(/[ \t]+$/, ""); print }' "$1"
}

# programs DEVICE_FOLDER: the programs that are built there
programs() { (cd "$1" 2>/dev/null && ls -d [0-9]* 2>/dev/null); }

# a_gpu_answers: does nvidia-smi list a GPU?
a_gpu_answers() { nvidia-smi -L 2>/dev/null | grep -q '^GPU 0'; }

# Colours of verdicts, under the same conditions as in the samples; otherwise empty.
green="" red="" usual=""
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
    green=$(printf '\033[32m') red=$(printf '\033[1;31m') usual=$(printf '\033[0m')
fi

# alone FILE WHAT: waits until no other process holds the lock of the file, and takes it. The lock is released when this process
# and all processes that inherited file descriptor 9 have ended.
alone() {
    (: >>"$1") 2>/dev/null && exec 9>>"$1" || return
    lock -n && return
    [ $? = 1 ] || return 0 # this file system has no locks
    echo "Another $2 is running. Waiting for it to end." >&2
    lock
}
lock() { # lock [-n]: locks file 9; with -n it does not wait, and returns 1 if the lock is taken
    if command -v flock >/dev/null; then
        flock "$@" 9
    else
        perl -e 'open my $file, ">>&=9"; exit !flock $file, @ARGV ? 6 : 2' -- "$@"
    fi 2>/dev/null
}

# writable FOLDER...: can $room bytes (default 16 MB) be written there? If not, prints what to type and returns 3.
writable() {
    for place; do
        if reason=$({ mkdir -p "$place" && head -c "${room:-16000000}" /dev/zero >"$place/room.$$"; } 2>&1); then
            rm "$place/room.$$"
            continue
        fi
        rm -f "$place/room.$$"
        printf 'Cannot write to %s: %s.\n' "$place" "${reason##*: }" >&2
        elsewhere="make BUILD=/elsewhere"
        [ "$place" != "${TMPDIR:-/tmp}" ] || elsewhere="export TMPDIR=/elsewhere"
        echo "Free some space, or use another folder. Type: $elsewhere" >&2
        return 3
    done
}

# limited: sets $limit, the seconds after which a run is stopped. If $LIMIT is not a number, prints what to type and returns 2.
limited() {
    limit=${LIMIT:-300}
    case $limit in
    *[!0-9]* | 0* | ??????????*) echo "LIMIT=$limit is not a number of seconds. Type LIMIT=300, for example." >&2 && return 2 ;;
    esac
}

# words WORD...: prints the words in one line, quoted for a shell
words() (
    line=""
    for word; do
        case $word in '' | *[!-A-Za-z0-9_./=,:+%@]*) word="'$(printf '%s' "$word" | sed "s/'/'\\\\''/g")'" ;; esac
        line="$line${line:+ }$word"
    done
    printf '%s' "$line"
)

# note_in FILE KIND: prints the first message of the CPU device in the file that matches KIND (a regular expression), in one line
note_in() {
    sed 's/^\x1b\[[0-9;]*m//; s/\x1b\[0m$//' "$1" | awk -v kind="^cudacpu: $2" '
        function ended() { if (text ~ kind) { sub(/^cudacpu: [a-z]*: /, "", text); print text; exit }; text = "" }
        text && (!/^  / || /^  (in kernel|launched at) |^  at [^ ]*:[0-9]+$|^ *[0-9]+ \|/) { ended() }
        text { text = text substr($0, 2) }
        /^cudacpu: / { text = $0 }
        END { ended() }'
}

# members FILE...: explains threadIdx if the source uses it as a number
members() {
    ! grep -qE '(^|[^[:alnum:]_])(threadIdx|blockIdx|blockDim|gridDim)[[:space:]]*[]+*/%<>=-]' "$@" ||
        echo "threadIdx has .x, .y and .z; so do blockIdx, blockDim and gridDim."
}
