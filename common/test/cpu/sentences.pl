#!/usr/bin/perl
# sentences.pl BUILD: runs the programs of planted/, sentences.cu and the cases of the other programs of this folder in English and in
# Chinese. Tests that each sentence of the advice (../../cpu/src/advice) is printed in both languages, that both have as many reports,
# and that a report has at most twelve lines of 80 columns, except one with four edits or more. Prints what is wrong. Exit status: 0 if nothing is.
use strict;
use warnings;
use utf8;
use Cwd qw(abs_path);
use Encode qw(decode);
use File::Basename qw(basename dirname);
use File::Temp qw(tempdir);
use open qw(:std :encoding(UTF-8));

my $build = abs_path(shift // die "sentences.pl BUILD\n");
my $folder = tempdir('sentences.XXXXXX', TMPDIR => 1, CLEANUP => 1);
chdir dirname($0) or die "$0: $!\n";  # files are printed with names relative to this folder
sub slurp { my ($path) = @_; open my $in, '<:raw', $path or die "$path: $!\n"; local $/; return decode('UTF-8', <$in> // '') }
sub expand { my ($text) = @_; return $text =~ /^(.*?)\{([^{}\s]*,[^{}\s]*)\}(.*)$/ ? map { expand("$1$_$3") } split /,/, $2, -1 : $text }
my (%printed, %reports, $wrong);
sub complain { print @_, "\n"; ++$wrong }
sub columns { my ($line) = @_; return length($line) + (() = $line =~ /[\x{1100}-\x{ffff}]/g) }

sub compile {
    my ($file, $kind) = @_;
    my $program = "$folder/" . basename($file, '.cu') . ".$kind";
    my @options = slurp($file) =~ m{^// OPTIONS: (.*)$}m ? split ' ', $1 : ();
    -e $program or system("$build/cpu/cudacpu", $file, "--$kind", @options, '-o', $program) == 0 or exit 1;
    return $program;
}
# Runs the program in both languages.
sub record {
    my ($case, $variables, @command) = @_;
    for (['en', 'C.UTF-8'], ['zh', 'zh_CN.UTF-8']) {
        my ($language, $locale) = @$_;
        system("env LC_ALL=$locale $variables timeout 60 @command >$folder/printed 2>&1 </dev/null");
        my $text = slurp("$folder/printed");
        $printed{$language} .= flat($text) . "\n";
        for my $report ($text =~ /^(cudacpu: (?!LAB_).*\n(?:  .*\n)*)/mg) {
            $reports{$case}{$language} += $report =~ /^cudacpu: (?:hazard|note): /;
            my @lines = split /\n/, $report;
            my $edits = () = $report =~ /(?:write|写)\s+`/g;
            complain "$case ($language): a report of ${\scalar @lines} lines\n$report" if @lines > 12 && $edits < 4;
            complain "$case ($language): a line of more than 80 columns\n$_" for grep { columns($_) > 80 && !/^  `[^`]*`\W*$/ } @lines;  # code is one piece
        }
    }
}
sub flat { my ($text) = @_; $text =~ s/\n  //g; $text =~ s/\s+//g; return $text }  # a Chinese line may be broken anywhere
for my $file (glob('planted/*.cu'), 'sentences.cu') {
    my $program = compile($file, 'hazards');
    record("$file $_", '', $program, $_) for split ' ', `$program`;
}
for my $file (glob '*.cu') {
    my $text = slurp($file);
    while ($text =~ m{^// RUN: (?:gcc )?((?:plain|hazards)(?:,[a-z]+)*) ?(.*)$}mg) {
        my ($kinds, $commands) = ($1, $2);
        for my $command (expand($commands)) {
            my $variables = $command =~ s/^((?:[A-Z_]+=\S+ ?)+)// ? $1 : '';
            record("$file $_ $command", $variables, compile($file, $_), $command) for grep { /plain|hazards/ } split /,/, $kinds;
        }
    }
}

sub pattern {
    my ($words) = @_;
    my $pattern = join '', map { /^%.|^\\1/ ? '.*?' : quotemeta flat($_) =~ s/\\"/"/gr =~ s/\\n//gr }
        split /(%(?:\d\$)?\d*(?:zu|td|l?l?[dusxgp])|\\1)/, $words;
    return qr/$pattern/;
}
for my $file (glob '../../cpu/src/advice/*.[ch]pp') {
    my $code = slurp($file);
    while ($code =~ /\{((?:\s*"(?:[^"\\]|\\.)*")+)\s*,((?:\s*"(?:[^"\\]|\\.)*")+)\s*\}/g) {
        my %words = (en => $1, zh => $2);
        next if $words{zh} !~ /[^\x00-\x7f]/;
        for my $language (qw(en zh)) {
            my $words = join '', $words{$language} =~ /"((?:[^"\\]|\\.)*)"/g;
            complain basename($file), ": not printed ($language): $words" if $printed{$language} !~ pattern($words);
        }
    }
}
for my $name (sort keys %reports) {
    my ($en, $zh) = map { $reports{$name}{$_} // 0 } qw(en zh);
    complain "$name: $en reports in English, $zh in Chinese" if $en != $zh;
}
exit($wrong ? 1 : 0);
