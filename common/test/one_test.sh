#!/bin/sh
# one_test.sh BUILD [all]: does make NN (common/tools/one.sh) find nothing wrong with any sample as it is, and a wrong twin
# in both builds? Without `all` it runs every variant of two samples, of the others the last one.
# Exit status: 0 yes, 1 no, 77 there is no hazard build.
. "$(dirname "$0")/lib.sh"
build=${1:?one_test.sh BUILD [all]} all=${2:-}
looks() { ends "$1" sh "$top/common/tools/one.sh" --checks "$build/cpu/$name" "$build/hazards/$name" $2; }

for binary in "$build"/hazards/[0-9]*; do
    sample "$binary"
    only=""
    case $all$name in 0[!34]*) only="--only $(words variant | tail -1)" ;; esac
    looks 0 "$only"
    if takes --width; then looks 0 "--n 100 $only"; fi # which excludes --width
    for twin in $(words twin); do
        if excused twin "$twin"; then continue; fi
        looks 1 "--wrong $twin"
        says '^Not right, in a run' && says '^What the hazard build says:$' || fail "one build finds nothing"
        break
    done
done

# Two mistakes at one place are named at once. With programs that only print, in place of a sample's.
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
says '^and 1 more; the command above shows all$' || fail "it does not say that there is more"

# A check that finds nothing in a wrong twin finds nothing at all.
printf '#!/bin/sh\necho "variant right"\necho "twin lucky"\n' >"$folder/content"
chmod +x "$folder/content"
ends 1 sh "$top/common/tools/one.sh" --checks "$folder/content" "$folder/none"
says '^The check of the results lets every wrong twin pass:$' || fail "it trusts a check that finds nothing"
# What is wrong is shown with few elements.
printf '#!/bin/sh\necho "takes --n"\n[ "${2:-0}" -lt 17 ] || { echo "row WRONG" && exit 1; }\n' >"$folder/odd"
chmod +x "$folder/odd"
ends 1 sh "$top/common/tools/one.sh" --checks "$folder/odd" "$folder/none"
says "^  $folder/odd --n 17$" || fail "it does not name the fewest elements"
# The hazard build is asked about the size that shows what is wrong, too.
printf '#!/bin/sh\necho "takes --blocks"\ncase "$*" in *"--blocks 2"*) echo "row WRONG"; exit 1 ;; esac\n' >"$folder/size"
cat >"$folder/sees" <<'END'
#!/bin/sh
case "$*" in *"--blocks 2"*) printf 'cudacpu: hazard: a race\n  at some.cu:7\n'; exit 1 ;; esac
END
chmod +x "$folder/size" "$folder/sees"
ends 1 sh "$top/common/tools/one.sh" --checks "$folder/size" "$folder/sees"
says "^  $folder/sees --blocks 2$" && says '^  at some.cu:7$' || fail "the hazard build does not run in that size"
# Memory that is never freed is a mistake, too.
printf '#!/bin/sh\necho "variant right"\necho "cudacpu: notice: 1 allocation, 4 bytes, never freed; at leak.cu:7"\n' >"$folder/leaks"
chmod +x "$folder/leaks"
ends 1 sh "$top/common/tools/one.sh" --checks "$folder/leaks" "$folder/none"
says '^cudacpu: notice: 1 allocation.* leak.cu:7$' || fail "it does not name the leak"

# What the learner has changed is shown: since the last commit, and once it was right since then.
lab=$folder/lab
mkdir -p "$lab/common" "$lab/01_fake" "$lab/build/cpu" "$lab/build/CMakeFiles/cpu_01_fake.dir"
cp -r "$top/common/tools" "$lab/common"
touch "$lab/build/CMakeCache.txt"
printf '#!/bin/sh\n[ "$1" != --list ] || { echo "variant k" && exit; }\n! grep wrong 01_fake/fake.cu\n' >"$lab/build/cpu/01_fake"
chmod +x "$lab/build/cpu/01_fake"
make_01() { ends "$1" env CMAKE=true sh "$lab/common/tools/one.sh" "$lab/build" cpu 01; }
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

# Of a wide line the end is shown, if that has changed; what is not built, or does not end, is wrong.
wide='    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i WITH n; i += gridDim.x * blockDim.x) f(i);'
echo "$wide" | sed 's/WITH/</' >"$lab/01_fake/fake.cu"
make_01 0
{ echo "$wide" | sed 's/WITH/<=/' && echo wrong; } >"$lab/01_fake/fake.cu"
make_01 1
says '^      - [|]  [.]{3}.*threadIdx.x; i < n;' && says '^      1 [|]  [.]{3}.*threadIdx.x; i <= n;' || fail "what differs is cut"
must "80 columns" test "$(awk 'length > 80' "$folder/out" | wc -l)" = 0
ends 1 env CMAKE=false sh "$lab/common/tools/one.sh" "$lab/build" cpu 01
says '^WRONG: 01_fake was not built: the first error counts, see above[.]$' || fail "no verdict on what is not built"
printf '#!/bin/sh\nexec sleep 60\n' >"$lab/build/cpu/01_fake"
LIMIT=1 make_01 1
says '^WRONG: 01_fake had not ended after 1 s, see above[.]$' || fail "no verdict on what does not end"
finish
