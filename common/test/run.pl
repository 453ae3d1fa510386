#!/usr/bin/perl
# run.pl [--slow] BUILD FILE [TEXT]: runs the cases of one test and compares what they print with what the file says. FILE is a
# program (NAME.cu) or a script (NAME.test); README.md describes the comments that it may contain. TEXT runs only the cases whose
# RUN line contains it; --slow runs the cases marked slow, which are left out otherwise. Programs are in BUILD/test, and are
# compiled if they are missing or older than FILE. If BUILD is a cross build, set EMULATOR to the command that runs programs, such as
# "qemu-aarch64 -L /usr/aarch64-linux-gnu". Prints a line for each case, and the output of each one that fails.
# Exit status: 0 if all cases pass, 1 if one does not, 2 if FILE contains a mistake, 77 if the test was left out.
use strict;
use warnings;
use Cwd qw(realpath);
use File::Basename qw(basename dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);

my $slow = @ARGV && $ARGV[0] eq '--slow' ? shift : '';
my ($build, $file, $chosen) = @ARGV;
defined $file && -f $file && -d $build or die "run.pl [--slow] BUILD FILE.cu|FILE.test [TEXT]: no such build folder or file\n";
($build, $file) = (realpath($build), realpath($file));
my ($base, $folder, $top) = (basename($file), dirname($file), realpath(dirname($0) . '/../..'));
my $script = $base =~ /\.test$/;
my $temporary = tempdir('test.XXXXXX', TMPDIR => 1, CLEANUP => 1);
$SIG{INT} = $SIG{TERM} = sub { exit 1 };
delete @ENV{grep /^(LAB_(?!NO_GPU)|LC_|LANG|NO_COLOR)/, keys %ENV};
$ENV{LC_ALL} = 'C.UTF-8';
my @emulator = split ' ', $ENV{EMULATOR} // '';
my ($failed, $passed) = (0, 0);

# ---- the file: its cases, labels and marks
sub mistake { my ($line, $text) = @_; print STDERR "$base:$line: $text\n"; exit 2 }
my (@cases, @open, %mark, %label, %planted, %fixed, @options, %seen);
my @lines = do { open my $in, '<', $file or die "$file: $!\n"; <$in> };
chomp @lines;
my $comment = $script ? qr/#/ : qr{//};

# Expands {a,b} in a RUN line: one case for each word.
sub expand {
    my ($text) = @_;
    $text =~ /^(.*?)(?<!\$)\{([^{}\s]*,[^{}\s]*)\}(.*)$/ or return $text;
    my ($before, $words, $after) = ($1, $2, $3);
    return map { expand("$before$_$after") } split /,/, $words, -1;
}
for my $at (1 .. @lines) {
    my $line = $lines[$at - 1];
    $line =~ /^(.*?)\s*$comment\s?(RUN|STATUS|SAYS|SAYS-NOT|SAYS-COUNT-\d+|FIXED|OPTIONS|NEEDS|LABELS|RACE|BOUNDS|HOST|EQUAL|MISS)(:| )\s*(.*?)\s*$/ or do {
        $mark{$1} = $at if !$script && $line =~ m{//\s*#(\w+)\s*$};
        next;
    };
    my ($code, $what, $colon, $rest) = ($1, $2, $3, $4);
    $mark{$1} = $at if $rest =~ s{\s*//\s*#(\w+)$}{};
    if ($what =~ /^(RACE|BOUNDS|HOST|EQUAL|MISS)$/) {
        next if $colon eq ':' || $script || $code !~ /\S/;
        push @{$label{$_}{$what}}, $at for grep { $_ ne 'gcc' } split ' ', $rest;
        $label{$_}{gcc} = 1 for $rest =~ /^gcc (.*)/ ? split(' ', $1) : ();
    } elsif ($colon ne ':') {
    } elsif ($what eq 'OPTIONS') {
        push @options, split ' ', $rest;
    } elsif ($what eq 'FIXED') {
        $fixed{$at} = $rest;
    } elsif ($what eq 'RUN') {
        my %is = (line => $at);
        $is{$1} = 1 while $rest =~ s/^(slow|gcc)\s+//;
        @open = ();
        my @builds = $script ? '' : $rest =~ s/^([a-z]+(?:,[a-z]+)*)(?:\s+|$)// ? split(/,/, $1) : mistake($at, 'RUN: names no build');
        for my $kind (@builds) {
            $script || $kind =~ /^(plain|hazards|counters|asan|refused|compiles|fix)$/ or mistake($at, "no build is called $kind");
            for my $command ($script ? $rest : expand($rest)) {
                my $name = $script ? $command : join ' ', grep length, $kind, $command;
                $script || !$seen{$name}++ or mistake($at, "a second case '$name'; the first is above");
                push @open, {%is, kind => $kind, command => $command, name => $name, status => $kind eq 'refused' ? 1 : 0, says => []};
            }
        }
        push @cases, @open;
    } elsif ($what =~ /^(STATUS|SAYS.*)$/) {
        if ($code =~ /^PLANT\((\w+)\)/) {
            push @{$planted{$1}}, {what => $what, text => $rest, line => $at};
            next;
        }
        @open or mistake($at, "$what: belongs to a RUN, and none is above");
        if ($what eq 'STATUS') {
            $rest =~ /^\d+$/ or mistake($at, 'STATUS: is followed by a number');
            $_->{status} = $rest for @open;
        } else {
            push @{$_->{says}}, {what => $what, text => $rest, line => $at, here => !$script && $code =~ /\S/ ? 1 : 0} for @open;
        }
    }
}
@cases or mistake(1, 'no line with RUN:');

# ---- what a text must look like
# The regular expression for a SAYS: literal text, {{regular expressions}}, and @#name for the line marked #name.
sub pattern {
    my ($says) = @_;
    my $pattern = '';
    my @parts = split /\{\{(.*?)\}\}/, $says->{text}, -1;
    for my $i (0 .. $#parts) {
        my $part = $parts[$i];
        if ($i % 2 == 0) {
            $part = join '\s+', map { quotemeta } split /\s+/, $part, -1;
            $part =~ s/\\\@\\\#(\w+)/$mark{$1} || mistake($says->{line}, "no line is marked #$1")/ge;
        } else {
            $part = "(?:$part)";
        }
        $pattern .= $part;
    }
    # At the end of a line of code, the output must name this line before the text, and no other line between the two.
    $pattern = "\Q$base\E:$says->{line}\\b(?:(?!\Q$base\E:\\d).)*?$pattern" if $says->{here};
    return $says->{here} ? qr/$pattern/s : qr/$pattern/m;
}
sub flat { my ($text) = @_; $text =~ s/\s+/ /g; return $text }
# Removes the folders from an output, so that it is the same wherever the lab is.
sub neutral {
    my ($text) = @_;
    $text =~ s{^( *\d+ \|.*?)\s*//\s?(?:RUN|STATUS|SAYS|SAYS-NOT|SAYS-COUNT-\d+|FIXED|OPTIONS): .*}{$1}mg;  # a compiler repeats the line
    for my $path ($temporary, $folder) {
        my $spaced = join '\s+', map { quotemeta } split /\s+/, $path, -1;  # a path with a blank may be wrapped there
        $text =~ s{$spaced/}{}g;
    }
    return $text;
}
# What is wrong with an output: a list of sentences, empty if nothing is.
sub complaints {
    my ($output, @says) = @_;
    my ($flat, @wrong) = (flat($output));
    for my $says (@says) {
        my $pattern = pattern($says);
        my $times = () = $output =~ /$pattern/g;
        $times ||= () = $flat =~ /$pattern/g;
        my $place = $says->{here} ? " at line $says->{line}" : '';
        push @wrong, "not printed$place: $says->{text}" if $says->{what} eq 'SAYS' && !$times;
        push @wrong, "printed: $says->{text}" if $says->{what} eq 'SAYS-NOT' && $times;
        push @wrong, "printed $times times: $says->{text}" if $says->{what} =~ /^SAYS-COUNT-(\d+)/ && $times != $1;
    }
    return @wrong;
}
sub verdict {  # verdict(title, output, complaint...): prints a line, and the output if there is a complaint
    my ($title, $output, @wrong) = @_;
    print @wrong ? "FAIL  $title\n" : "ok    $title\n";
    @wrong ? $failed++ : $passed++;
    return if !@wrong;
    print "      $_\n" for @wrong;
    my @printed = split /\n/, $output;
    print "      | $_\n" for @printed > 40 ? (@printed[0 .. 39], '...') : @printed;
}

# ---- running
sub slurp { my ($path) = @_; open(my $in, '<', $path) or return undef; local $/; return <$in> // '' }
sub run {  # run(seconds, command...): its exit status (128 + the signal's number) and what it prints
    my ($seconds, @command) = @_;
    my $pid = open(my $out, '-|') // die "fork: $!\n";
    if (!$pid) {
        open STDERR, '>&', \*STDOUT;
        open STDIN, '<', '/dev/null';
        $ENV{$1} = $2 while @command && $command[0] =~ /^([A-Z_]+)=(.*)/s && shift @command;
        chdir $temporary;
        unshift @command, @emulator if $command[0] ne "$build/cpu/cudacpu";
        exec 'timeout', '-k', 5, $seconds, @command or exit 127;
    }
    my $output = do { local $/; <$out> } // '';
    close $out;
    return ($? & 127 ? 128 + ($? & 127) : $? >> 8, neutral($output));
}
sub newer { my ($one, $other) = @_; return -e $one && (!-e $other || (stat _)[9] < (stat $one)[9]) }
my %compiled;
sub program {  # program(build): the path of the compiled program; a failure to compile it fails the test
    my ($kind) = @_;
    my $name = $file =~ s{^\Q$top\E/common/test/}{}r =~ s/\.cu$//r;
    my $path = $name =~ m{^/} ? "$temporary/program.$kind" : "$build/test/$name.$kind";
    return $compiled{$kind} //= do {
        if (grep { newer($_, $path) } $file, "$build/cpu/cudacpu", "$build/cpu/libcudacpu_$kind.a") {
            make_path(dirname($path));
            my ($status, $output) = run(300, "$build/cpu/cudacpu", $file, "--$kind", @options, '-o', $path);
            if ($status || $output =~ /\S/) { verdict("$base compiles ($kind)", $output, "status $status") }
        }
        $path;
    };
}
my $gcc = system('grep', '-rqs', '--include=CMakeCXXCompiler.cmake', 'CMAKE_CXX_COMPILER_ID "GNU"', "$build/CMakeFiles") == 0;
sub wanted { my ($case) = @_; return !$case->{slow} == !$slow && (!defined $chosen || index($case->{name}, $chosen) >= 0) && ($gcc || !$case->{gcc}) }

sub run_program {
    my ($case) = @_;
    my @words = split ' ', $case->{command};
    my ($status, $output);
    if ($case->{kind} =~ /refused|compiles/) {
        ($status, $output) = run(60, "$build/cpu/cudacpu", $file, @options, @words, '-c', '-o', "$temporary/object.o");
    } else {
        my @variables;
        push @variables, shift @words while @words && $words[0] =~ /^[A-Z_]+=/;
        my $path = program($case->{kind});
        return check_labels($case, \@variables, $path, @words) if %label;
        ($status, $output) = run($slow ? 300 : 60, @variables, $path, @words);
    }
    my @wrong = $status == $case->{status} ? () : "status $status, wanted $case->{status}";
    push @wrong, complaints($output, @{$case->{says}});
    push @wrong, 'a message, where none is due' if !$case->{status} && !@{$case->{says}} && $output =~ /^cudacpu: /m;
    verdict($case->{name}, $output, @wrong);
}

# ---- labels: a kernel must be reported in a line that has its label; the others must not be reported, except those labelled MISS
sub check_labels {
    my ($case, $variables, $path, @words) = @_;
    my (undef, $list) = run(60, $path, '--list');
    my @names = $list =~ /(\S+)$/mg;
    my %known = map { $_ => 1 } @names;
    $known{$_} or mistake((map { $$_[0] } values %{$label{$_}})[0], "the program has no kernel $_") for sort keys %label;
    my (undef, $output) = run(600, @$variables, $path, @words);
    my %of = $output =~ /^=== (\S+)\n(.*?)(?==== \S+\n|\z)/msg;
    my ($found, $alarms, $rights, $missed, @wrong) = (0, 0, 0, 0);
    for my $name (@names) {
        my ($lines, $hazard, %at) = ($label{$name}, 0);
        for my $message (split /^(?=cudacpu: )/m, $of{$name} // '') {
            my $kind = $message =~ /^cudacpu: note: / ? 'EQUAL' : $message =~ /^cudacpu: (?:hazard: |the host )/ ? 'hazard' : next;
            $hazard ||= $kind eq 'hazard';
            $at{$kind eq 'EQUAL'}{$_} = 1 for $message =~ /(?:^\s*|\Q$base\E:\s*)(\d+)(?=\s+\||\b)/mg;
        }
        if ($lines && $lines->{MISS}) {
            ++$missed;
        } elsif (!$lines) {
            ++$rights;
            if ($hazard || !exists $of{$name}) { ++$alarms, push @wrong, "a false alarm: $name" }
        } elsif ($lines->{EQUAL} ? !$hazard && grep { $at{1}{$_} } @{$lines->{EQUAL}} :
                 grep { $at{''}{$_} } map { @{$lines->{$_} // []} } qw(RACE BOUNDS HOST)) {
            ++$found;
        } else {
            push @wrong, "not reported: $name" if $gcc || !$lines->{gcc};
        }
    }
    my $printed = join '', map { my $name = $_; map { "=== $name\n$_" } $of{$name} // () } map { /: (\w+)$/ } @wrong;
    verdict("$case->{name}: $found of " . (keys(%label) - $missed) . " mistakes found, $alarms false alarms in $rights right kernels", $printed, @wrong);
}

# ---- planted mistakes: the advice of each report is carried out literally, and the program must then be clean, except those labelled
# MISS, which are mended one by one
# Changes @$lines as the advice of the reports says. Where it has no exact text, the comment FIXED of a named line is used.
my ($answers, $equal) = (0, 0);  # lines with FIXED; those whose text the advice gives exactly
sub carry_out {
    my ($text, $lines) = @_;
    my (%after, %before, %dropped, %named, %open, %close, %replace);
    my $numbers = qr/\d+(?:(?:,| and) \d+)*/;
    for my $report (split /^(?=cudacpu: )/m, $text) {
        $named{$_} = 1 for $report =~ /\Q$base\E:(\d+)/g, $report =~ /^ +(\d+) \|/mg;
        my ($listed, $advice) = (0, '');  # the advice follows the lines of source
        for (split /\n/, $report) {
            if (/^ +\d* \|/) { $listed = 1, $advice = '' }
            elsif ($listed && /^  (.*)/) { $advice .= ($advice eq '' ? '' : ' ') . $1 }
        }
        if ($advice =~ s/.*give the body of line (\d+) braces, and (?=.*?after line (\d+))//) { $open{$1} = 1, $close{$2} = 1 }
        while ($advice =~ /put ([_a-zA-Z.]+\([\w.]*\)) (after|before) lines? ($numbers)/g) {
            my ($what, $place) = ($1, $2);
            ($place eq 'after' ? \%after : \%before)->{$_} .= " $what;" for $3 =~ /\d+/g;
        }
        while ($advice =~ /in line (\d+) write ((?:`[^`]*` )+)for `([^`]*)`/g) {
            my ($line, $new, $old) = ($1, $2, $3);
            $replace{$line} = [$old, join ' ', $new =~ /`([^`]*)`/g];
        }
        while ($advice =~ /write ((?:`[^`]*` )+)for (?:the if of )?lines (\d+) to (\d+)/g) {
            my ($new, $first, $last) = ($1, $2, $3);
            $dropped{$_} = 1 for $first .. $last;
            $before{$first} .= ' ' . join ' ', $new =~ /`([^`]*)`/g;
        }
        while ($advice =~ /move line (\d+) (after|before) line (\d+)/g) {
            ($2 eq 'after' ? \%after : \%before)->{$3} .= $$lines[$1 - 1];
            $dropped{$1} = 1;
        }
        while ($advice =~ /drop lines? (\d+)(?: to (\d+))?/g) { $dropped{$_} = 1 for $1 .. $2 // $1 }
        $after{$1} .= " $2" while $advice =~ /after line (\d+) write [^`]*`([^`]*)`/g;
        while ($advice =~ /lines? ($numbers)/g) { $named{$_} = 1 for $1 =~ /\d+/g }
    }
    my @result;
    for my $at (1 .. @$lines) {
        my $line = $dropped{$at} ? '' : $$lines[$at - 1];
        my $replaced = $line;
        for ($replaced, $named{$at} && defined $fixed{$at} ? $line = $fixed{$at} : $line) {
            if ($replace{$at} && (my $i = index $_, $replace{$at}[0]) >= 0) { substr($_, $i, length $replace{$at}[0]) = $replace{$at}[1] }
        }
        if ($named{$at} && defined $fixed{$at}) { ++$answers, $equal += squeezed($replaced) eq squeezed($fixed{$at}) }
        push @result, grep defined, $before{$at}, $line . ($open{$at} ? ' {' : ''), $after{$at}, $close{$at} ? '}' : undef;
    }
    return @result;
}
sub squeezed { my ($code) = @_; return $code =~ s{\s*//.*}{}r =~ s/\s+//gr }
sub fix {
    my ($case) = @_;
    my $path = program('hazards');
    my (undef, $list) = run(60, $path);
    my @names = split ' ', $list;
    $list =~ /^\Q$_\E$/m or mistake($planted{$_}[0]{line}, "no PLANT($_)") for sort keys %planted;
    my (%said, %wrong, %noted);  # noted: only notes are printed, which leave the status unchanged
    for my $name (@names) {
        (my $status, $said{$name}) = run(60, $path, $name);
        $noted{$name} = !$status && $said{$name} =~ /^cudacpu: note: /m;
        push @{$wrong{$name}}, 'nothing is found' if !$status && !$noted{$name};
        push @{$wrong{$name}}, complaints($said{$name}, @{$planted{$name} // []});
    }
    for my $group ([grep { !$label{$_} } @names], map { [$_] } grep { $label{$_} } @names) {
        @$group or next;
        my $source = "$temporary/$base";
        open my $out, '>', $source or die "$source: $!\n";
        print $out "$_\n" for carry_out(join('', map { $said{$_} } @$group), \@lines);
        close $out;
        my ($failed, $text) = run(300, "$build/cpu/cudacpu", $source, "-I$folder", '--hazards', @options, '-DCURED', '-o', "$temporary/fixed");
        if ($failed && @$group > 1) { return verdict("$base compiles after its advice is carried out", $text, "status $failed") }
        for my $name (@$group) {
            my ($status, $output) = $failed ? ($failed, $text) : run(60, "$temporary/fixed", $name);
            my $unfixed = $status || $output =~ ($noted{$name} ? qr/^cudacpu: note: /m : qr/^cudacpu: [^n]/m);
            if ($label{$name}) { $wrong{$name} = @{$wrong{$name}} || $unfixed ? [] : ['fixed, although it is labelled MISS'] }
            elsif ($unfixed) { push @{$wrong{$name}}, 'not fixed' }
            verdict("fix $name" . ($label{$name} ? ', which its advice does not' : ''), "$said{$name}then\n$output", @{$wrong{$name}});
        }
    }
    print "the advice gives the text of $equal of $answers lines with FIXED\n";
}

# ---- scripts: the plain lines are run as they are; each RUN line is run in its place
sub run_script {
    my %case_at = map { $_->{line} => $_ } @cases;
    my $work = "$temporary/work";
    mkdir $work;
    open my $out, '>', "$temporary/script" or die "$temporary/script: $!\n";
    print $out "skip() { echo \"left out: \$*\"; exit 77; }\n";
    for my $at (1 .. @lines) {
        my $case = $case_at{$at};
        my $files = "\"\$LAB_TEST_OUTPUT.$at";
        if (!$case) { print $out "$lines[$at - 1]\n" }
        elsif ($case->{slow} && !$slow || $case->{gcc} && !$gcc) { print $out "\n" }
        else { print $out "( $case->{command}\n) >$files\" 2>&1 </dev/null && echo 0 >$files.status\" || echo \$? >$files.status\"\n" }
    }
    close $out;
    @ENV{qw(top build t LAB_TEST_OUTPUT)} = ($top, $build, $work, "$temporary/output");
    system('sh', '-c', 'cd "$t" && set -eu && . "$0"', "$temporary/script");
    my $end = $? & 127 ? 128 + ($? & 127) : $? >> 8;
    for my $case (@cases) {
        my ($status, $output) = map { slurp("$temporary/output.$case->{line}$_") } '.status', '';
        next if !defined $status;
        my @wrong = $status == $case->{status} ? () : sprintf 'status %d, wanted %d', $status, $case->{status};
        $output = neutral($output =~ s{\Q$work\E/}{}gr);
        verdict("line $case->{line}: $case->{command}", $output, @wrong, complaints($output, @{$case->{says}}));
    }
    if ($end && $end != 77) { print "FAIL  $base: the script ended with status $end before its last line\n"; ++$failed }
    exit 77 if $end == 77 && !$failed;
}

if ($script) { run_script() }
else { $_->{kind} eq 'fix' ? fix($_) : run_program($_) for grep { wanted($_) } @cases }
if (!$passed && !$failed) { print "left out: no case of $base is to be run here\n"; exit 77 }
print $failed ? "$failed of " . ($passed + $failed) . " cases failed\n" : "$passed cases passed\n";
exit($failed ? 1 : 0);
