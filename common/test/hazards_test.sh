#!/bin/sh
# hazards_test.sh: does hazards.sh notice what is not as expected? Its samples are scripts here, which end as told.
set -u
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
failed=0

# sample KIND STATUS_OF_VARIANT STATUS_OF_TWIN: build/KIND/01_fake, with one variant and one wrong twin
sample() {
    mkdir -p "$folder/build/$1"
    cat >"$folder/build/$1/01_fake" <<END
#!/bin/sh
case \$1 in
--list) printf 'variant right\ntwin wrong\ntakes --help\n' ;;
--only) exit $2 ;;
--wrong) [ $3 = 1 ] && echo 'FAILED: 01_fake' && echo '  in kernel wrong, writes at fake.cu:7' >&2; exit $3 ;;
esac
END
    chmod +x "$folder/build/$1/01_fake"
}
# expect STATUS TEXT: what hazards.sh must end with, and a line that it must print
expect() {
    sh "$(dirname "$0")/hazards.sh" "$folder/build" 1 >"$folder/out" 2>&1
    status=$?
    if [ $status = "$1" ] && grep -qE "$2" "$folder/out"; then return; fi
    echo "FAIL  status $status, wanted $1 and a line like: $2"
    sed 's/^/      | /' "$folder/out"
    failed=1
}

expect 3 "no CPU device"
sample cpu 0 0
sample asan 0 0
expect 3 "hazards/01_fake is missing"
sample hazards 0 1
expect 0 "^01_fake: wrong \(twin\) +- +- +- +- +report +fake.cu:7$"
expect 0 "^01_fake: right +ok +ok +ok +ok +ok +-$"
sample hazards 0 0
expect 1 "^unexpected: 01_fake: wrong \(twin\): nothing finds it$"
sample hazards 0 1
sample asan 1 0
expect 1 "^unexpected: 01_fake: right, which is right: asan says status 1$"
exit $failed
