#!/bin/sh
# summary_test.sh: tests that common/tools/test.sh (make test) summarizes the results in a few lines. The lab's tests are replaced
# by tests that only print. Exit status: 0 if all cases pass, 1 if not.
. "$(dirname "$0")/lib.sh"
build=$folder/build program=$(cd "$top" && ls -d 01_*)
mkdir -p "$build/cpu"
printf '#!/bin/sh\nprintf "variant right\\nvariant other\\ntwin mistake\\ntwin second\\n"\n' >"$build/cpu/$program"
cp "$build/cpu/$program" "$build/cpu/01_sequel" && chmod +x "$build/cpu"/*
test_that() { # test_that NAME STATUS: adds a test that prints the text on stdin and exits with STATUS
    cat >"$build/$1.out"
    echo "add_test($1 sh -c [[cat \"\$0\"; exit \$1]] [[$build/$1.out]] $2)"
    echo "set_tests_properties($1 PROPERTIES SKIP_RETURN_CODE 77)"
} >>"$build/CTestTestfile.cmake"
paths_out() { build=$build perl -i -pe 'BEGIN { $q = $ENV{build} =~ s/\x27/\x27\\\x27\x27/gr } s/\x27\Q$q\E\x27|\Q$ENV{build}\E/BUILD/g' "$folder/out"; }
# expect STATUS LINE...: the exit status of test.sh, and the lines that it must print
expect() {
    ends "$1" sh "$top/common/tools/test.sh" "$build" 2
    paths_out
    shift
    for line; do grep -qE -e "$line" "$folder/out" || fail "no line like: $line"; done
}

echo fine | test_that common.fine 0
test_that build.program 1 </dev/null # stands for the test that builds the programs
cat >>"$build/CTestTestfile.cmake" <<'END'
set_tests_properties(build.program PROPERTIES FIXTURES_SETUP program)
set_tests_properties(common.fine PROPERTIES FIXTURES_REQUIRED program)
END
echo "left out: no GPU here" | test_that "$program.gpu.run" 77
expect 0 '^ +1 skipped: no GPU here$' '^PASSED: 1 of 2 tests passed, 1 skipped, in 0:0. min$' "^Their output is in BUILD/test.log$"

test_that "$program.cpu.sizes" 1 <<END
ok    status 0  $build/cpu/$program --n 1
FAIL  status 1, wanted 0: $build/cpu/$program --n 31
      | right          12     0.01  ok
      | other          12     0.01  WRONG
      |     other: got 12, wanted 13: the right result plus the
      |       old value; was the word reset?
FAIL  status 1, wanted 0: $build/cpu/$program --n 257
      | other          12     0.01  WRONG
END
expect 8 "^make 01 ARGS=\"--only other --n 31\" +# got 12, wanted 13: the right result plus the old value; was the word reset[?]$" '^FAILED: 1 of 3 tests passed, 1 failed, 1 skipped'
test_that "$program.hazards.right" 1 <<END
FAIL  status 1, wanted 0: LAB_ORDER=forward $build/hazards/$program --n 5003 --only other
      | cudacpu: hazard: race on element 4 of a
      |   in kernel other, block (0,0,0), thread (1,0,0) reads at some.cu:7,
END
test_that "$program.cpu.orders" 1 <<END
FAIL  status 3, wanted 0: LAB_ORDER=reverse $build/cpu/$program --n 5003
      | cudacpu: illegal memory access at 0x7f2b5d7df000: byte 16
      |   in kernel right, block (0,0,0), thread (1,0,0),
      |   at some.cu:9
END
test_that "$program.cpu.twins" 1 <<END
FAIL  status 0, wanted 1: $build/cpu/$program --wrong mistake
END
test_that "$program.hazards.twins" 1 <<END
FAIL  status 3, wanted 1: $build/hazards/$program --wrong second
      | cudacpu: illegal memory access at 0x7f2b5d7df000: byte 16
END
test_that 01_sequel.cpu.run 1 <<END
FAIL  status 1, wanted 0: $build/cpu/01_sequel --n 3 --only right
END
echo "FAIL  something else" | test_that common.other 1
expect 8 "^make 01 ARGS=\"--only other\" +# a race, some.cu:7$" "^make 01 ARGS=\"--wrong mistake\" +# this wrong twin is not detected$" \
    "^make 01 ARGS=\"--wrong second\" +# an illegal memory access$" \
    "^LAB_ORDER=reverse BUILD/cpu/$program --only right --n 5003 +# an illegal memory access, some.cu:9$" \
    "^BUILD/cpu/01_sequel --only right --n 3 +# wrong$" \
    "^ctest --test-dir BUILD -R \"\^common\[.\]other\\$\" --output-on-failure +# FAIL  something else$"
must "a line a kernel" test "$(grep -c ' # ' "$folder/out")" = 6
# A command in forward order comes before one in another order, and a kernel before the sample's other tests.
test_that "$program.cpu.blocks" 1 <<END
FAIL  status 1, wanted 0: $build/cpu/$program --blocks 3 --n 100003 --threads 64 --only right
END
echo "FAIL  no word on what to type" | test_that "$program.cpu.refusals" 1
expect 8 "^make 01 ARGS=\"--only right --blocks 3 --n 100003 --threads 64\" +# wrong$"
must "no line more" test "$(grep -c ' # ' "$folder/out")" = 6
must "the log has it all" grep -q 'got 12, wanted 13' "$build/test.log"
# On a terminal, each result is shown as soon as it is known, even if awk buffers its input (mawk).
if command -v script >/dev/null; then
    mkdir "$folder/two"
    cat >"$folder/two/CTestTestfile.cmake" <<END
add_test(first true)
add_test(second sh -c "for i in 1 2 3 4 5 6 7 8 9; do ! grep -q '1 of 2 tests' screen || exit 0; sleep 0.5; done; exit 1")
set_tests_properties(second PROPERTIES DEPENDS first)
END
    test=$top/common/tools/test.sh two=$folder/two ends 0 script -qfec 'sh "$test" "$two" 2' "$folder/two/screen"
fi
for number in $(seq 60); do echo "FAIL  no $number" | test_that "common.many$number" 1; done
expect 8 '^\.\.\. and 42 more$'
ends 8 sh "$top/common/tools/test.sh" "$build" 2 -C slow
paths_out
must "-C slow, without which ctest does not find a slow test" says "^ctest --test-dir BUILD -C slow -R "
must "40 lines at most" test "$(wc -l <"$folder/out")" -le 40
finish
