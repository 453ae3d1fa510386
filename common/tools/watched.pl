#!/usr/bin/perl
# watched.pl SECONDS OUT BEFORE PROGRAM [ARGUMENT...]: runs a program that may print much or never end. What it prints
# is in file OUT, and shown as it comes: 40 lines, and of more the last 10. While it is what file BEFORE has, it is held
# back, and if all is, one line says so ("" for BEFORE: nothing is). On stderr: that it still runs, and what ended it.
# Ctrl-C, and the time limit, let a program of the CPU device say where it is, and end it.
# Exit status: the program's, 128 + N if signal N ended it, 124 if it had not ended after that many seconds.
use strict;
use warnings;
use IO::Select;
use POSIX ();
use Time::HiRes qw(sleep time);
my ($limit, $to, $before, @command) = @ARGV;
my ($most_lines, $most_bytes, $last_lines) = (40, 8000, 10);

my $known = "";
if (length $before && open my $file, "<:raw", $before) { local $/; $known = <$file> // "" }
open my $out, ">:raw", $to or die "cannot write $to: $!\n";
pipe my $from, my $end or die "pipe: $!\n";
my $child = fork // die "fork: $!\n";
if (!$child) {
    open STDOUT, ">&", $end or die "stdout: $!\n";
    $SIG{INT} = "IGNORE";
    exec "stdbuf", "-oL", @command or die "stdbuf: $!\n";  # a line is shown when it is printed
}
my $typed = 0;  # Ctrl-C
$SIG{INT} = sub { kill $typed++ ? "KILL" : "QUIT", $child };
$SIG{PIPE} = "IGNORE";
close $end;
binmode $_ for $from, *STDOUT;
$| = 1;

my ($lines, $bytes, $all, $held, $rest) = (0, 0, "", "", "");
my $same = length $known;
sub show {  # what came, up to 40 lines; then the last lines are kept
    my ($text) = @_;
    while ($lines < $most_lines && $bytes < $most_bytes && $text =~ s/\A([^\n]*\n|[^\n]+\z)//) {
        my $piece = substr $1, 0, $most_bytes;
        print $piece;
        $bytes += length $piece;
        ++$lines if $piece =~ /\n\z/;
    }
    $rest .= $text;
}
sub release {
    $same = 0;
    show($held);
    $held = "";
}

my ($began, $said, $stopped, $status) = (time, 0, 0);
my $selected = IO::Select->new($from);
while (!defined $status || $selected->can_read(0)) {
    if ($selected->can_read(0.2)) {
        if (sysread $from, my $piece, 65536) {
            print $out $piece;
            if ($same) {
                $held .= $piece;
                release() if substr($known, 0, length $held) ne $held;
            } else {
                show($piece);
            }
        } else {
            $selected->remove($from);
        }
    } elsif ($same && length $held && -t STDIN) {
        release();  # perhaps it asks for something
    }
    sleep 0.1 if !$selected->count;
    $status = $? if !defined $status && waitpid($child, POSIX::WNOHANG) == $child;
    my $seconds = int(time - $began);
    if ($seconds >= $limit) {
        kill $seconds >= $limit + 4 ? "KILL" : "QUIT", $child if !defined $status && $stopped != $seconds;
        $stopped = $seconds;
    } elsif ($seconds >= ($said ? 60 * (1 + int($said / 60)) : 5)) {
        $said = $seconds;
        print STDERR "($seconds s, and it still runs: Ctrl-C, or $limit s, end it and show where it was)\n";
    }
}
release() if $same && $held ne $known;
close $out;
print "(It prints the same.)\n" if $same;
if (length $rest) {
    my @tail = split /(?<=\n)/, $rest;
    my $left_out = @tail - $last_lines;
    if ($left_out > 0) {
        splice @tail, 0, $left_out;
        print "... and $left_out lines more, in\n$to\nThe last ones:\n";
    }
    print map { substr $_, 0, 800 } @tail;
}
exit 124 if $stopped;
if ($typed) {
    $SIG{INT} = "DEFAULT";
    kill INT => $$;
}
my %names = (6 => "it aborted", 8 => "a division by zero", 11 => "a segmentation fault");
my $signal = $status & 127;
print STDERR $names{$signal} // "signal $signal", "\n" if $signal;
exit($signal ? 128 + $signal : $status >> 8);
