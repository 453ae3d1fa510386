#!/bin/sh
# options.sh BUILD: tests --trace, --counters-csv and the other options that the build with counters and the hazard build take
# from a command line: which values they accept, what they write, and that they write nothing if the place is not writable.
# Exit status: 0 if all cases pass, 1 if not.
set -u
build=$1
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d) || exit 3
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 3
counted=$build/common/test/cpu/cpu_counted
failed=0
fail() {
    echo "FAILED: $*"
    failed=1
}

# json FILE EXPRESSION: prints the value of a Perl expression; $t is the trace in the page
json() {
    perl -MJSON::PP -0777 -ne '
        my ($text) = m{<script type="application/json" id="trace">(.*?)</script>}s or die "no text in the page\n";
        my $t = JSON::PP->new->utf8->decode($text); print do { '"$2"' }, "\n"' "$1"
}
# is WANTED FILE EXPRESSION: the expression must have this value
is() {
    got=$(json "$2" "$3")
    [ "$got" = "$1" ] || fail "$3 is $got, not $1"
}

"$counted" --trace all.html >said 2>table || fail "a trace: status $?"
grep -q '^scan: 1 launch of 4 blocks, 256 threads each, in' table || fail "no table on stderr"
grep -q '^no error$' said || fail "the program's own output"
[ "$(sed "s|$here/||" table | awk 'length > 80 && NF > 1')" = "" ] || fail "the table is too wide"
is 9 all.html 'scalar @{$t->{launches}}'
is "4 more warps of block 0, 3 more blocks" all.html 'join ", ", @{$t->{launches}[1]{cut}}'
# The kernel reads a column of the tile, so all lanes use one bank: elements 0, 64 and 128 of in, which hold i % 7.
is "31 0 1 2" all.html 'my ($e) = grep { $_->{conflicts} } @{$t->{launches}[1]{events}};
    "$e->{conflicts} @{$e->{values}}[0, 1, 2]"'
is "16 rows of 4 columns" all.html 'my %rows; ++$rows{$_->{row}} for grep { $_->{kind} eq "barrier" }
    @{$t->{launches}[5]{events}}; my ($least) = sort values %rows; keys(%rows) . " rows of $least columns"'

"$counted" --trace=one.html --trace-kernel stencil --trace-blocks --trace-block 1 --counters-csv one.csv 2>table >said ||
    fail "options of a trace: status $?"
is "1 stencil" one.html '@{$t->{launches}} . " $t->{launches}[0]{kernel}"'
is "1 2 3" one.html 'join " ", map { $_->{block} } @{$t->{launches}[0]{columns}}'
line=$(grep -n 'out\[i\] = in\[i\] +' "$here/counted.cu" | cut -d: -f1)
grep -qE "^stencil,1,4,256,32,.*counted.cu\"?,$line,global load,96,3072,448,0,$" one.csv || fail "the CSV file"

LAB_TRACE=other.html LAB_TRACE_KERNEL=scan "$counted" >said 2>table || fail "LAB_TRACE: status $?"
is "scan" other.html 'join " ", map { $_->{kernel} } @{$t->{launches}}'

# refused WANTED ARGUMENT...: the status must be 2, and the message must appear before the program starts
refused() {
    wanted=$1
    shift
    "$counted" "$@" >said 2>message
    status=$?
    [ $status = 2 ] || fail "$*: status $status"
    grep -q -- "$wanted" message || fail "$*: $(cat message)"
    [ ! -s said ] || fail "$*: the program ran"
}
before=$(ls)
refused "cannot write 'none/x.html': No such file" --trace none/x.html
refused "cannot write '.': it is no file" --trace .
refused "cannot write 'none/x.csv'" --counters-csv none/x.csv
refused "wants a value" --trace
refused "a whole number from 1 to 4294967295" --trace x.html --trace-launch 0
refused "a whole number" --trace x.html --trace-warp two
refused "a whole number from 0 to 31" --trace x.html --trace-warp 99999999999
[ "$before" = "$(ls | grep -v message)" ] || fail "something was written: $(ls)"
"$counted" --trace x.html --trace-kernel scam >said 2>message
[ $? = 2 ] && grep -q "what ran, and how often:" message && grep -q "histogram (1), .*scan (1)" message && [ ! -e x.html ] ||
    fail "a kernel that is none: $(tail -3 message)"
# The page is first written to a temporary file beside it. This must not follow a link that someone has placed there.
echo kept >others
sh -c 'ln -s others linked.html.$$; exec "$0" --trace linked.html --trace-kernel scan' "$counted" >said 2>message || fail "a link: $(cat message)"
[ "$(cat others)" = kept ] && [ -f linked.html ] && [ ! -L linked.html ] || fail "a link is followed"
"$counted" --trace /dev/full >said 2>message
[ $? = 2 ] && grep -q "cannot write '/dev/full': No space left" message || fail "a full disk: $(tail -2 message)"

cat >argv.cu <<'END'
#include <cstdio>
int main(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) printf("%s,", argv[i]);
    printf("%d\n", argv[argc] == nullptr);
}
END
for kind in counters hazards; do
    "$build/cpu/cudacpu" argv.cu -o argv --$kind || fail "argv.cu does not compile"
    ./argv a --trace x.html b --trace-block=1 c -- --trace y >said 2>message
    [ "$(cat said)" = "a,b,c,--,--trace,y,1" ] || fail "$kind: the program sees $(cat said)"
    grep -q "no kernel ran: 'x.html' is not written" message && [ ! -e x.html ] || fail "$kind: a page of nothing: $(cat message)"
done

# Two accesses that race are connected, even if one is from a warp that would otherwise not be drawn.
cat >race.cu <<'END'
__global__ void next(int* a, int far) { a[threadIdx.x] = a[threadIdx.x + far] + 1; }
__global__ void rows(int* a) {
    for (int row = 0; row < 16; ++row) a[64 * row + threadIdx.x] = row;
}
int main() {
    int* a;
    cudaMallocManaged(&a, 4096);
    next<<<1, 64>>>(a, 1);
    next<<<1, 224>>>(a, 200);
    rows<<<1, 64>>>(a);
    cudaDeviceSynchronize();
    cudaFree(a);
}
END
"$build/cpu/cudacpu" race.cu -o race --hazards || fail "race.cu does not compile"
for launch in 1 2; do
    ./race --trace race.html --trace-launch $launch 2>message && fail "no race is reported"
    [ $launch = 2 ] || is "1024 stores, 0 of another value" race.html 'my ($all, $wrong) = (0, 0); for my $e (@{$t->{launches}[1]{events}}) {
        for (0 .. $#{$e->{values}}) { ++$all; ++$wrong if $e->{values}[$_] != int($e->{elements}[$_] / 64) } } "$all stores, $wrong of another value"'
    is "load store of a (race.cu:7)" race.html 'my $l = $t->{launches}[0]; my $r = $l->{races}[0];
        join " ", (sort map { $l->{events}[$r->{$_}[0]]{kind} } "a", "b"), $r->{text} =~ /^race on element \d+ (of a .*)/'
done
is "0 1 2 6" race.html 'join " ", map { $_->{warp} } @{$t->{launches}[0]{columns}}'

# A program that is stopped by a signal or calls exit() still writes what has run.
cat >ended.cu <<'END'
#include <cstdio>
#include <cstdlib>
__global__ void first(int* a) { a[threadIdx.x] = 1; }
__global__ void spins(volatile int* a) {
    while (!a[40]) {}
}
int main(int argc, char**) {
    int* a;
    cudaMalloc(&a, 512);
    cudaMemset(a, 0, 512);
    first<<<1, 32>>>(a);
    cudaDeviceSynchronize();
    if (argc > 1) abort();
    spins<<<1, 32>>>(a);
    puts("begins");
    fflush(stdout);
    cudaDeviceSynchronize();
}
END
"$build/cpu/cudacpu" ended.cu -o ended --counters || fail "ended.cu does not compile"
./ended --trace ended.html >said 2>message &
for tenth in 1 2 3 4 5 6 7 8 9 10; do
    ! grep -q begins said || break
    sleep 0.1
done
kill -TERM $!
wait $! 2>/dev/null
[ $? = 143 ] || fail "ended by a signal, not with its status"
grep -q 'the program was ended (Terminated)' message && grep -q '^spins: 1 launch' message || fail "no table of what was ended"
is " | what comes after row N" ended.html \
    'join(" | ", map { join "", @{$_->{cut}} } @{$t->{launches}}) =~ s/row [0-9]+.*/row N/r'
(exec ./ended now --trace aborted.html) >said 2>message
[ $? = 134 ] && grep -q '^first: 1 launch' message || fail "abort: $(cat message)"
is 0 aborted.html 'scalar @{$t->{launches}[0]{cut}}'

# Constant memory uses no sectors. Lines are also found from another folder: those of branches, atomics, shuffles and
# accesses. The most expensive lines follow the table.
cat >constant.cu <<'END'
#include <cooperative_groups.h>
namespace deep {
__constant__ float scale = 2, weights[4];
}
__constant__ const int from[3]{1, 2, 3};
__device__ float plain[4];
__global__ void k(float* out) {
    out[threadIdx.x] = deep::scale * deep::weights[threadIdx.x % 4] +
                       plain[from[threadIdx.x % 3]];
}
__global__ void fold(int* out) {
    extern __shared__ int sums[];
    const unsigned odd = __ballot_sync(~0u, threadIdx.x % 2);
    if (threadIdx.x < 2) atomicAdd(out, odd);
    sums[16 * threadIdx.x] = cooperative_groups::coalesced_threads().shfl(1, 0);
    out[8 * threadIdx.x] = 0;
}
int main() {
    float* out;
    cudaMalloc(&out, 1024);
    k<<<1, 32>>>(out);
    fold<<<1, 32, 2048>>>((int*)out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
END
"$build/cpu/cudacpu" constant.cu -o constant --counters || fail "constant.cu does not compile"
./constant --counters-csv constant.csv --trace constant.html 2>message || fail "constant: status $?"
grep 'load,' constant.csv | cut -d, -f7-11 >loads
printf '%s\n' 8,constant\ load,2,64,0 9,global\ load,1,32,1 9,constant\ load,1,32,0 | diff - loads || fail "constant memory"
is "constant 0" constant.html 'my $l = $t->{launches}[0]; my ($a) = grep { $_->{name} eq "weights" } @{$l->{arrays}};
    "$a->{space} " . grep { $_->{sectors} && $l->{arrays}[$_->{array}]{space} eq "constant" } @{$l->{events}}'
is "sums; 1 from 0" constant.html 'my $l = $t->{launches}[1]; my ($e) = grep { $_->{kind} eq "shuffle" } @{$l->{events}};
    join("", map { $_->{name} } grep { $_->{space} eq "shared" } @{$l->{arrays}}) . "; $e->{values}[9] from $e->{from}[9]"'
mkdir away
(cd away && ../constant 2>../message) || fail "from another folder: status $?"
awk 'on > 1; /^fold/ { on = 1 } on && /^ *requests/ { on = 2 }' message >table
diff - table <<'END' || fail "the lines of a program that runs in another folder, and what costs most"
     13 |  const unsigned odd = __ballot_sync(~0u, threadIdx.x % 2);
          vote                    1    32.0
     14 |  if (threadIdx.x < 2) atomicAdd(out, odd);
          global atomic           1     2.0             1       1.00
            lanes on one address: 2.00
          divergence              1    32.0
     15 |  sums[16 * threadIdx.x] = cooperative_groups::coalesced_threads().s...
          shared store            1    32.0                                  15
          shuffle                 1    32.0
          vote                    1    32.0
     16 |  out[8 * threadIdx.x] = 0;
          global store            1    32.0            32      32.00
  line 16, global store: 32 sectors where 4 would do: let neighbouring lanes
  touch neighbouring words
  line 15, shared store: bank conflicts add 15 wavefronts to 1 request: let
  lanes want words of different banks (for columns of a tile: rows one word
  longer)
  line 14, global atomic: 2.00 lanes change one word, one after the other: add
  up in the warp or in the block first

END
exit $failed
