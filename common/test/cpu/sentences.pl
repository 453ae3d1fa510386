#!/usr/bin/perl
# sentences.pl SENTENCES FOLDER: tests that each sentence of the advice is printed in English and in Chinese. SENTENCES is
# src/advice/sentences.hpp. FOLDER has what the planted programs print, as NAME.en and NAME.zh. Prints each sentence that no
# program prints, and each report that is printed in one language only. Exit status: 0 if there is none.
use strict;
use warnings;

my ($sentences, $folder) = @ARGV;
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
my $code = slurp($sentences);
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
