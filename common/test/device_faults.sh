#!/bin/sh
# device_faults.sh gpu|cpu FAULTS BUILD: tests the faults that need no fault injection. CHECK must name CUDA's error and end the
# program with status 3. On a GPU, each sample must end with 3 if another program holds the memory, and with 77 if no device
# is visible. Exit status: 0 if all cases pass, 1 if not, 77 if there is no device.
. "$(dirname "$0")/lib.sh"
device=$1 faults=$2 build=$3

expect() { # expect STATUS PATTERN COMMAND...
    wanted=$1 pattern=$2
    shift 2
    ends "$wanted" "$@" || return
    says "$pattern" || fail "does not say '$pattern'"
    ! grep -q '^PASSED' "$folder/out" || fail "passes"
}
run "$faults" none
[ $status != 77 ] || skip "no device"
expect 3 "error 2, cudaErrorMemoryAllocation" "$faults" exhaust
expect 3 "error [19], cudaErrorInvalid" "$faults" too_many_threads # 1 from CUDA 13 on, 9 before
expect 3 "error 1, cudaErrorInvalidValue" "$faults" too_much_shared
expect 3 "error 719, cudaErrorLaunchFailure" "$faults" trap
expect 3 "error 700, cudaErrorIllegalAddress" "$faults" illegal
expect 3 "error 710, cudaErrorAssert" "$faults" assertion
[ "$device" = gpu ] || finish
for sample in "$build"/gpu/[0-9]*; do
    expect 3 "CUDA error 2, cudaErrorMemoryAllocation" "$faults" hold "$sample"
    expect 77 "no CUDA device" env CUDA_VISIBLE_DEVICES= "$sample"
done
finish
