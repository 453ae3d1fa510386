#!/usr/bin/perl
# counters.pl NCU RUN PROGRAM OUT: writes the counts of ncu as a CSV file in the samples' format, with a row for each kernel and a
# column for each counter. NCU is the output of `ncu --csv --page raw --print-units base`; RUN is the CSV file of the program's run
# under ncu, with the GPU and n. Stdin has a line `NAME HEADING` for each counter. Launches of one kernel with the same grid and
# block are averaged. Exit status: 0 written, 255 not.
use strict;
use warnings;
die "counters.pl: type counters.pl NCU RUN PROGRAM OUT\n" unless @ARGV == 4;
my ($ncu, $run, $program, $out) = @ARGV;
# The lines of a file that match, in fields.
sub csv {
    my ($path, $wanted) = @_;
    open my $file, "<", $path or die "counters.pl: cannot read $path: $!\n";
    return map { chomp; [map { s/^"(.*)"$/$1/r =~ s/""/"/gr } /(?:^|,)("(?:[^"]|"")*"|[^,]*)/g] } grep /$wanted/, <$file>;
}
sub field { $_[0] =~ /[,"\n]/ ? '"' . $_[0] =~ s/"/""/gr . '"' : $_[0] }
sub dimensions { $_[0] =~ s/[() ]//gr =~ s/(,1)+$//r =~ s/,/ x /gr }  # "(512, 1, 1)": 512, "(16, 16, 1)": 16 x 16
sub number { sprintf abs($_[0]) >= 1000 || $_[0] == int $_[0] ? "%.0f" : abs($_[0]) < 10 ? "%.3f" : "%.2f", $_[0] }

my ($head, @lines) = csv($ncu, '^"');  # between them it prints others
die "counters.pl: $ncu: ncu profiled no kernel\n" unless @lines > 1 && $head->[0] eq "ID";
my ($names, $first) = csv($run, ".");
die "counters.pl: $run has no rows\n" unless $first;
my %run;
@run{@$names} = @$first;
my @metrics = map { [/^(\S+)\s*(.*)/] } <STDIN>;
my (@kernels, %seen, %unit);
for my $line (@lines) {
    die "counters.pl: $ncu: @$line\n" unless @$line == @$head;
    my %cell;
    @cell{@$head} = @$line;
    exists $cell{$_} or die "counters.pl: $ncu: ncu's table has no column $_\n"
        for "Kernel Name", "Grid Size", "Block Size", map { $_->[0] } @metrics;
    if ($cell{ID} eq "") { %unit = %cell; next }
    my $name = $cell{"Kernel Name"} =~ s/[<(].*//r =~ s/.* //r;  # "void name<int>(const int *)"
    my $kernel = join ",", field($name), dimensions($cell{"Grid Size"}), dimensions($cell{"Block Size"});
    push @kernels, $kernel unless $seen{$kernel}{launches}++;
    for (@metrics) {
        my ($metric, $heading) = @$_;
        my $value = $cell{$metric} =~ s/,//gr;
        if ($value !~ /^[-+.\de]*\d$/) { $seen{$kernel}{unknown}{$metric} = 1; next }
        $value /= 1000 if $heading =~ /µs/ && $unit{$metric} =~ /^ns/;  # ncu gives times in ns
        $seen{$kernel}{$metric} += $value;
    }
}
open my $file, ">", $out or die "counters.pl: cannot write $out: $!\n";
print $file join(",", "sample,device,n,variant,grid,block,launches", map { field($_->[1] || $_->[0]) } @metrics), "\n";
for my $kernel (@kernels) {
    my %of = %{$seen{$kernel}};
    print $file join(",", $program, field($run{device}), $run{n}, $kernel, $of{launches},
        map { $of{unknown}{$_->[0]} ? "" : number($of{$_->[0]} / $of{launches}) } @metrics), "\n";
}
close $file or die "counters.pl: cannot write $out: $!\n";
