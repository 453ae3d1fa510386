# lib.sh - the functions that the scripts share which run on every sample. Such a script begins with
#     . "$(dirname "$0")/lib.sh"
# and ends with `finish`, which exits with 0 if all cases passed, 1 if not, and 77 if the test was left out. The functions:
#     ok WHAT, fail WHAT          prints a line; fail also prints the output of the last run, and sets the exit status to 1
#     must WHAT COMMAND...        ok WHAT if the command succeeds, otherwise fail WHAT
#     skip WHY                    leaves out the rest of the test
#     run COMMAND...              runs it for at most $patience seconds; sets $status, writes $folder/out and $folder/err
#     ends STATUS COMMAND...      runs it; the status must be STATUS, or one of several, such as 0|1
#     says REGEX                  succeeds if a line that the last run printed matches
# For a sample, which lists its options and variants itself (--list):
#     sample BINARY               sets $binary, $name, $device, $home (the sample's folder) and $small (a small size); leaves the
#                                 test out if the binary is for a GPU and none is usable (LAB_NO_GPU: why; "" if one is)
#     takes OPTION                succeeds if the sample has this option
#     words KIND                  what --list names of a kind: variant, twin, slow, choice --op, takes --threads
#     quick                       prints --only for each variant that is not slow, nothing if none is slow; fails if all are
#     $rungs                      after `sample`: --only for each variant except the slow ones and whole_program, which has its
#                                 own sizes; empty on a GPU, and for a sample without whole_program
#     excused KIND NAME           succeeds if the sample's excused.txt has a line of this kind for NAME
set -u
here=$(cd "$(dirname "$0")" && pwd) patience=120 failed=0 status=0
top=${here%/common/test*}
newline="
"
folder=$(mktemp -d) || exit 1
readonly folder # it is removed at the end
trap 'chmod -R u+w "$folder" 2>/dev/null; rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM

ok() { echo "ok    $*"; }
fail() {
    echo "FAIL  $*"
    cat "$folder/out" "$folder/err" 2>/dev/null | sed 's/^/      | /' | tail -25
    failed=1
}
must() {
    what=$1
    shift
    if "$@"; then ok "$what"; else fail "$what"; fi
}
skip() {
    echo "left out: $*"
    exit 77
}
finish() { exit $failed; }
run() {
    timeout "$patience" "$@" >"$folder/out" 2>"$folder/err"
    status=$?
}
ends() {
    wanted=$1
    shift
    run "$@"
    said="${LAB_ORDER:+LAB_ORDER=$LAB_ORDER }$*"
    case "|$wanted|" in
    *"|$status|"*) ok "status $status  $said" ;;
    *) fail "status $status, wanted $wanted: $said" && false ;;
    esac
}
says() { grep -qE -e "$1" "$folder/out" "$folder/err"; }

sample() {
    binary=$(realpath "$1") name=$(basename "$1") device=$(basename "$(dirname "$1")") small=""
    home=$(ls -d "$top/${name%%_*}"_*/ 2>/dev/null)
    if [ "$device" = gpu ]; then
        if [ -z "${LAB_NO_GPU+known}" ]; then
            LAB_NO_GPU=$("$binary" --n 1 --repeats 1 2>&1 >/dev/null)
            [ $? = 77 ] || LAB_NO_GPU=""
        fi
        [ -z "$LAB_NO_GPU" ] || skip "$LAB_NO_GPU"
    fi
    list=$("$binary" --list) || { echo "FAIL  $binary --list"; exit 1; }
    if takes --n; then small="--n 5003"; fi
    if takes --width; then small="--width 70 --height 37"; fi
    rungs=""
    if [ "$device" != gpu ] && words variant | grep -qx whole_program; then
        rungs=$(words variant | grep -vx whole_program | grep -vxF -e "$(words slow; echo .)" | sed 's/^/--only /')
    fi
}
takes() { case "$newline$list$newline" in *"${newline}takes $1 "* | *"${newline}takes $1$newline"*) ;; *) false ;; esac; }
words() { echo "$list" | sed -n "s/^$1 //p"; }
quick() {
    if [ -z "$(words slow)" ]; then return; fi
    words variant | grep -vxF -e "$(words slow)" | sed 's/^/--only /' | grep .
}
excused() { grep -qE "^$1 $2( |\$)" "$home/excused.txt" 2>/dev/null; }
