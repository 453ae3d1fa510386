#!/bin/sh
# faults.sh [each] BINARY: makes each CUDA call of a run on the CPU device fail once (LAB_FAIL=1, 2, ...), until a run has no
# such call. A run whose call fails must end with status 3, and print the call, its place and CUDA's error. It must free all
# device memory, leave no new file, keep an old one, and print no verdict.
# each: one run for each variant (in a sample with a picture, for the first two). This takes a tenth of the time, and may miss
# calls that only a run of all variants makes. Exit status: 0 if all cases pass, 1 if not.
. "$(dirname "$0")/lib.sh"
each=""
if [ "$1" = each ]; then each=each && shift; fi
sample "$1"
cd "$folder" && mkdir files || exit 1
set -- --csv files/rows.csv
if takes --out; then
    set -- "$@" --width 33 --height 17 --out files/new.png
else
    set -- "$@" --n 1003
fi
if takes --threads; then set -- "$@" --threads 32; fi
variants="" # one line for each run: its --only options
if [ "$each" ]; then variants=$(words variant | sed 's/^/--only /'); fi
if [ "$each" ] && takes --out; then # loading the image library takes longer than a rung
    variants=$(echo "$variants" | head -2)
fi
perl -e '
use strict;
use warnings;
my ($binary, $variants, @arguments) = @ARGV;
sub slurp { local $/; open my $file, "<", $_[0] or return ""; my $all = <$file>; defined $all ? $all : "" }
my $runs = 0;
for my $only (map { [split] } length $variants ? split /\n/, $variants : "") {
    my @arguments = "@$only" =~ /whole_program/ ? grep !/--out|png$/, @arguments : @arguments;  # whole_program writes no picture
    for (my $call = 1;; ++$call) {
        my $wrong = sub { print "FAIL  @_: LAB_FAIL=$call $binary @arguments @$only\n", map "      | $_\n", split /\n/, slurp("err"); exit 1 };
        unlink "files/new.png";
        open my $old, ">", "files/rows.csv"; print $old "old\n"; close $old;
        my $child = fork();
        if ($child == 0) {
            open STDOUT, ">", "out"; open STDERR, ">", "err";
            $ENV{LAB_FAIL} = $call;
            alarm 60;
            exec $binary, @arguments, @$only or exit 126;
        }
        waitpid $child, 0;
        my ($status, $out, $err) = ($? & 127 ? "of signal " . ($? & 127) : $? >> 8, slurp("out"), slurp("err"));
        if ($err !~ /^cudacpu: LAB_FAIL=$call: (.*?) fails with (.*)/m) {
            $wrong->("nothing fails, and status $status") unless $status eq 0 && $out =~ /^PASSED: /m;
            $wrong->("only " . ($call - 1) . " calls") if $call < 5;
            last;
        }
        ++$runs;
        my ($name, $error) = ($1, $2);
        $name = "(a kernel launch|cudaGetLastError|cudaLaunchKernelEx)" if $name eq "a kernel launch";
        $wrong->("status $status instead of 3") unless $status eq 3;
        $wrong->("does not say that $name failed, and where") unless $err =~ m{^/.*\.cuh?:[0-9]+: $name.* failed$}m;
        $wrong->("does not say $error") unless $err =~ /^    CUDA error [0-9]*, $error:$/m;
        $wrong->("leaves device memory") if $err =~ /never freed/;
        $wrong->("gives a verdict") if $out =~ /^(PASSED|FAILED)/m;
        $wrong->("leaves or changes a file") unless "@{[glob q(files/* files/.[!.]*)]}" eq "files/rows.csv" && slurp("files/rows.csv") eq "old\n";
    }
}
print "ok    $runs runs, in each of which another call fails: status 3, call, place and error named, nothing left behind\n";
' "$binary" "$variants" "$@"
