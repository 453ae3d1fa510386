#!/usr/bin/perl
# mean.pl OUT.csv RUN.csv...: combines the CSV files of several processes of one program. Each measured number becomes the mean.
# All other cells, such as result, error and old values, are those of the first file.
# Exit status: 0 written, 255 a file has a different form than the first.
use strict;
use warnings;
my ($out, @files) = @ARGV;
die "mean.pl: type mean.pl OUT.csv RUN.csv ...\n" unless @files;
my @runs = map {
    open my $file, "<", $_ or die "mean.pl: cannot read $_: $!\n";
    [map { chomp; [/(?:^|,)("(?:[^"]|"")*"|[^,]*)/g] } <$file>];  # a field keeps its quotes
} @files;
for my $i (1 .. $#runs) { die "mean.pl: $files[$i] has a different number of lines than the first\n" if @{$runs[$i]} != @{$runs[0]} }

# Their mean, with as many digits as the first. (Processes form two groups, because the launch takes longer in some. Without the
# smallest and the largest value, the mean would vary more.)
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
