# counted.pl join|check|equal COUNTED.TXT FOLDER COMMITTED.CSV PROGRAM...: prints the counts that counted.sh collected in FOLDER.
# The table has a row for each program, run, kernel, grid, block and counter: the mean of the kernel's launches. `join` prints
# ncu's figures (from FOLDER, otherwise from COMMITTED.CSV) beside the CPU device's, with the reason from COUNTED.TXT where they
# differ; stderr gets the number of differences. `equal` prints the number of equal figures in COMMITTED.CSV. `check` compares
# the CPU device's figures with COMMITTED.CSV. Exit status: 0 if all agree, 1 if a reason is missing or a figure has changed.
use strict;
use warnings;
use Text::ParseWords 'quotewords';

my ($mode, $settings, $folder, $committed, @programs) = @ARGV;
my @counters = qw(load_requests load_sectors store_requests store_sectors atomic_requests shared_loads shared_stores
    bank_conflicts);
my ($memory, $shared) = ('_pipe_lsu_mem_global_op_', 'memory_l1_wavefronts_shared');
my %of_ncu = (    # the counters to add, and the counters to subtract
    load_requests => [["l1tex__t_requests${memory}ld.sum"]], load_sectors => [["l1tex__t_sectors${memory}ld.sum"]],
    store_requests => [["l1tex__t_requests${memory}st.sum"]], store_sectors => [["l1tex__t_sectors${memory}st.sum"]],
    atomic_requests => [["l1tex__t_requests${memory}red.sum", "l1tex__t_requests${memory}atom.sum"]],
    shared_loads => [['smsp__sass_inst_executed_op_shared_ld.sum']],
    shared_stores => [['smsp__sass_inst_executed_op_shared_st.sum']],
    bank_conflicts => [[$shared], ["${shared}_ideal"]],
);
my %of_cpu = (
    load_requests => [['global load', 'requests']], load_sectors => [['global load', 'sectors']],
    store_requests => [['global store', 'requests']], store_sectors => [['global store', 'sectors']],
    atomic_requests => [['global atomic', 'requests']],
    shared_loads => [['shared load', 'requests']], shared_stores => [['shared store', 'requests']],
    bank_conflicts => [['shared load', 'bank_conflicts'], ['shared store', 'bank_conflicts'], ['shared atomic', 'bank_conflicts']],
);

my %known;    # the committed table

sub rows_of {    # rows_of FILE: the rows of a CSV file, without its other lines
    my ($file, $line) = @_;
    open my $in, '<', $file or die "counted.pl: cannot read $file: $!\n";
    my (@names, @rows);
    for (grep { /$line/ } <$in>) {
        chomp;
        my @fields = quotewords(',', 0, $_);
        if (!@names) { @names = @fields; next }
        my %row;
        @row{@names} = @fields;
        push @rows, \%row;
    }
    return @rows;
}

sub sizes { return join ' x ', ($_[0] =~ /\d+/g) }
sub key {
    my ($kernel, @shape) = @_;
    s/(?: x 1)+$// for @shape = map { sizes($_) } @shape;
    return join ',', $kernel =~ s/<.*//sr, @shape;
}
sub plain { return $_[0] == int $_[0] ? $_[0] : sprintf '%.2f', $_[0] }
sub means {    # the sums divided by the number of launches
    my ($sums, $launches) = @_;
    my %means;
    for my $key (keys %$sums) { $means{$key}{$_} = ($sums->{$key}{$_} // 0) / $launches->{$key} for @counters }
    return \%means;
}

# The figures of the last file, or of the committed table if there is no file. A figure that differs between files must be
# marked with `varies`.
sub from_ncu {
    my ($run, @files) = @_;
    my (%of, $before);
    for (grep { !@files && /^\Q$run,/ && $known{$_}{ncu} ne '' } keys %known) {
        my ($key, $counter) = /^\Q$run,\E(.*),(\w+)$/;
        $of{$key} //= {map { $_ => 0 } @counters};
        $of{$key}{$counter} = $known{$_}{ncu};
    }
    for (@files) {
        %of = %{from_file($_)};
        for my $key ($before ? keys %of : ()) {
            my ($program, $kernel) = ($run =~ s/,.*//r, $key =~ s/,.*//r);
            for my $counter (grep { $of{$key}{$_} != $before->{$key}{$_} } @counters) {
                next if grep { $_->[4] eq 'varies' } reasons($program, $kernel, $counter);
                warn "counted.pl: $run,$key,$counter: $of{$key}{$counter}, and before it was $before->{$key}{$counter}\n";
            }
        }
        $before = {%of};
    }
    return \%of;
}

sub from_file {
    my (%sums, %launches);
    for my $row (grep { $_->{ID} ne '' } rows_of($_[0], '^"')) {
        my $key = key($row->{'Kernel Name'}, $row->{'Grid Size'}, $row->{'Block Size'});
        ++$launches{$key};
        for my $counter (@counters) {
            my ($plus, $minus) = @{$of_ncu{$counter}};
            $sums{$key}{$counter} += $row->{$_} =~ s/,//gr for @$plus;
            $sums{$key}{$counter} -= $row->{$_} =~ s/,//gr for @{$minus // []};
        }
    }
    return means(\%sums, \%launches);
}

sub from_cpu {
    my (%sums, %launches, %seen, @order);
    for my $row (rows_of($_[0], '.')) {
        my $key = key(@$row{qw(kernel grid block)});
        push @order, $key if !exists $launches{$key};
        $launches{$key} += $row->{launches} if !$seen{"$row->{kernel},$key"}++;
        for my $counter (@counters) {
            for (@{$of_cpu{$counter}}) { $sums{$key}{$counter} += $row->{$_->[1]} if $row->{what} eq $_->[0] }
        }
    }
    return (means(\%sums, \%launches), @order);
}

my (%runs, %expected, @reasons, $program);
open my $in, '<', $settings or die "counted.pl: cannot read $settings: $!\n";
while (<$in>) {
    $program = $1 if /^program (\S+)/;
    push @{$runs{$program}}, $1 if /^run (\S+)/;
    my ($kernel, $counts) = /^expect (\S+) (.*)/;
    while ($counts && $counts =~ /(\w+)=(\d+)/g) { $expected{"$program,$kernel,$1"} = $2 }
    push @reasons, [$program, (map { s/\*/.*/gr } $2, $3), $4, $1] if /^(reason|varies) (\S+) (\S+) (.+)/;
}
%known = map { (join(',', @$_{qw(program run kernel grid block counter)}) => $_) } rows_of($committed, '.');

my ($cells, $failed, %steady, %all) = (0, 0);

sub reasons {
    my ($name, $kernel, $counter) = @_;
    return grep { $name =~ /^$_->[0]$/ && $kernel =~ /^$_->[1]$/ && $counter =~ /^$_->[2]$/ } @reasons;
}

sub measure {    # adds a cell of the table; returns why it differs, `?` if the reason is unknown
    my ($name, $kernel, $counter, $there, $is) = @_;
    my ($reason) = reasons($name, $kernel, $counter);
    for my $measure (\%all, $reason && $reason->[4] eq 'varies' ? () : \%steady) {
        ++$measure->{cells};
        ++$measure->{equal} if $is == $there;
        ++$measure->{near} if abs($is - $there) <= 0.03 * $there;
    }
    return $is == $there ? '' : $reason ? $reason->[3] : '?';
}
if ($mode eq 'equal') {
    measure(@$_{qw(program kernel counter ncu)}, $_->{'cpu device'}) for grep { $_->{ncu} ne '' } rows_of($committed, '.');
    @programs = ();
}
print "program,run,kernel,grid,block,counter,ncu,cpu device,reason\n" if $mode eq 'join';
for my $name (@programs) {
    for my $run (@{$runs{$name}}) {
        next if !-e "$folder/${name}_$run.cpu";    # this program is not built
        my ($cpu, @order) = from_cpu("$folder/${name}_$run.cpu");
        my $ncu = $mode eq 'join' ? from_ncu("$name,$run", grep { -e } glob "{$folder,$folder/again*}/${name}_$run.ncu") : {};
        for my $key (@order) {
            my $counted = $ncu->{$key};
            warn("counted.pl: $name $run: ncu has no $key\n") if $mode eq 'join' && %$ncu && !$counted;
            for my $counter (@counters) {
                my $is = $cpu->{$key}{$counter};
                my $row = join ',', $name, $run, $key, $counter;
                if ($mode eq 'check') {
                    my $by_hand = $expected{join ',', $name, $key =~ s/,.*//r, $counter};
                    my $told = $known{$row} ? $known{$row}{'cpu device'} : 0;
                    ++$cells;
                    $failed |= print "$row: $is, reckoned by hand are $by_hand\n" if defined $by_hand && $is != $by_hand;
                    $failed |= print "$row: $is, and counted_h200.csv says $told\n" if abs($is - $told) >= 0.01;
                    next;
                }
                my $there = $ncu->{$key}{$counter};
                printf "$row,,%s,\n", plain($is) if !$counted && $is;
                next if !$counted || (!$is && !$there && !($counter eq 'bank_conflicts' && $ncu->{$key}{shared_stores}));
                my $why = measure($name, $key =~ s/,.*//r, $counter, $there, $is);
                $failed = 1 if $why eq '?';
                printf "%s,%s,%s,%s\n", $row, plain($there), plain($is), $why =~ /,/ ? "\"$why\"" : $why;
            }
        }
    }
}
for ([\%steady, 'that are the same in every run of a GPU'], [\%all, 'in all']) {
    my ($measure, $which) = @$_;
    my ($of, $equal, $near) = map { $measure->{$_} // 0 } qw(cells equal near);
    printf {$mode eq 'equal' ? *STDOUT : *STDERR} "%d cells %s: %d equal (%.1f %%), %d within 3 %% (%.1f %%)\n", $of, $which, $equal, 100 * $equal / $of, $near,
        100 * $near / $of if $of;
}
$failed ||= $mode eq 'check' && !$cells;
print "$cells cells are as counted_h200.csv has them\n" if $mode eq 'check' && !$failed;
exit $failed;
