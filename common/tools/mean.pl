#!/usr/bin/perl
# mean.pl OUT.csv RUN.csv...: one CSV file of several that a program wrote in as many processes: each number that was
# measured is their mean. All else is the first one's, and what it found: result, error and old values.
# Exit status: 0 written, 255 a file is not as the first.
use strict;
use warnings;
my ($out, @files) = @ARGV;
die "mean.pl: type mean.pl OUT.csv RUN.csv ...\n" unless @files;
my @runs = map {
    open my $file, "<", $_ or die "mean.pl: cannot read $_: $!\n";
    [map { chomp; [/(?:^|,)("(?:[^"]|"")*"|[^,]*)/g] } <$file>];  # a field keeps its quotes
} @files;
for my $i (1 .. $#runs) { die "mean.pl: $files[$i] has other lines than the first\n" if @{$runs[$i]} != @{$runs[0]} }

# Their mean, with as many digits as the first has. (Processes come in two groups, as the launch takes longer in some: to leave
# out the least and the greatest would widen what the mean varies by.)
sub mean {
    my ($first, $sum) = ($_[0], 0);
    return $first unless grep { $_ ne $first } @_;
    for (@_) {
        return $first unless s/[",]//gr =~ /^([-+]?\d+(\.\d*)?(e[-+]?\d+)?)$/;
        $sum += $1;
    }
    return sprintf "%.*f", $first =~ /\.([^"]*)/ ? length $1 : 0, $sum / @_;
}

my ($head, $text) = ($runs[0][0], "");
for my $line (0 .. $#{$runs[0]}) {
    $text .= join(",", map {
        my $column = $_;
        my @cells = map { $_->[$line][$column] // "" } @runs;
        ($head->[$column] // "") =~ /^(result|error|old values)$/ ? $cells[0] : mean(@cells);
    } 0 .. $#{$runs[0][$line]}) . "\n";
}
open my $file, ">", $out or die "mean.pl: cannot write $out: $!\n";
print $file $text;
close $file or die "mean.pl: cannot write $out: $!\n";
