#!/usr/bin/perl
# middle.pl OUT.csv RUN.csv...: one CSV file of several that a program wrote in as many processes: each number that was
# measured is their mean without the least and the greatest. All else is the first one's, and what it found: result, error
# and old values. Exit status: 0 written, 255 a file is not as the first.
use strict;
use warnings;
my ($out, @files) = @ARGV;
die "middle.pl: type middle.pl OUT.csv RUN.csv ...\n" unless @files;
my @runs = map {
    open my $file, "<", $_ or die "middle.pl: cannot read $_: $!\n";
    [map { chomp; [/(?:^|,)("(?:[^"]|"")*"|[^,]*)/g] } <$file>];  # a field keeps its quotes
} @files;
for my $i (1 .. $#runs) { die "middle.pl: $files[$i] has other lines than the first\n" if @{$runs[$i]} != @{$runs[0]} }

# The mean of all but the least and the greatest (of one or two: of all), with as many digits as the first has.
sub middle {
    my ($first, @values) = ($_[0], @_);
    for (@values) { return $first unless s/[",]//gr =~ /^([-+]?\d+(\.\d*)?(e[-+]?\d+)?)$/; $_ = $1 }
    @values = sort { $a <=> $b } @values;
    return $first if $values[0] == $values[-1];
    if (@values > 2) { shift @values; pop @values }
    my $sum = 0;
    $sum += $_ for @values;
    return sprintf "%.*f", $first =~ /\.([^"]*)/ ? length $1 : 0, $sum / @values;
}

my ($head, $text) = ($runs[0][0], "");
for my $line (0 .. $#{$runs[0]}) {
    $text .= join(",", map {
        my $column = $_;
        my @cells = map { $_->[$line][$column] // "" } @runs;
        ($head->[$column] // "") =~ /^(result|error|old values)$/ ? $cells[0] : middle(@cells);
    } 0 .. $#{$runs[0][$line]}) . "\n";
}
open my $file, ">", $out or die "middle.pl: cannot write $out: $!\n";
print $file $text;
close $file or die "middle.pl: cannot write $out: $!\n";
