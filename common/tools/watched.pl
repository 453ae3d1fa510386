#!/usr/bin/perl
# watched.pl SECONDS OUT BEFORE INPUT PROGRAM [ARGUMENT...]: runs a program that may print much or never end. Its output goes to
# file OUT, and is shown as it comes: the first 40 lines, then the last 10. Output that equals file BEFORE is held back. If all of
# it is equal, one line says so (with "" for BEFORE, all output is shown). Its stderr is shown, and written to file OUT.err.
# Its input is written to file INPUT, unless INPUT is "". Messages on stderr say that it still runs, and which signal ended it.
# Ctrl-C or the time limit stops it; a program of the CPU device first prints the line that it is executing.
# Exit status: the program's, 128 + N if signal N ended it, 124 if the time limit stopped it.
use strict;
use warnings;
use IO::Handle;
use IO::Select;
use POSIX ();
use Time::HiRes qw(sleep time);
my ($limit, $to, $before, $input, @command) = @ARGV;
my ($most_lines, $most_bytes, $last_lines) = (40, 8000, 10);

my $known = "";
if (length $before && open my $file, "<:raw", $before) { local $/; $known = <$file> // "" }
sub file { my ($name) = @_; open my $file, ">:raw", $name or die "cannot write $name: $!\n"; return $file }
my ($out, $said_too) = (file($to), file("$to.err"));
$said_too->autoflush(1);
pipe my $from, my $end or die "pipe: $!\n";
pipe my $errors, my $errors_end or die "pipe: $!\n";
my ($kept, $given, $feeds);
if (length $input) {
    $kept = file($input);
    pipe $given, $feeds or die "pipe: $!\n";
}
$ENV{CLICOLOR_FORCE} = 1 if -t STDERR && !$ENV{NO_COLOR} && ($ENV{TERM} // "dumb") ne "dumb";  # the CPU device reads this variable
my $child = fork // die "fork: $!\n";
if (!$child) {
    open STDOUT, ">&", $end or die "stdout: $!\n";
    open STDERR, ">&", $errors_end or die "stderr: $!\n";
    open STDIN, "<&", $given or die "stdin: $!\n" if $given;
    $SIG{INT} = "IGNORE";
    exec "stdbuf", "-oL", @command or die "stdbuf: $!\n";  # a line is shown when it is printed
}
my $typed = 0;  # Ctrl-C
$SIG{INT} = sub { kill $typed++ ? "KILL" : "QUIT", $child };
$SIG{PIPE} = "IGNORE";
close $_ for grep { defined } $end, $errors_end, $given;
binmode $_ for grep { defined } $from, $errors, $feeds, *STDIN, *STDOUT, *STDERR;
$feeds->blocking(0) if $feeds;
$| = 1;

my ($lines, $bytes, $all, $held, $rest) = (0, 0, "", "", "");
my $same = length $known;
sub show {  # prints up to 40 lines, and keeps the rest
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

# Is the program waiting? Only then a line is read from a terminal, because otherwise the line may be meant for the shell.
sub waits {
    open my $stat, "<", "/proc/$child/stat" or return 1;
    return <$stat> =~ /\) S/;
}
my $feed = "";  # read from stdin, but not yet passed to the program
sub take {      # reads a part of stdin; at the end of stdin, closes the program's input
    my $read = sysread STDIN, $feed, 65536;
    return if !defined $read && $!{EINTR};
    return print $kept $feed if $read;
    close $feeds;
    undef $feeds;
}
sub give {
    my $written = syswrite $feeds, $feed;
    if (defined $written) { substr $feed, 0, $written, "" }
    elsif (!$!{EAGAIN} && !$!{EINTR}) { close $feeds; undef $feeds }  # the program reads no more
}

my ($began, $said, $stopped, $status) = (time, 0, 0);
my $selected = IO::Select->new($from, $errors);
while (!defined $status || $selected->can_read(0)) {
    my $wants = $feeds && !length $feed && (!-t STDIN || waits());
    my $readable = IO::Select->new($selected->handles, $wants ? *STDIN : ());
    my ($come, $go) = IO::Select->select($readable, $feeds && length $feed ? IO::Select->new($feeds) : undef, undef, 0.2);
    my %come = map { fileno $_ => 1 } @{$come // []};
    give() if @{$go // []};
    take() if $wants && $come{fileno STDIN};
    if ($come{fileno $from}) {
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
    }
    if ($come{fileno $errors}) {
        if (sysread $errors, my $piece, 65536) {
            print $said_too $piece;
            print STDERR $piece;
        } else {
            $selected->remove($errors);
        }
    }
    sleep 0.1 if !$selected->count;
    $status = $? if !defined $status && waitpid($child, POSIX::WNOHANG) == $child;
    my $seconds = int(time - $began);
    if ($seconds >= $limit) {
        kill $seconds >= $limit + 4 ? "KILL" : "QUIT", $child if !defined $status && $stopped != $seconds;
        $stopped = $seconds;
    } elsif ($seconds >= ($said ? 60 * (1 + int($said / 60)) : 5)) {
        $said = $seconds;
        print STDERR "(still running after $seconds s; Ctrl-C or the limit of $limit s stops it)\n";
    }
}
release() if $same && $held ne $known;
close $_ for grep { defined } $out, $said_too, $kept;
print "(Its output is the same.)\n" if $same;
if (length $rest) {
    my @tail = split /(?<=\n)/, $rest;
    my $left_out = @tail - $last_lines;
    if ($left_out > 0) {
        splice @tail, 0, $left_out;
        print "... and $left_out more lines, in\n$to\nThe last lines:\n";
    }
    print map { substr $_, 0, 800 } @tail;
}
exit 124 if $stopped;
if ($typed) {
    $SIG{INT} = "DEFAULT";
    kill INT => $$;
}
my %names = (6 => "the program aborted", 8 => "a division by zero", 11 => "a segmentation fault");
my $signal = $status & 127;
print STDERR $names{$signal} // "signal $signal", "\n" if $signal;
exit($signal ? 128 + $signal : $status >> 8);
