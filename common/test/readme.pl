# readme.pl BUILD JOBS FOLDER PAGE...: runs the tests of readme.sh. A quoted block begins with `$ COMMAND`, or a comment on
# the line above names its source. GitHub does not show these comments:
#   <!-- from: COMMAND -->                   the block below is the output of COMMAND; `…` replaces omitted lines
#   <!-- file: NAME -->                      the block below is the file NAME, which commands need
#   <!-- prints: COMMAND | TEXT | TEXT -->   after a paragraph, table or block: each TEXT occurs in it and in the output of COMMAND;
#                                            `PRINTED => TEXT` if the paragraph uses other words than the output
# Times of the CPU device and line numbers are not compared: a place in a file is written NAME.cu:NN.
use strict;
use warnings;
use utf8;
my ($build, $jobs, $folder, @pages) = @ARGV;
chomp(my $top = `pwd`);
sub slurp { open my $in, "<", shift or return ""; local ($/, $.); my $all = <$in>; defined $all ? $all : "" }
my $cache = slurp("$build/CMakeCache.txt");
my ($source) = $cache =~ /^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)/m;
my ($compiler) = $cache =~ /^CMAKE_CXX_COMPILER:\w*=(.*)/m;
# The compiler determines which access is interrupted, and thus what a hazard build reports first. The quotes are from g++ 12.
my $other = `"$compiler" -dumpversion` =~ /^12\b/ ? "" : "hazards";
my (%number, @commands, @checks, %count, $failed, %bad, $page);
sub complain {
    my ($place, $wanted, $got, $command) = @_;
    print "FAIL  $place\n", $command ? "      command: $command\n" : "", "      wanted: $wanted\n      got:    $got\n";
    ++$bad{$place =~ s/:\d+$//r};
    $failed = 1;
}
sub ask { my $command = shift; push @commands, $command unless $number{$command}; $number{$command} ||= @commands }
sub check { push @checks, {@_, place => "$page:$."}; ++$count{$page}{$_[1]}; ask($checks[-1]{command}) if $checks[-1]{command} }

# ---- what the pages say ----------------------------------------------------------------------------------------------
sub command { # registers a command of a text or block, which must end with the given status
    my $text = shift;
    my $status = $text =~ /ends with status 1/ ? "1" : $text =~ /--wrong|--hazards/ ? "0|1" : "0";
    $text =~ s/ +# .*//;
    $text =~ s/^make && //;
    if ($text =~ s/^make\b *//) {
        $text =~ s/^(diff|learn|try)\b(?!.*=).*/$1/;    # the words after it are not goals
        for my $word (split " ", $text =~ s/="[^"]*"/=/gr) { # `make 04` needs the folder 04_*, `make 04_name` its name.cu
            my $known = $word =~ /^(\w+)=/ ? qr/\b$1\b/ : qr/^\Q$word\E:/m;
            complain("$page:$.", "make $word", "not in the Makefile")
                unless $word =~ /^(\d\d)(?:_(\w+))?$/ ? @{[glob "${1}_*" . ($2 ? "/$2.cu" : "")]} : slurp("Makefile") =~ $known;
        }
        ++$count{$page}{"make target"};
        return;
    }
    if ($text =~ /^sh (common\S*)/) { complain("$page:$.", "the script $1", "none") unless -f $1; return }
    $text =~ s{.*(?=build/gpu)}{} if $text =~ /^(ncu|compute-sanitizer) /;
    return unless $text =~ m{^(LAB_ORDER=\w+ )?build/\w+/\w+( |$)};
    if ($text =~ s{^build/gpu}{build/cpu}) { # the CPU device checks the options, with little data
        $text .= " --n 1000" unless $text =~ /--(n|width|height) /;
        my %small = (n => 1000, width => 40, height => 40, repeats => 2);
        $text =~ s/--(n|width|height|repeats) \d+/--$1 $small{$1}/g;
    }
    check(kind => "command", command => $text, status => $status);
}
sub block { # block: takes the lines of one block, and the command or file that a comment names
    my ($source, $file, @lines) = @_;
    if ($file) { open my $out, ">", "$folder/files/$file"; print $out map { "$_\n" } @lines; return }
    my ($before, $quoted) = ("", $source ? check(kind => "block", command => $source, want => []) && $checks[-1] : undef);
    while (defined(my $line = shift @lines)) {
        my $shell = $line =~ s/^\$ //;
        while (@lines && ($line =~ s/\\$// || ($shell && ($line =~ tr/'//) % 2))) {
            my $more = shift @lines;
            $line .= $line =~ / $/ ? $more =~ s/^ +//r : "\n$more";
        }
        if ($shell) { # it runs after the earlier commands of the block
            command($line) if $line =~ m{build/};
            check(kind => "block", command => "$before$line", want => []);
            $quoted = $checks[-1];
            $before .= "{ $line; } >/dev/null 2>&1; ";
        } elsif ($line =~ /^ *$/) {
        } elsif ($quoted) {
            push @{$quoted->{want}}, $line;
        } elsif ($line =~ m{^(make\b|sh common/|ncu |compute-sanitizer |LAB_ORDER=\S* build/|build/)}) {
            command($line);
        } elsif (($line =~ /^(on the CPU device|cudacpu: )/ || ($line =~ /^variant .*verdict$/ && $line !~ /GB/)) && $page !~ /zh-CN/) { # languages.sh compares the Chinese ones
            complain("$page:$.", "a comment above the block, <!-- from: COMMAND -->", "none");
            return;
        }
    }
}
sub anchors { map { lc(s/[^\w\- ]//gr) =~ tr/ /-/r } slurp(shift) =~ /^#+ (.*)/mg }
mkdir "$folder/files";
for my $name (@pages) {
    $page = $name;
    my ($last, $paragraph, $fence, $from, $file, @lines) = ("", "", 0, "", "");
    my $end_paragraph = sub { # finds the commands in a paragraph
        command($1) while $paragraph =~ m{`(((make && )?(LAB_ORDER=\w+ )?build/\w+/\d|make( |(?=`))|compute-sanitizer [^`]*build)[^`]*)`}g;
        $last = $paragraph =~ tr/`*//dr if $paragraph ne "";
        $paragraph = "";
    };
    open my $in, "<", $page or die "$page: $!";
    while (<$in>) {
        chomp;
        if (/^ *```/) {
            $end_paragraph->();
            $fence = !$fence;
            next if $fence;
            block($from, $file, @lines);
            ($last, $from, $file, @lines) = (join(" ", @lines) =~ s/  +/ /gr, "", "");
        } elsif ($fence) {
            push @lines, $_;
        } elsif (/^ *<!-- (from|file|prints): (.*?) *-->$/) {
            $end_paragraph->();
            if ($1 eq "from") { $from = $2; next }
            if ($1 eq "file") { $file = $2; next }
            my ($command, @texts) = split / \| /, $2;
            complain("$page:$.", "<!-- prints: COMMAND | TEXT -->", $_) unless @texts;
            for my $text (@texts) {
                my ($printed, $written) = split / => /, $text;
                check(kind => "figure", command => $command, printed => $printed, written => $written // $printed, in => $last);
            }
        } elsif (/^ *<!-- *(=|table:|end\b|tutorial:|given:|thumb:)/) { # comments that common/tools/figures reads
            $end_paragraph->();
            until (/-->/) { $_ = <$in> // last }
        } elsif (/<!--/) {
            complain("$page:$.", "a comment in a known form", $_);
        } elsif (/^ *$|^#/) {
            $end_paragraph->();
        } else {
            $paragraph .= ($paragraph eq "" ? "" : " ") . s/^ +//r;
            for my $link (s/`[^`]*`/`/gr =~ /\]\(([^)]*)\)/g) {
                ++$count{$page}{link};
                next if $link =~ /^http/;
                my ($to, $anchor) = split /#/, $link;
                $to =~ s{^\.\./\.\./actions/workflows/([^/]+)(/badge\.svg)?$}{.github/workflows/$1}; # GitHub's pages about the workflow
                my $target = $to ne "" ? ($page =~ m{^(.*/)} ? $1 : "") . $to : $page;
                complain("$page:$.", "the file $link", "none") unless -e $target;
                complain("$page:$.", "the anchor $link", "none") if $anchor && !grep { $_ eq $anchor } anchors($target);
            }
        }
    }
    $end_paragraph->();
}

# ---- runs each command once, in its own folder, which looks like the top folder --------------------------------------
sub skipped { # something that the command needs is not built
    my $command = shift;
    my $samples = slurp("CMakeLists.txt");
    my @needs = grep { index($samples, s{.*/}{}r) >= 0 } $command =~ m{build/(\w+/\d\w+)}g;
    push @needs, "hazards", "asan" if $command =~ /hazards\.sh/;
    push @needs, "cpu/libcudacpu_asan.a" if $command =~ / --asan\b/;
    my ($lacks) = grep { !-e "$build/$_" } @needs;
    print "left out, as there is no build/$lacks: $command\n" if $lacks && $lacks !~ /^gpu/;
    return $lacks;
}
delete @ENV{qw(DISPLAY WAYLAND_DISPLAY LAB_ORDER)};
my $running = 0;
for my $job (0 .. $#commands) {
    next if skipped($commands[$job]);
    if ($running++ >= $jobs) { wait; --$running }
    next if fork;
    mkdir("$folder/$job") && chdir("$folder/$job") or die "$folder/$job: $!";
    symlink $_, s{.*/}{}r for grep { !m{/build$} } glob("\Q$top\E/*");
    symlink $build, "build";
    system "sh", "-c", 'cp "$0"/files/* . 2>/dev/null', $folder;
    open my $script, ">", "run.sh";
    print $script $commands[$job], "\n";
    close $script;
    my $status = system("timeout 60 sh run.sh >out 2>err </dev/null") >> 8;
    open my $to, ">", "status";
    print $to $status;
    close $to;
    exit 0;
}
1 while wait != -1;

# ---- comparisons -----------------------------------------------------------------------------------------------------
sub plain { # removes from a text what differs in each run: times and clocks of a table of the CPU device, and places
    my ($text, $table) = @_;
    $text =~ s/\b(\w+\.cuh?):(\d+|NN)/$1:NN/g;
    $text =~ s/^ +(\d+|NN) \|/     NN |/mg; # the line numbers of a report's listing and advice
    $text =~ s/\b(lines?) (\d+|NN)((,| and) (\d+|NN))*/$1 NN/g;
    if ($text =~ /hazard: race|^  in kernel| \|  /) { # the order of the threads determines which threads and elements race
        $text =~ s/\b(element|threads?|blocks?) [\d(][\d(),]*( and [\d(][\d(),]*)?/$1 N/g;
        $text =~ s/(thread N) writes, (.*thread N) reads/$1 reads, $2 writes/;
    }
    $text =~ s/from \d+ to \d+ ns/from * to * ns/g;
    my @cells = split /  +/, $text;
    @$table = map { /^(mean|median|p95|tutorial|warm)$/ ? 1 : 0 } @cells if $text =~ /^variant .*verdict$/;
    if (@$table && @cells == @$table && $cells[0] ne "") { $text = join "  ", map { $table->[$_] ? "*" : $cells[$_] } 0 .. $#cells }
    return $text;
}
sub printed { # printed: the output of a command, line by line
    my $at = "$folder/" . ($number{shift()} - 1);
    my $text = slurp("$at/err") . slurp("$at/out");
    $text =~ s/\Q$_\E\///g for $source, $top, $at;
    my @table;
    $text =~ s/\n  (\(\S+:(?:\d+|NN)\))$/ $1/mg; # the line breaks of a report depend on the folder
    $text =~ s/^(  in kernel .*|  launched at \S+ as)\n  (at \S+|<<<.*)$/$1 $2/mg;
    return map { plain($_, \@table) } grep { !/^ *$/ } split /\n/, $text;
}
sub holds { # succeeds if the text contains the part, not inside a longer number
    my ($text, $part) = @_;
    my $pattern = quotemeta $part;
    $pattern = "(?<![0-9.,-])$pattern" if $part =~ /^\d/;
    $pattern = "$pattern(?![0-9e]|[.,][0-9])" if $part =~ /\d$/;
    return $text =~ /$pattern/;
}
for my $check (@checks) {
    my ($place, $command) = @$check{qw(place command)};
    my $at = "$folder/" . ($number{$command} - 1);
    next unless -e "$at/status";
    my $status = slurp("$at/status");
    my @line = printed($command);
    if ($check->{kind} eq "command") {
        complain($place, "status $check->{status}", "status $status; " . ($line[0] // ""), $command) unless $status =~ /^($check->{status})$/;
        next;
    }
    if ($status == 124) { complain($place, "an end", "none in 60 seconds", $command); next }
    next if $other && $command =~ /$other/;
    if ($check->{kind} eq "figure") {
        my $whole = join(" ", @line) =~ s/  +/ /gr;
        my $written = plain($check->{in} =~ s/  +/ /gr, []);
        complain($place, $check->{printed}, $whole, $command) unless holds($whole, plain($check->{printed}, []));
        complain($place, $check->{written}, "the paragraph above does not say so", $command) unless holds($written, plain($check->{written}, []));
        next;
    }
    my (@table, $from, @segment);
    $from = 0;
    my $wanted = join("\n", @{$check->{want}}, "…") =~ s/\n  (\(\S+:(?:\d+|NN)\))$/ $1/mgr;
    for my $want (split /\n/, $wanted) { # lines between two `…` must be consecutive; those after a `…` may be anywhere further down
        if ($want !~ /^ *…/) { push @segment, plain($want, \@table); next }
        next if $want !~ /^ *…$/ || !@segment;
        my ($start) = grep { my $at = $_; !grep { ($line[$at + $_] // "") ne $segment[$_] } 0 .. $#segment } $from .. @line;
        if (!defined $start) {
            my ($near) = grep { $line[$_] eq $segment[0] } $from .. $#line;
            my ($off) = grep { !defined $near || ($line[$near + $_] // "") ne $segment[$_] } 0 .. $#segment;
            complain($place, $segment[$off], defined $near ? $line[$near + $off] // "(the end)" : "no such line", $command);
            last;
        }
        $from = $start + @segment;
        @segment = ();
    }
}
for my $page (@pages) {
    my $has = $count{$page} || {};
    print $bad{$page} ? "FAIL  " : "ok    ", "$page: ", join(", ", map { "$has->{$_} ${_}s" } sort keys %$has), "\n";
}
print "not compared: what the hazard builds print, as $compiler is not the g++ 12 that the pages quote\n" if $other;
exit($failed ? 1 : 0);
