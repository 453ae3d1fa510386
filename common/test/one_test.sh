#!/bin/sh
# one_test.sh BUILD [all]: tests `make NN` (common/tools/one.sh). It must find nothing wrong with any sample as it is, and must
# find a wrong twin in both builds. The script runs every variant of two samples and the last variant of the others; with `all`,
# it runs every variant of all samples. Exit status: 0 if all cases pass, 1 if not, 77 if the hazard build is missing.
. "$(dirname "$0")/lib.sh"
build=${1:?one_test.sh BUILD [all]} all=${2:-}
checks() { ends "$1" sh "$top/common/tools/one.sh" --checks "$2" "$3"; }
looks() { ends "$1" sh "$top/common/tools/one.sh" --checks "$build/cpu/$name" "$build/hazards/$name" $2; }

for binary in "$build"/hazards/[0-9]*; do
    sample "$binary"
    only=""
    case $all$name in 0[!34]*) only="--only $(words variant | tail -1)" ;; esac
    looks 0 "$only"
    if takes --width; then looks 0 "--n 100 $only"; fi # --n excludes --width
    for twin in $(words twin); do
        if excused twin "$twin"; then continue; fi
        looks 1 "--wrong $twin"
        says '^Wrong with another size' && says '^The hazard build reports:$' || fail "one build finds nothing"
        break
    done
done

# Two mistakes at one place are reported together. The programs here only print; they replace those of a sample.
printf '#!/bin/sh\necho "variant right"\n' >"$folder/plain"
cat >"$folder/racing" <<'END'
#!/bin/sh
for mistake in one two three four five; do printf 'cudacpu: hazard: %s\n  in kernel k\n  some.cu:7\n      7 |  code\n  mend it\n' $mistake; done
printf 'cudacpu: notice: a leak\nrow   WRONG\ncudacpu: hazards were found: exit status 1\n'
exit 1
END
chmod +x "$folder/plain" "$folder/racing"
ends 1 sh "$top/common/tools/one.sh" --checks "$folder/plain" "$folder/racing"
must "four whole reports and no more" test "$(grep -c 'hazard: \|mend it' "$folder/out")" = 8
says '^and 1 more; the command above shows them all$' || fail "it does not say that there is more"

# A wrong twin that the check accepts is reported with the place of the check, unless 05's excused.txt names it.
cat >"$folder/05_atomics" <<'END'
#!/bin/sh
printf '%s\n' 'variant right' 'twin seen' "twin ${LUCKY:-race_sum}" 'takes --wrong'
[ "$2" != seen ]
END
chmod +x "$folder/05_atomics"
checks 0 "$folder/05_atomics" "$folder/none"
LUCKY=lucky checks 1 "$folder/05_atomics" "$folder/none"
says '^  lucky: .*/05_atomics --wrong lucky$' && ! says '^  seen:' || fail "the twin that passes is not named"
says '^The check begins at 05_atomics/atomics.cu:[0-9]+$' || fail "where the check is"
# A variant that rejects an option is not wrong. Neither is a program that cannot run.
printf '#!/bin/sh\necho "variant right"\n[ "$1" != --only ] || exit 2\n' >"$folder/refuses"
chmod +x "$folder/refuses"
checks 0 "$folder/refuses" "$folder/none"
checks 3 "$folder/missing" "$folder/none"
says '^No verdict on missing: this command could not be run .exit status 127.:$' || fail "the sample is blamed for what cannot be run"
# A wrong result is shown with few elements.
printf '#!/bin/sh\necho "takes --n"\n[ "${2:-0}" -lt 17 ] || { echo "row WRONG" && exit 1; }\n' >"$folder/odd"
chmod +x "$folder/odd"
ends 1 sh "$top/common/tools/one.sh" --checks "$folder/odd" "$folder/none"
says "^  .*/odd'? --n 17$" || fail "it does not name the fewest elements"
# The hazard build also runs the size that gives a wrong result.
printf '#!/bin/sh\necho "takes --blocks"\ncase "$*" in *"--blocks 2"*) echo "row WRONG"; exit 1 ;; esac\n' >"$folder/size"
cat >"$folder/sees" <<'END'
#!/bin/sh
case "$*" in *"--blocks 2"*) printf 'cudacpu: hazard: a race\n  at some.cu:7\n'; exit 1 ;; esac
END
chmod +x "$folder/size" "$folder/sees"
ends 1 sh "$top/common/tools/one.sh" --checks "$folder/size" "$folder/sees"
says "^  .*/sees'? --blocks 2$" && says '^  at some.cu:7$' || fail "the hazard build does not run in that size"
# Memory that is never freed is also a mistake.
printf '#!/bin/sh\necho "variant right"\necho "cudacpu: notice: 1 allocation, 4 bytes, never freed; at leak.cu:7"\n' >"$folder/leaks"
chmod +x "$folder/leaks"
ends 1 sh "$top/common/tools/one.sh" --checks "$folder/leaks" "$folder/none"
says '^cudacpu: notice: 1 allocation.* leak.cu:7$' || fail "it does not name the leak"

# The learner's changes are shown: since the last commit, or since the file was last right.
lab="$folder/my 谷 lab's"
mkdir -p "$lab/common" "$lab/01_fake" "$lab/build/cpu" "$lab/build/CMakeFiles/cpu_01_fake.dir"
cp -r "$top/common/tools" "$lab/common"
printf 'CMAKE_HOME_DIRECTORY:INTERNAL=%s\nCMAKE_CACHEFILE_DIR:INTERNAL=%s\n' "$lab" "$lab/build" >"$lab/build/CMakeCache.txt"
cat >"$lab/build/cpu/01_fake" <<'END'
#!/bin/sh
case $1 in
--list) printf '%s\n' 'variant k' 'takes --n' 'file --csv' && exit ;;
--csv) echo "$@" >"$2" ;;
esac
! grep slow 01_fake/fake.cu || sleep 1
! grep noted 01_fake/fake.cu || printf 'cudacpu: note: a barrier that is long and\n  not reached\n  in kernel k\n' >&2
! grep wrong 01_fake/fake.cu
END
chmod +x "$lab/build/cpu/01_fake"
make_01() {
    wanted=$1
    shift
    ends "$wanted" env CMAKE=true sh "$lab/common/tools/one.sh" "$lab/build" cpu 01 "$@"
}
printf 'first\n  second\n' >"$lab/01_fake/fake.cu"
if git -C "$lab" init -q 2>/dev/null; then
    git -C "$lab" add . && git -C "$lab" -c user.name=a -c user.email=a commit -qm a
    printf 'first\n  wrong // here\n' >"$lab/01_fake/fake.cu"
    make_01 1
    says '^Changed since the last commit:$' && says '^      - [|]  second$' && says '^      2 [|]  wrong // here$' || fail "what was committed"
fi
printf 'other\n' >"$lab/01_fake/fake.cu"
make_01 0
printf 'other\nwrong\n' >"$lab/01_fake/fake.cu"
make_01 1
says '^Changed since it was right:$' && says '^      2 [|]  wrong$' || fail "what was right"
! says 'second|1 [|]' || fail "what has not changed is shown"
make_01 1 --wrong twin
says '^WRONG: twin is wrong on purpose; the mistake is shown above[.]$' || fail "a twin is to be corrected"
! says 'Correct |Changed' || fail "a twin is to be corrected"

# An argument may contain spaces. A check does not write a file that the user asks for. A note is not a pass.
echo other >"$lab/01_fake/fake.cu"
make_01 0 --csv "$folder/it's mine.csv" --n 7
must "the user's file is of the user's run" test "$(cat "$folder/it's mine.csv")" = "--csv $folder/it's mine.csv --n 7"
echo noted >"$lab/01_fake/fake.cu"
make_01 1
says '^WRONG: 01_fake: a barrier that is long and not reached, see above[.]$' || fail "the note is not the verdict"
must "and is not kept as right" test "$(cat "$lab/build/right/fake.cu")" = other
# Without the lock, two runs at the same time would run each other's program.
echo slow >"$lab/01_fake/fake.cu"
env CMAKE=true sh "$lab/common/tools/one.sh" "$lab/build" cpu 01 --n 7 >"$folder/first" 2>&1 &
for _ in $(seq 50); do grep -q Building "$folder/first" && break || sleep 0.1; done
echo other >"$lab/01_fake/fake.cu"
make_01 0
says '^Another make 01 is running[.] Waiting for it to end[.]$' && grep -q '^RIGHT' "$folder/first" || fail "two run at once"

# For a wide line, the end is shown if the end has changed. A program that is not built or does not end counts as wrong.
wide='    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i WITH n; i += gridDim.x * blockDim.x) f(i);'
echo "$wide" | sed 's/WITH/</' >"$lab/01_fake/fake.cu"
make_01 0
{ echo "$wide" | sed 's/WITH/<=/' && echo wrong; } >"$lab/01_fake/fake.cu"
make_01 1
says '^      - [|]  [.]{3}.*threadIdx.x; i < n;' && says '^      1 [|]  [.]{3}.*threadIdx.x; i <= n;' || fail "what differs is cut"
must "80 columns" test "$(awk 'length > 80' "$folder/out" | wc -l)" = 0
ends 1 env CMAKE=false sh "$lab/common/tools/one.sh" "$lab/build" cpu 01
says '^WRONG: 01_fake was not built: correct the first error first, see above[.]$' || fail "no verdict on what is not built"
printf '#!/bin/sh\nexec sleep 60\n' >"$lab/build/cpu/01_fake"
LIMIT=abc make_01 2
LIMIT=1 make_01 1
says '^WRONG: 01_fake was stopped after 1 s, see above[.]$' || fail "no verdict on what does not end"
rm -rf "$lab/build/right" && touch "$lab/build/right"
make_01 3
! says 'WRONG|Correct ' || fail "the sample is blamed for a folder that cannot be made"
finish
