#!/bin/sh
# hazards_test.sh: tests that hazards.sh notices unexpected results. Its samples here are scripts that end with a given status.
# Exit status: 0 if all cases pass, 1 if not.
. "$(dirname "$0")/lib.sh"

# sample KIND STATUS_OF_VARIANT STATUS_OF_TWIN: creates build/KIND/01_fake, with one variant and one wrong twin
sample() {
    mkdir -p "$folder/build/$1"
    cat >"$folder/build/$1/01_fake" <<END
#!/bin/sh
case \$1 in
--list) printf 'variant right\ntwin wrong\ntakes --help\n' ;;
--only) exit $2 ;;
--wrong) [ $3 = 1 ] && echo 'FAILED: 01_fake' && printf 'cudacpu: hazard: race on a (fake.cu:3)\n  in kernel wrong,\n  at fake.cu:7\n' >&2; exit $3 ;;
esac
END
    chmod +x "$folder/build/$1/01_fake"
}
# expect STATUS TEXT: the status of hazards.sh, and a line that it must print
expect() {
    ends "$1" sh "$here/hazards.sh" "$folder/build" 1
    says "$2" || fail "no line like: $2"
}

expect 3 "no CPU device"
sample cpu 0 0
sample asan 0 0
expect 3 "hazards/01_fake is missing"
sample hazards 0 1
expect 0 "^  wrong \(twin\) +missed +missed +missed +missed +report +:7$"
expect 0 "^  right +ok +ok +ok +ok +ok +-$"
sample hazards 0 0
expect 1 "^.*/build/hazards/01_fake --wrong wrong +# a wrong twin, and nothing finds it$"
expect 1 "^  wrong \(twin\)( +missed){6}$"
expect 1 "^missed +a wrong twin is not noticed$"
awk '/^ok  /, /^$/ { if (length($0) > 80) exit 1 }' "$folder/out" || fail "the legend has a line of over 80 columns"
sample hazards 0 1
sample asan 1 0
expect 1 "^.*/build/asan/01_fake --only right +# asan says status 1$"
sample cpu 1 0
expect 1 "^.*/build/asan/01_fake --only right +# forward says status 1, reverse says status 1, seeds says status 1, asan says status 1$"
# one line for each kernel, instead of one for each of 200 cells
printf "#!/bin/sh\n[ \$1 != --list ] || seq 31 | sed 's/^/variant v/'\n" >"$folder/build/cpu/01_fake"
expect 1 "^.*/build/asan/01_fake --only v30 +# asan says status 1$"
expect 1 "^\.\.\. and 1 more$"
finish
