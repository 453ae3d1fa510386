#!/usr/bin/perl
# sentences.pl BUILD: tests that each sentence of the advice (src/advice/sentences.hpp) is printed in English and in Chinese by a
# program of planted/ or by sentences.cu, and that both languages have as many reports. Prints what is missing. Exit status: 0 if
# nothing is.
use strict;
use warnings;
use File::Basename qw(basename dirname);
use File::Temp qw(tempdir);

my $build = shift // die "sentences.pl BUILD\n";
my $folder = tempdir('sentences.XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $here = dirname($0);
for my $file (glob("$here/planted/*.cu"), "$here/sentences.cu") {
    my $program = "$folder/" . basename($file, '.cu');
    system("$build/cpu/cudacpu", $file, '--hazards', '-o', $program) == 0 or exit 1;
    for my $name (split ' ', `$program`) {
        for (['en', 'C.UTF-8'], ['zh', 'zh_CN.UTF-8']) {
            my ($language, $locale) = @$_;
            system("LC_ALL=$locale timeout 60 $program $name >$program.$name.$language 2>&1");
        }
    }
}
sub slurp { my ($path) = @_; open my $in, '<', $path or die "$path: $!\n"; local $/; return <$in> }
sub flat { my ($text) = @_; $text =~ s/\n  //g; $text =~ s/\s+//g; return $text }  # a Chinese line may be broken anywhere
sub pattern {
    my ($words) = @_;
    my $pattern = join '', map { /^%(?:\d\$)?l?[dzsu]+$/ ? '.*?' : $_ eq "\\1" ? '.*?' : quotemeta flat($_) =~ s/\\"/"/gr }
        split /(%(?:\d\$)?(?:zu|ld|[ds])|\\1)/, $words;
    return qr/$pattern/;
}
my (%printed, %reports, $missing);
for my $language (qw(en zh)) {
    for my $path (glob "$folder/*.$language") {
        my $text = slurp($path);
        $printed{$language} .= flat($text) . "\n";
        ($reports{$path =~ s/\.$language$//r}{$language}) = scalar(() = $text =~ /^cudacpu: (?:hazard|note): /mg);
    }
}
my $code = slurp("$here/../../cpu/src/advice/sentences.hpp");
while ($code =~ /(\w+)\{((?:\s*"(?:[^"\\]|\\.)*")+)\s*,((?:\s*"(?:[^"\\]|\\.)*")+)\s*\}/g) {
    my ($name, %words) = ($1, en => $2, zh => $3);
    for my $language (qw(en zh)) {
        my $words = join '', $words{$language} =~ /"((?:[^"\\]|\\.)*)"/g;
        next if $printed{$language} =~ pattern($words);
        print "not printed ($language): $name: $words\n";
        ++$missing;
    }
}
for my $name (sort keys %reports) {
    my ($en, $zh) = map { $reports{$name}{$_} // 0 } qw(en zh);
    next if $en == $zh;
    print "$name: $en reports in English, $zh in Chinese\n";
    ++$missing;
}
exit($missing ? 1 : 0);
