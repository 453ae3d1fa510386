# Reconverge.pm - the numbers of basic blocks, by which the lanes of a warp meet again.
package Reconverge;
use strict;
use warnings;
use Exporter 'import';
use Report;
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

# What number_code() looks for in the assembly of a processor. call: the beginning of a call; jump: a jump and its label,
# if it has one; branch: a jump with a condition; leaves: an instruction that does not continue with the next. set(i, number): sets the argument i of a call,
# of which 0 is the address. parts(line): the register or stack word that a line sets; if it is computed from others by adding
# constants, then the scale, if any, and these.
my %name_of = map { my $r = $_; map { ($_ => $r) } "%r$r", "%e$r", "%$r", $r =~ /x/ ? '%' . substr($r, 0, 1) . 'l' : "%${r}l" }
    qw(ax bx cx dx si di bp);
$name_of{"%r$_->[0]$_->[1]"} = $_->[0] for map { my $n = $_; map { [$n, $_] } '', qw(d w b) } 8 .. 15;
$name_of{"w$_"} = "x$_" for 0 .. 30;
my $register = qr/%(?:[re]?(?:[abcd]x|[sd]i|bp)|[abcd]l|(?:[sd]i|bp)l|r(?:8|9|1[0-5])[dwb]?)/;
my %x86_64 = (
    call => qr/^\tcall\s+/, jump => qr/^\tj\w+\s+(\.L\w+|)/, branch => qr/^\tj(?!mp)/, leaves => qr/^\t(?:(?:notrack\s+)?jmp|ret|ud2)\b/,
    address => 'di', set => sub { sprintf "\tmovl \$%d, %s\n", $_[1], (qw(%edi %esi %edx %ecx %r8d))[$_[0]] },
    parts => sub {
        my ($text, $to) = $_[0] =~ /^\t(?!cmp|test|push)\w+\t(.*?)(?:, )?($register|-?\d*\(%rsp\))$/ or return;
        return ($to, undef, $to) if $_[0] =~ /^\t(?:add|sub)[lq]\t\$/;
        return ($to, undef, $text =~ /^($register|-?\d*\(%rsp\))$/) if $_[0] =~ /^\tmov(?:q|l|slq)\t/;
        return $_[0] =~ /^\tlea[lq]\t/ ? ($to, $text =~ /,(\d)\)/ ? "$1" : undef, $text =~ /($register)/g) : $to;
    },
);
my %arm64 = (
    call => qr/^\tbl\s+/, jump => qr/^\t(?|(?:b\S*|[ct]bn?z)\s+(?:[^.]*,\s*)?(\.L\w+)|br\s+())/, branch => qr/^\t(?:b\S+|[ct]bn?z)\s+(?:[^.]*,\s*)?\.L/,
    leaves => qr/^\t(?:b|ret|brk)(?:\s|$)/,
    address => 'x0', set => sub { sprintf "\tmovz w%d, %d\n\tmovk w%1\$d, %d, lsl 16\n", $_[0], $_[1] & 0xffff, $_[1] >> 16 },
    parts => sub {
        my ($what, $to, $text) = $_[0] =~ /^\t(?!c?cm|tst|[ct]bn?z)(\w+)\t([xw]\d+), (.*)/ or return;
        return $what eq 'str' && $text =~ /^\[sp/ ? ($text, undef, $to) : () if $what =~ /^st/;
        return ($to, undef, $text =~ /^([xw]\d+|\[sp(?:, \d+)?\])$/) if $what =~ /^(?:mov|sxtw|ldr)$/;
        return $what =~ /^(?:add|sub)$/ ? ($to, $text =~ /, \w+ (\d)$/ ? "$1" : undef, $text =~ /([xw]\d+)/g) : $to;
    },
);

# Adds arguments to the calls that the compiler inserts for the counters. Before an access: the number of its block, a number
# for the register that its address is computed from, and one for its place in an unrolled loop (0: none). In each block: the
# number of the block, of the end of the loop that begins there, and the line of the branch that ends the block (0: none).
sub number_code {
    my ($file, $include, $loop_lines) = @_;
    my @code = lines_in($file);
    my $processor = (grep { /^\t\.arch / } @code) ? \%arm64 : \%x86_64;
    my ($call, $jump, $set) = @$processor{qw(call jump set)};
    my ($number, $begin, $library, $column, $values, %bases, %places, %sum_of) = (1, undef, 0, 0, 0);
    my @files = map { s/\\([0-7]{3})/chr oct $1/ger } grep { /^\t\.file / } @code;    # letters beyond ASCII are octal escapes
    my %name_of_file = map { /^\t\.file (\d+) .*?([^"\/]*)"$/ ? ($1 => $2) : () } @files;
    my %own_file = map { /^\t\.file (\d+) (?!"(?:\/usr\/|\Q$include\E\/))/ ? ($1 => 1) : () } @files;
    for my $i (0 .. $#code) {
        $library = $1 =~ /^_ZN?K?(?:S[abdiost]|9__gnu_cxx)/ if $code[$i] =~ /^(\w+.*):/;
        $begin = $i if $code[$i] =~ /^\t\.cfi_startproc/;
        next if !defined $begin || $code[$i] !~ /^\t\.cfi_endproc/;
        if ($library) {    # the CPU device's own library may use this copy
            s/$call(?:__tsan_(?:vol|un|read|write)|__sanitizer_cov_trace_pc).*// for @code[$begin .. $i];
            undef $begin;
            next;
        }
        my (%block_at, @block, @next, %rank, %end, @file, @branch, $at, $own, $line, %origin, @base, @place);
        my %target = map { /$jump/ ? ($1 => 1) : () } @code[$begin .. $i];
        my ($now, $falls) = (0, 1);
        @next = ([]);
        for my $l ($begin .. $i) {
            my ($label) = $code[$l] =~ /^(\.L\w+):/;
            if (($label && $target{$label}) || !$falls || ($l > $begin && $code[$l - 1] =~ $jump)) {
                push @next, [];
                push @{$next[$now]}, $now + 1 if $falls;
                ++$now;
                $falls = 1;
            }
            $block_at{$label} = $now if $label;
            $block[$l] = $now;
            ($at, $line, $column) = ($1, $2, $3) if $code[$l] =~ /^\t\.loc (\d+) (\d+) (\d+)/;
            $place[$l] = $places{"$begin $at $line $column"} //= 1 + keys %places
                if $line && $code[$l] =~ /${call}__tsan/ && $loop_lines->{($name_of_file{$at // ''} // '') . ":$line"};
            $own = $at if $own_file{$at // ''};    # after a __ballot_sync() a block begins in the header's code
            $file[$now] //= $own if $code[$l] =~ /${call}__sanitizer/;
            $branch[$now] = $line if $code[$l] =~ $processor->{branch} && ($file[$now] // '') eq ($at // '');
            $falls = 0 if $code[$l] =~ $processor->{leaves};
        }
        for my $l ($begin .. $i) {
            # What each register and each stack word is computed from by adding constants, as a number.
            if (my ($to, $scale, @from) = $processor->{parts}->($code[$l])) {
                $_ = $name_of{$_} // $_ for $to, @from;
                my $sum = join ' ', (map { $origin{$_} //= ++$values } @from), @from > 1 ? $scale // () : ();
                $origin{$to} = !@from ? ++$values : @from > 1 ? $sum_of{$sum} //= ++$values : $sum;
            }
            $base[$l] = $bases{"$begin $block[$l] " . ($origin{$processor->{address}} //= ++$values)} //= 1 + keys %bases
                if $code[$l] =~ /${call}__tsan/;
            push @{$next[$block[$l]]}, $block_at{$1} if $code[$l] =~ $jump && defined $block_at{$1};
        }
        order_blocks([0 .. $now], \@next, {0 => 1}, \$number, \%rank, \%end);
        for my $l ($begin .. $i) {
            my $b = $block[$l];
            if ($code[$l] =~ /$call(?:__tsan_(?:vol|un|read|write))/) {
                $code[$l] = $set->(2, $rank{$b}) . $set->(3, $base[$l] // 0) . $set->(4, $place[$l] // 0) . $code[$l];
            } elsif ($code[$l] =~ /${call}__sanitizer_cov_trace_pc/) {
                $code[$l] = $set->(2, $rank{$b}) . $set->(3, $end{$b} // 0) . $set->(4, $branch[$b] // 0) . $code[$l];
            }
        }
        undef $begin;
    }
    write_file($file, @code);
}

1;
