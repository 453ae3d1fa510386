#!/bin/sh
# diff_test.sh: tests that `make diff` (common/tools/diff.sh) shows the differences between two rungs.
# Exit status: 0 if so, 1 if not, 77 if git is missing.
. "$(dirname "$0")/lib.sh"
command -v git >/dev/null || skip "no git"
compare() { ends "$1" sh "$top/common/tools/diff.sh" $2; }
compare 0 "04 modulo masked"
must "the step" grep -qF 'if ({+(+}tid [-%-]{+&+} (2 * stride {+- 1)+}) == 0)' "$folder/out"
must "no other rung" test "$(grep -c __global__ "$folder/out")" = 1
compare 0 "4 shuffle grid_stride"
compare 0 "06 tutorial_float conflict_free"
must "a launch on one line" grep -qF 'launch_conflict_free+}(Job& job)' "$folder/out"
compare 0 "04_all_gpus host_adds all_reduce" && must "a sequel" says 'launch_all_reduce'
compare 0 "01 prefetched prefetched_two_sums" && must "one place" says '^The same lines of .* define both prefetched and prefetched_two_sums'
compare 2 "04 modulo nothing" && must "all rungs are named" says '^  sequential$'
compare 2 "99 modulo sequential" && must "no sample" says 'There is no sample 99'
compare 2 "04" && must "what to type" says 'make diff 04 modulo masked'
finish
