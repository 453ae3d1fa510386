#!/bin/sh
# learn.sh BUILD: tests `make learn` in a copy of the lab with two exercises. Then it checks each exercise of the lab: the exercise
# must be short, have hints in both languages, and be linked from the pages of its sample.
# Exit status: 0 if all cases pass, 1 if not, 77 if the checker of the exercises is not built.
. "$(dirname "$0")/lib.sh"
build=$(cd "$1" && pwd)
[ -f "$build/cpu/libexercise.a" ] || skip "no exercises' part of the CPU device (cmake --build $build --target ex_cpu)"
unset LC_ALL LC_MESSAGES LEARNING
LANG=C.UTF-8 CMAKE=true NO_COLOR=1
export LANG CMAKE NO_COLOR
. "$top/common/tools/exercises.sh"

# The copy has no git repository. Its 01.1 is the committed version, without edits by the learner.
lab=$folder/lab
mkdir -p "$lab/build/cpu" "$lab/common/test" "$lab/01_sum_managed/exercises" || exit 1
cp -r "$top/common/tools" "$top"/common/*.cuh "$top"/common/*.cpp "$lab/common"
cp -r "$top/common/test/lib.sh" "$top/common/test/exercises.sh" "$top/common/test/exercises" "$lab/common/test"
ln -s "$build/cpu/cudacpu" "$build/cpu/exercise.hpp" "$build/cpu/exercise.hpp.gch" "$build"/cpu/lib*.a "$lab/build/cpu"
printf 'CMAKE_HOME_DIRECTORY:INTERNAL=%s\nCMAKE_CACHEFILE_DIR:INTERNAL=%s\n' "$lab" "$lab/build" >"$lab/build/CMakeCache.txt"
cp -r "$top/common/first" "$lab/common"
mkdir "$lab/common/cpu" && cp -r "$top/common/cpu/driver" "$lab/common/cpu"
cp "$top/01_sum_managed/exercises/hints.txt" "$lab/01_sum_managed/exercises"
# The pages of the copy have two sections, and the second teaches 01.2. A shell comment is not a heading.
for page in "README.md In plain words:A block of \`1024\`" "README.zh-CN.md 总的说法:一个线程块"; do
    printf '# 01\n\n## %s\n\n[`01.1`](exercises/1_index.cu)\n\n### %s\n\n```sh\n# make 01\n```\n\nYour turn: [`01.2`](exercises/2_grid.cu)\n\n## End\n' \
        "$(echo "${page#* }" | cut -d: -f1)" "${page##*:}" >"$lab/01_sum_managed/${page%% *}"
done
for file in 01_sum_managed/exercises/1_index.cu 01_sum_managed/exercises/2_grid.cu; do
    committed $file "$lab/$file" >/dev/null || skip "$file as it is committed is nowhere"
done
one=$lab/01_sum_managed/exercises/1_index.cu
write() { # write LINE: puts the line into the kernel of 01.1
    committed 01_sum_managed/exercises/1_index.cu "$one" >/dev/null
    sed -i "s/int\\* out) {/&\\n    $1/" "$one"
}
export learn="$folder/learn"
printf '#!/bin/sh\nexec sh "%s" "%s" "$@"\n' "$lab/common/tools/learn.sh" "$lab/build" >"$learn"
chmod +x "$learn"
both() { says "$1" && says "$2"; }

ends 1 "$learn"
must "the first one, and its task" both '^01.1  Each thread.*  \(1 of 2\)$' '^  .*threadIdx'
must "untouched, it is no mistake" says '^todo: 01_sum_managed/exercises/1_index.cu'
must "the section to read first" says "^Read first: 01_sum_managed/README.md, section 'In plain words'$"
ends 1 "$learn" 1.2
must "the nearest heading above the link" says "^Read first: 01_sum_managed/README.md, section 'A block of 1024'$"
LANG=zh_CN.UTF-8 ends 1 "$learn" 1.1
must "a Chinese reader's page" says '^先读：01_sum_managed/README.zh-CN.md，“总的说法”一节$'
write 'out[0] = threadIdx.x;'
ends 1 "$learn"
must "wrong: the race in words and its line" both '^Two threads access one element, one of them writes' \
    '1[0-9] \|  out\[0\] = threadIdx.x;      threads .* write'
must "by the file's short name" both '^race on element 0 of out \(1_index.cu:[0-9]+\)$' 'block 0, at 1_index.cu:1[0-9]$'
must "no cure is given away" both '^WRONG' '^  got +[0-9]'
if says 'Hint|let one block|check the index'; then fail "no hint at the first try"; else ok "no hint at the first try"; fi
ends 1 "$learn"
ends 1 "$learn" "" "" 1.1
must "no model answer before it is right" both '^01.1 is not right yet. Its model answer' 'tries; so far: 1\.$'
must "the same text is one try" test "$(sort -u "$lab/build/learn/tries/01.1" | wc -l)" = 1
for try in 2 3 4 5; do echo "$try" >>"$lab/build/learn/tries/01.1"; done
ends 1 "$learn"
must "a hint after three tries" both '^Hint:' 'an array as in C'
echo 6 >>"$lab/build/learn/tries/01.1"
ends 1 "$learn"
must "two after six" both 'an array as in C' 'One line is enough'
for try in 7 8 9; do echo "$try" >>"$lab/build/learn/tries/01.1"; done
ends 1 "$learn"
must "after nine tries the model answer is offered" says '^Compare with the model answer: make learn SHOW=01.1$'
ends 0 "$learn" "" "" 1.1
must "and shown" both '^// 01.1  Each thread' '^ +out\[threadIdx.x\] = threadIdx.x;'
ends 1 "$learn" "" "" 1.2
must "but not that of another exercise" both '^01.2 is not right yet. ' 'so far: 0\.$'
LANG=zh_CN.UTF-8 ends 1 "$learn" 1.1
must "in Chinese" both '^不对  01.1  每个线程' '^提示：'
must "also what the report means" both '^竞争：.*CPU 设备的报告：' '^race on element 0 of out'
must "a Chinese character takes two columns, and no line begins with a comma" \
    test "$(echo '一二三四五，六七 abc' | wrapped 10 | tr '\n' '/')" = '一二三四/五，六七/abc/'
write 'out[threadIdx] = 1;'
ends 1 "$learn" ' 1.1 '
must "what does not compile" both 'It does not compile' '1_index.cu:1[0-9]:.*error'
must "and what threadIdx is" both '^threadIdx has .x, .y and .z' "operand types are .int\*"
cp "$one" "$folder/mine.cu"
sed -i 's/^__global__.*{/&\n    wrong;/' "$lab/01_sum_managed/exercises/2_grid.cu"
for number in 1 2; do "$learn" 1.$number >"$folder/at once $number" & done
wait
must "two at once, each about its exercise" test "$(grep -lE "^1_index.cu:1[0-9]:.*error" "$folder/at once 1") $(grep -lE "^2_grid.cu:1[0-9]:.*error" "$folder/at once 2")" = "$folder/at once 1 $folder/at once 2"
committed 01_sum_managed/exercises/2_grid.cu "$lab/01_sum_managed/exercises/2_grid.cu" >/dev/null
write 'if (threadIdx.x > 0) __syncthreads();'
ends 1 "$learn"
must "the line of a barrier that not all reach" says '[0-9] \|  if .threadIdx.x > 0. __syncthreads'
if says 'Volta'; then fail "and no cure"; else ok "and no cure"; fi
write 'printf("%d\\n", threadIdx.x);'
ends 1 "$learn"
must "what the kernel prints is cut short, and the verdict stands" both '^\.\.\.$' 'no thread has written out\[0\]'
write 'for (;;) out[threadIdx.x] = threadIdx.x;'
ends 1 "$learn"
must "a loop without an end, and its line" both 'does not (come to an )?end' '[0-9] \|  for \(;;\) out'
write 'out[threadIdx.x] = threadIdx.x;'
sed -i 's/return exercise/return 0 \* exercise/' "$one"
ends 1 "$learn"
must "the check is not the learner's to change" both '^Change only "your part"' 'make learn RESET=01.1'
write 'out[threadIdx.x] = threadIdx.x;'
sed -i 's,^__global__,#include <climits>\n&,; s/<<<1, n>>>(out);/<<< 1,n >>>( out );  \/\/ one block/' "$one"
ends 0 "$learn" 01.1
must "another layout, a comment and a line above the check are no change" says '^RIGHT  01.1'
write 'out[threadIdx.x] = threadIdx.x;'
ends 0 "$learn" 01.1
must "right, and where to look" both '^RIGHT  01.1' '^Now look at sign\(\), common/first/first.cu:[0-9]+'
must "and the model answer" says '^Compare with the model answer: make learn SHOW=01.1$'
rm "$lab/build/learn/tries/01.1"
ends 0 "$learn" "" "" 01.1
must "which is shown without any tries" says '^ +out\[threadIdx.x\] = threadIdx.x;'
ends 1 "$learn"
must "then the next one" says '^todo: 01_sum_managed/exercises/2_grid.cu'
write 'out[threadIdx.x] = 0 + threadIdx.x;'
ends 1 "$learn"
must "a piped run says what is right since the last one" both '^RIGHT  01.1' '^todo: .*2_grid.cu'
write 'out[threadIdx.x] = 1;'
sed -i 's,^__global__,#define check(...) true\n&,' "$one"
ends 1 "$learn"
must "nor is it by a macro" says '^Your part uses the name check, which belongs to the check'
echo '#define check(...) true' >"$folder/mine.h"
write 'out[threadIdx.x] = 1;'
sed -i "s,^__global__,#include \"$folder/mine.h\"\n&," "$one"
ends 1 "$learn" 1.1
must "nor by one that is included" says '^Change only "your part"'
write 'out[threadIdx.x] = threadIdx.x;'
ends 0 "$learn" --list
must "the list: file names and a sum" both '^right  01.1  1_index.cu +Each thread' '^todo   01.2  2_grid.cu'
must "the sum" both '^01_sum_managed/exercises:$' '^2 exercises: 1 right, 0 wrong, 1 to do\.$'
cp "$one" "$folder/right.cu"
write 'out[0] = 1;'
ends 1 "$learn" --list
must "one that is edited and wrong" both '^wrong  01.1  1_index.cu' '^2 exercises: 0 right, 1 wrong, 1 to do\.$'
cp "$folder/right.cu" "$one"
CMAKE=false ends 2 "$learn" "" "" 9.9
CMAKE=false ends 2 "$learn" 9.9 # it must end before it builds anything
must "what there is not" says 'There is no exercise 9.9. Type make exercises'

rm "$one"
ends 0 "$learn" --list
must "a file that is gone comes back" both '01.1|1_index.cu was missing' '^todo   01.1'
cp "$folder/mine.cu" "$one"
ends 0 "$learn" "" 1.1
must "restored without git" both '1_index.cu is restored from build/learn/first/01.1.cu' 'Your version is in build/learn/01.1.yours.cu'
ends 0 "$learn" "" 1.1
must "nothing to restore" says 'nothing to restore'
cp "$folder/mine.cu" "$one"
ends 0 sh "$lab/common/test/exercises.sh" "$lab/build" quick 01
must "make test leaves the learner's own edit alone" says '^ok +01.1_1 right'
rm "$lab/build/learn/first/01.1.cu"
ends 0 sh "$lab/common/test/exercises.sh" "$lab/build" quick 01
must "also where nobody has the committed text" says '^left out: 01.1 is edited'
ends 1 "$learn" "" 1.1
must "which then cannot be restored" says '^The original of .* is neither in git nor in'

write 'out[threadIdx.x] = threadIdx.x;'
echo "// as it was before a git pull" >"$lab/build/learn/first/01.1.cu"
ends 0 "$learn" 1.1
must "an old text of the exercise is not what the learner's is compared with" says '^RIGHT  01.1'

if script -qec true /dev/null </dev/null >/dev/null 2>&1; then # on a terminal, make learn watches the files until Ctrl-C
    # If this test runs in the background, SIGINT is ignored. A shell cannot restore it, but perl can.
    write 'out[0] = 1;'
    appears() { for _ in $(seq 100); do says "$1" 2>/dev/null && break || sleep 0.2; done; }
    {
        appears '^WRONG'
        sleep 0.5
        cp "$one" "$folder/edited.cu"
        rm "$one" # some editors replace the file
        sleep 1
        sed 's/out\[0\] = 1/out[threadIdx.x] = threadIdx.x/' "$folder/edited.cu" >"$one"
        appears '^Open .*2_grid'
        printf '\003'
    } | LEARNING="" perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' script -qefc '"$learn"' /dev/null >"$folder/out" 2>&1
    must "on a terminal: wrong, then right" both '^WRONG  01.1' '^RIGHT  01.1'
    if says 'cannot open|No such file'; then fail "no errors of the shell"; else ok "no errors of the shell"; fi
    must "and the next one" says '^Open  01_sum_managed/exercises/2_grid.cu'
    printf 'n\n' | LEARNING="" script -qefc '"$learn" "" "" 1.2; echo "status $?"' /dev/null >"$folder/out" 2>&1
    must "before it is right, the model answer is a question" both 'Show it now\? \[y/N\]' 'status 1'
    printf 'y\n' | LEARNING="" script -qefc '"$learn" "" "" 1.2; echo "status $?"' /dev/null >"$folder/out" 2>&1
    must "and yes shows it" both '// 01.2' 'status 0'
fi

# The course must name all exercises, in the order of make learn.
for file in $(exercises); do [ ! -f "$top/${file%%/*}/README.md" ] || number_of "$file"; done >"$folder/numbers"
for page in README.md README.zh-CN.md; do
    perl -0ne 'print "$_\n" for map { /\b(0\d\.\d+)\b(?=`?\]|\s)/g } /^- \*\*(?:Exercises|练习)\*\*(.*?)^- /gms' "$top/common/course/$page" |
        grep -xFf "$folder/numbers" >"$folder/in the course"
    must "common/course/$page: all exercises, in order" cmp "$folder/numbers" "$folder/in the course"
done
rm -f "$folder/out" "$folder/err"
for file in $(exercises); do
    [ -f "$top/${file%%/*}/README.md" ] || continue # skip a teacher's own folder
    for language in "" -zh; do lesson_of "$file" >/dev/null || fail "$file: $(page_of "$file") has no section with its link"; done
    language=""
    committed "$file" "$folder/ex.cu" >/dev/null || continue
    number=$(number_of "$file")
    task=$(sed -n '2,/^[^\/]/s,^// ,,p' "$folder/ex.cu")
    bad=""
    [ "$(wc -l <"$folder/ex.cu")" -lt 70 ] || bad="$bad 70 lines or more;"
    [ "$(echo "$task" | wc -l)" -le 6 ] || bad="$bad a task of more than six lines;"
    ! echo "$task" | grep -q '.\{79\}' || bad="$bad a task wider than 78;"
    case "$(about "$file" hint | wc -l) $(about "$file" hint-zh | wc -l)" in '2 2' | '3 3') ;; *) bad="$bad two or three hints in both languages;" ;; esac
    about "$file" zh | head -1 | grep -q "^$number  " || bad="$bad a Chinese title;"
    rung "$file" >/dev/null || bad="$bad no such rung;"
    for page in README.md README.zh-CN.md; do
        grep -q "(exercises/${file##*/})" "$top/${file%%/*}/$page" || bad="$bad not named in $page;"
    done
    [ -z "$bad" ] || fail "$file:$bad"
done
finish
