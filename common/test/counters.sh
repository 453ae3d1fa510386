#!/bin/sh
# counters.sh BUILD: tests common/tools/counters.sh: what it makes of ncu's output, and its advice if ncu has no permission to
# count. Scripts replace ncu and the programs. Exit status: 0 if all cases pass, 1 if not.
. "$(dirname "$0")/lib.sh"
build=$(cd "$1" && pwd) || exit 1
mkdir -p "$folder/top/common" "$folder/top/01_sum" "$folder/build/gpu" "$folder/bin"
cp -r "$(dirname "$0")/../tools" "$folder/top/common"
cat >"$folder/top/01_sum/counters.txt" <<'END'
# what ncu counts
metric smsp__inst_executed.sum instructions, each for a warp
metric gpu__time_duration.sum time under ncu, µs
run default ^(modulo|packed)$ --repeats 1 --only modulo --only packed --only shuffle --only last_block
program 01_more
metric lts__t_requests.sum requests
run more first
END
cat >"$folder/program" <<'END'
#!/bin/sh
while [ "$1" != --csv ]; do shift; done
printf 'sample,device,n,variant\n01_sum,"NVIDIA X: 1 SMs",4096,modulo\n' >"$2"
END
cat >"$folder/bin/ncu" <<'END'
#!/bin/sh
echo "$*" >>"$CALLS"
while [ "$1" != --log-file ]; do [ "$1" = --metrics ] && metrics=$2; shift; done
log=$2
shift 2
"$@" || exit
{
    echo '==PROF== Connected to process 1 (program)'
    echo '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",'"\"$(echo "$metrics" | sed 's/,/","/')\""
    if [ "${metrics#*,}" = "$metrics" ]; then
        echo '"","","","","","","","","","",""," "'
        echo '"0","1","p","h","first","1","7","(16, 16, 1)","(1024, 1, 1)","0","9.0","n/a"'
    else
        echo '"","","","","","","","","","","","inst","ns"'
        echo '"0","1","p","h","modulo","1","7","(512, 1, 1)","(100, 1, 1)","0","9.0","1,000","2,000"'
        echo '"1","1","p","h","void modulo<int>(const int *, int *)","1","7","(512, 1, 1)","(100, 1, 1)","0","9.0","2,001","3,000.5"'
        echo '"2","1","p","h","packed","1","7","(512, 1, 1)","(1, 1, 1)","0","9.0","10","1500"'
    fi
    echo '==PROF== Disconnected from process 1'
} >"$log"
[ -z "${DENIED:-}" ] || echo "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission" >"$log"
END
chmod 755 "$folder/program" "$folder/bin/ncu"
count() { # count STATUS
    CALLS=$folder/calls PATH=$folder/bin:$PATH sh "$folder/top/common/tools/counters.sh" "$folder/build" "$folder/bench" \
        >"$folder/out" 2>&1
    got=$?
    [ $got = "$1" ] || fail "status $got, wanted $1"
    sed "s,$folder,," "$folder/out" | grep -E '^.{81}' && fail "a line of over 80 columns"
}
count 77 # there is no GPU build
grep -q 'no GPU build' "$folder/out" || fail "no word of a GPU build"
cp "$folder/program" "$folder/build/gpu/01_sum" && cp "$folder/program" "$folder/build/gpu/01_more"
mv "$folder/bin/ncu" "$folder/ncu"
if ! command -v ncu /usr/local/cuda/bin/ncu >/dev/null 2>&1; then
    count 77
    grep -q 'There is no ncu' "$folder/out" || fail "no word of ncu"
fi
mv "$folder/ncu" "$folder/bin/ncu"
count 0
cat >"$folder/wanted" <<'END'
sample,device,n,variant,grid,block,launches,"instructions, each for a warp","time under ncu, µs"
01_sum,NVIDIA X: 1 SMs,4096,modulo,100,512,2,1500,2.500
01_sum,NVIDIA X: 1 SMs,4096,packed,1,512,1,10,1.500
END
diff "$folder/wanted" "$folder/bench/01_sum/gpu_counters_default.csv" || fail "the counters of two kernels"
grep -q 'regex:^(modulo|packed)$ --metrics smsp__inst_executed.sum,gpu__time_duration.sum' "$folder/calls" || fail "what ncu is asked"
cat >"$folder/wanted" <<'END'
sample,device,n,variant,grid,block,launches,requests
01_more,NVIDIA X: 1 SMs,4096,first,1024,16 x 16,1,
END
diff "$folder/wanted" "$folder/bench/01_sum/gpu_counters_more.csv" || fail "a sequel's counter, which ncu does not have"
DENIED=1 && export DENIED
count 77
grep -q 'ERR_NVGPUCTRPERM' "$folder/out" || fail "no word of permission"
unset DENIED
echo 'exit 3' >"$folder/build/gpu/01_sum"
count 1
grep -q 'FAILED: 01_sum default' "$folder/out" || fail "no word of what failed"
echo 'exit 77' >"$folder/build/gpu/01_sum"
count 77
must "ncu's output as a CSV file, and each reason to have none" test $failed = 0
finish
