# Reconverge.pm - the numbers of basic blocks, by which the lanes of a warp meet again.
package Reconverge;
use strict;
use warnings;
use Exporter 'import';
use Source 'stop';
our @EXPORT = qw(number_code);


# Orders the basic blocks of a function so that lanes which wait for those at earlier blocks reconverge as early as possible:
# each block follows its predecessors, and a loop stays together. Without the loops' back edges this is a topological order
# (R. Tarjan's strongly connected components); the rest of each loop is ordered in the same way. %rank has the number of each
# block, and %end the number of the loop's end, by the loop's first block.
sub order_blocks {
    my ($blocks, $next, $from_outside, $number, $rank, $end) = @_;
    no warnings 'recursion';
    my (%index, %low, @stack, %on_stack, @components);
    my %mine = map { $_ => 1 } @$blocks;
    my $visit;
    $visit = sub {
        my ($block) = @_;
        $index{$block} = $low{$block} = keys %index;
        push @stack, $block;
        $on_stack{$block} = 1;
        for my $n (grep { $mine{$_} } @{$next->[$block]}) {
            $visit->($n) if !defined $index{$n};
            $low{$block} = $low{$n} if $on_stack{$n} && $low{$n} < $low{$block};
        }
        return if $low{$block} != $index{$block};
        my @component;
        do { push @component, pop @stack; delete $on_stack{$component[-1]} } until $component[-1] == $block;
        unshift @components, [sort { $a <=> $b } @component];
    };
    for (reverse @$blocks) { $visit->($_) if !defined $index{$_} }
    undef $visit;
    for my $component (@components) {
        my %inside = map { $_ => 1 } @$component;
        my %entered = map { $_ => 1 } map { @{$next->[$_]} } grep { !$inside{$_} } @$blocks;
        my ($first) = grep { $from_outside->{$_} || $entered{$_} } @$component;
        $first //= $component->[0];
        $rank->{$first} = $$number++;
        next if @$component == 1 && !grep { $_ == $first } @{$next->[$first]};
        my @rest = grep { $_ != $first } @$component;
        order_blocks(\@rest, $next, {map { $_ => 1 } @{$next->[$first]}}, $number, $rank, $end);
        $end->{$first} = $$number++;
    }
}

# Adds arguments to the calls that the compiler inserts for the counters. Before an access: the number of its block, a number
# for the register that its address is computed from, and one for its place in an unrolled loop (0: none). In each block: the
# number of the block, of the end of the loop that begins there, and the line of the branch that ends the block (0: none).
my %name_of = map { my $r = $_; map { ($_ => $r) } "%r$r", "%e$r", "%$r", $r =~ /x/ ? '%' . substr($r, 0, 1) . 'l' : "%${r}l" }
    qw(ax bx cx dx si di bp);
$name_of{"%r$_->[0]$_->[1]"} = $_->[0] for map { my $n = $_; map { [$n, $_] } '', qw(d w b) } 8 .. 15;
my $register = qr/%(?:[re]?(?:[abcd]x|[sd]i|bp)|[abcd]l|(?:[sd]i|bp)l|r(?:8|9|1[0-5])[dwb]?)/;
sub number_code {
    my ($file, $include, $loop_lines) = @_;
    open my $in, '<', $file or stop "cudacpu: cannot read $file: $!\n";
    my @code = <$in>;
    close $in;
    my ($number, $begin, $library, $column, $values, %bases, %places, %sum_of) = (1, undef, 0, 0, 0);
    my @files = map { s/\\([0-7]{3})/chr oct $1/ger } grep { /^\t\.file / } @code;    # letters beyond ASCII are octal escapes
    my %name_of_file = map { /^\t\.file (\d+) .*?([^"\/]*)"$/ ? ($1 => $2) : () } @files;
    my %own_file = map { /^\t\.file (\d+) (?!"(?:\/usr\/|\Q$include\E\/))/ ? ($1 => 1) : () } @files;
    for my $i (0 .. $#code) {
        $library = $1 =~ /^_ZN?K?(?:S[abdiost]|9__gnu_cxx)/ if $code[$i] =~ /^(\w+.*):/;
        $begin = $i if $code[$i] =~ /^\t\.cfi_startproc/;
        next if !defined $begin || $code[$i] !~ /^\t\.cfi_endproc/;
        if ($library) {    # the CPU device's own library may use this copy
            s/^\tcall\s+(?:__tsan_(?:vol|un|read|write)|__sanitizer_cov_trace_pc).*// for @code[$begin .. $i];
            undef $begin;
            next;
        }
        my (%block_at, @block, @next, %rank, %end, @file, @branch, $at, $own, $line, %origin, @base, @place);
        my %target = map { /^\tj\w+\s+(\.L\w+)/ ? ($1 => 1) : () } @code[$begin .. $i];
        my ($now, $falls) = (0, 1);
        @next = ([]);
        for my $l ($begin .. $i) {
            my ($label) = $code[$l] =~ /^(\.L\w+):/;
            if (($label && $target{$label}) || !$falls || ($l > $begin && $code[$l - 1] =~ /^\tj/)) {
                push @next, [];
                push @{$next[$now]}, $now + 1 if $falls;
                ++$now;
                $falls = 1;
            }
            $block_at{$label} = $now if $label;
            $block[$l] = $now;
            ($at, $line, $column) = ($1, $2, $3) if $code[$l] =~ /^\t\.loc (\d+) (\d+) (\d+)/;
            $place[$l] = $places{"$begin $at $line $column"} //= 1 + keys %places
                if $line && $code[$l] =~ /^\tcall\s+__tsan/ && $loop_lines->{($name_of_file{$at // ''} // '') . ":$line"};
            $own = $at if $own_file{$at // ''};    # after a __ballot_sync() a block begins in the header's code
            $file[$now] //= $own if $code[$l] =~ /^\tcall\s+__sanitizer/;
            $branch[$now] = $line if $code[$l] =~ /^\tj(?!mp)/ && ($file[$now] // '') eq ($at // '');
            $falls = 0 if $code[$l] =~ /^\t(?:(?:notrack\s+)?jmp|ret|ud2)\b/;
        }
        for my $l ($begin .. $i) {
            # The register or stack word that each register and each stack word is computed from by adding a constant, as a
            # number. The first argument is an address.
            if (my ($text, $to) = $code[$l] =~ /^\t(?!cmp|test|push)\w+\t(.*?)(?:, )?($register|-?\d*\(%rsp\))$/) {
                my $adds = $code[$l] =~ /^\t(?:add|sub)[lq]\t\$/;
                my @from = map { $name_of{$_} // $_ } $adds ? $to : $code[$l] =~ /^\tmov(?:q|l|slq)\t/ ? $text =~ /^($register|-?\d*\(%rsp\))$/
                    : $code[$l] =~ /^\tlea[lq]\t/ ? $text =~ /($register)/g : ();
                my $sum = join ' ', (map { $origin{$_} //= ++$values } @from), @from > 1 ? $text =~ /,(\d)\)/ : ();
                $origin{$name_of{$to} // $to} = !@from ? ++$values : @from > 1 ? $sum_of{$sum} //= ++$values : $sum;
            }
            $base[$l] = $bases{"$begin $block[$l] " . ($origin{di} //= ++$values)} //= 1 + keys %bases
                if $code[$l] =~ /^\tcall\s+__tsan/;
            push @{$next[$block[$l]]}, $block_at{$1} if $code[$l] =~ /^\tj\w+\s+(\.L\w+)/ && defined $block_at{$1};
        }
        order_blocks([0 .. $now], \@next, {0 => 1}, \$number, \%rank, \%end);
        for my $l ($begin .. $i) {
            my $b = $block[$l];
            my $numbers = "\tmovl \$$rank{$b}, %edx\n";
            if ($code[$l] =~ /^\tcall\s+__tsan_(?:vol|un|read|write)/) {
                $code[$l] = $numbers . sprintf("\tmovl \$%d, %%ecx\n\tmovl \$%d, %%r8d\n", $base[$l] // 0, $place[$l] // 0)
                    . $code[$l];
            }
            next if $code[$l] !~ /^\tcall\s+__sanitizer_cov_trace_pc/;
            $numbers .= sprintf "\tmovl \$%d, %%ecx\n\tmovl \$%d, %%r8d\n", $end{$b} // 0, $branch[$b] // 0;
            $code[$l] = $numbers . $code[$l];
        }
        undef $begin;
    }
    open my $out, '>', $file or stop "cudacpu: cannot write $file: $!\n";
    print $out @code;
    close $out or stop "cudacpu: cannot write $file: $!\n";
}

1;
