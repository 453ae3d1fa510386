#!/bin/sh
# fuzz.sh COUNT SEED BINARY: runs a sample with random command lines. They combine the options that the sample lists (--list),
# right and wrong values, and broken lists. Each run must end within ten seconds, its status must match its output, and it must
# write only the files that the command line asks for. Exit status: 0 if all cases pass, 1 if not, 77 if there is no device to
# run on.
. "$(dirname "$0")/lib.sh"
count=$1 seed=$2
sample "$3"
quick >/dev/null || skip "all variants are slow"
mkdir "$folder/at" && cd "$folder/at" || exit 1
perl -e '
use strict;
my ($binary, $count, $seed, $device) = @ARGV;
srand($seed);
sub of { $_[rand @_] }
my (%words, %takes, %slow);
for (split /\n/, `"$binary" --list`) {
    my ($what, @rest) = split / /;
    if ($what =~ /^(variant|twin)$/) { push @{$words{$what eq "twin" ? "--wrong" : "--only"}}, @rest }
    elsif ($what eq "slow") { $slow{$rest[0]} = 1 }
    elsif ($what eq "choice") { my $option = shift @rest; $words{$option} = [@rest] }
    else { my $option = shift @rest; $takes{$option} = 1; $words{$option} = [@rest] if @rest }
}
$slow{whole_program} = 1;  # no option reduces its sizes
delete $takes{"--show"};  # it would wait for a key
@{$words{"--only"}} = grep { !$slow{$_} } @{$words{"--only"}};
my @takes = sort keys %takes;
die "fuzz.sh: $binary --list names no options\n" unless @takes;
my @odd = ("", " ", "0", "-1", "+5", "1e3", "2^9", "1e30", "2.5e-3", "0x10", "007", " 7", "1.5", "NaN", "x", "2147483648", "4294967296",
           "9223372036854775808", "18446744073709551616", "99999999999999999999", "1125899906842624", "[1,2]", "{1,2}",
           "\e[31mred\e[0m", "\xff\xfe", "\xc2\x9b", "\xe5\x86\x85", "a\nb", "%s%n", "--", "-", "\@x", "A" x 100000);
@odd = grep { !/^(2147483648|4294967296)$/ } @odd if $binary =~ m{/gpu/[^/]*$};  # valid on a GPU, but slow
my @wrong = ("--N", "-n", "-n5", "--no", "--n:5", "--help-all", "--config", "stray", "++", "--on", "-hx", "--th_reads");
sub small {  # a valid small value
    my $option = shift;
    return of(@{$words{$option}}) if $words{$option};
    return of("x", "./y", "x.png", "y.png", "x.png", "y.png", "/dev/null", "/dev/full", "/none/x.png", "/") if $option =~ /^--(csv|out|cpu-out)$/;
    return 1 + int rand 3 if $option eq "--repeats";
    return 1 + int rand 64 if $option =~ /^--(blocks|width|height)$/;
    1 + int rand 5000;
}
sub flag { $_[0] =~ /^(--(warm|verbose|list|help|sweep|timeline)|-h)$/ }
my (%ended, $failed);
for my $number (1 .. $count) {
    my (@line, %given);
    my $tidy = rand() < 0.5;
    for (1 .. int rand 5) {
        my $option = !$tidy && rand() < 0.2 ? of(@wrong) : of(@takes);
        $option = of("--help", "-h") if $option =~ /help/ && rand() < 0.5;
        next if $tidy && ($given{$option}++ || ($option eq "--list" && rand() < 0.7));
        if (flag($option)) { push @line, $option; next }
        my $value = rand() < ($tidy ? 0.03 : 0.4) ? of(@odd) : small($option);
        if (rand() < 0.2) { push @line, "$option=$value" } else { push @line, $option; push @line, $value if rand() < 0.98 }
    }
    my $has = sub { my $option = shift; grep { /^$option(=|$)/ } @line };
    unshift @line, "--n", small("--n") unless $has->("--n");  # a run must be small,
    unshift @line, "--only", small("--only") unless (keys %slow == 1 && rand() < 0.1) || $has->("--(only|wrong)");  # and usually have one kernel
    unshift @line, "--repeats", small("--repeats") if $device eq "gpu" && !$has->("--repeats");  # times are not steady in this test
    unlink glob("* .[!.]*");
    my $child = fork();
    if ($child == 0) {
        open STDOUT, ">", "../out"; open STDERR, ">", "../err";
        alarm 100;  # the ten seconds are processor time, because the machine may be busy
        exec "sh", "-c", "ulimit -t 10; exec \"\$0\" \"\$@\"", $binary, @line or exit 126;
    }
    waitpid $child, 0;
    my ($signal, $status) = ($? & 127, $? >> 8);
    my ($out, $err) = map { local $/; open my $file, "<", $_; my $all = <$file>; defined $all ? $all : "" } "../out", "../err";
    my $verdict = $out =~ /^(PASSED|FAILED)/m;
    my @why;
    push @why, $signal =~ /^(9|14|24)$/ ? "runs for more than ten seconds" : "ends by signal $signal" if $signal;
    push @why, "ends with status $status" unless $signal || $status =~ /^(0|1|2|3|77)$/;
    push @why, "status $status, and nothing on stderr" if $status =~ /^[23]$/ && $err eq "";
    push @why, "status $status, and no word on what to type" if $status == 2 && $err !~ /type\s/i;
    push @why, "status 2, and a verdict" if $status == 2 && $verdict;
    push @why, "status $status without a verdict" if !$signal && $status < 2 && !$verdict && $out !~ /^(variant |Usage:)/m;
    push @why, "status 1 without --wrong" if $status == 1 && !grep { /^--wrong/ } @line;
    push @why, "control characters on stderr" if $err =~ /[\x00-\x09\x0b-\x1f\x7f]/;
    for my $file (glob("* .[!.]*")) {
        push @why, "leaves the file $file" unless grep { m{(^|=|/)\Q$file\E$} } @line;
        push @why, "status 2, and the file $file" if $status == 2;
    }
    ++$ended{$signal ? "signal $signal" : $status};
    next unless @why;
    $failed = 1;
    my $shown = join " ", map { my $word = length > 200 ? substr($_, 0, 200) . "..." : $_; "\x27$word\x27" } @line;
    $shown =~ s/([\x00-\x1f\x7f-\xff])/sprintf "\\x%02x", ord $1/ge;
    print "FAIL  ", join(", ", @why), ": line $number of seed $seed: $shown\n";
    print map { "      | $_\n" } (split /\n/, $err)[0 .. 3] if $err ne "";
}
print "$count lists, seed $seed: ", join(", ", map { "$ended{$_} ended with " . (/signal/ ? $_ : "status $_") } sort keys %ended), "\n";
exit($failed ? 1 : 0);
' "$binary" "$count" "$seed" "$device"
