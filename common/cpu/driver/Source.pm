# Source.pm - the text that g++ has preprocessed, the parts of C++ that the other files look for in it, and the messages about it.
package Source;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT = qw(stop folded $cpp items parameter_name $text @lines @literals %is_system %remains read_text shown refuse advise
    print_advice forget_index around pragma_before function_before space_of flat);

sub stop { print STDERR @_; exit 1 }

# The text in lines of at most 80 columns. The place at the beginning of the first line is not broken.
sub folded {
    my ($all, @words) = ($_[0], split ' ', $_[1]);
    my $column = length $all;
    for my $word (@words) {
        ($all, $column) = ("$all\n ", 1) if $column + length " $word" > 80;
        $all .= " $word";
        $column += length " $word";
    }
    return "$all\n";
}

# ---- the parts of C++ that the other files look for ---------------------------------------------------------

# Perl repeats a group at most 65,534 times; a group of groups may match more.
our $cpp = qr/(?(DEFINE)
    (?<p> \( (?: (?: [^()]++ | (?&p) ){1,999}+ )*+ \) )
    (?<s> \[ (?: (?: [^][]++ | (?&s) ){1,999}+ )*+ \] )
    (?<b> \{ (?: (?: [^{}]++ | (?&b) ){1,999}+ )*+ \} )
    (?<a> < (?! < | (?: (?: [^-<>{};]++ | ->? )*+ < ){32} )     # `a < b, a < c, a < d, ...` has no template arguments
          (?: [^<>(){};]++ | (?<=-)> | (?: (?<=\d) | (?<=\d\s) ) << | (?&p) | (?&b) | (?&a) )*+ > )
    (?<item> (?: (?&p) | (?&s) | (?&b) | (?&a) | [^,()] )++ )                # the text between two commas
    (?<word> (?<![\w\x80-\xff]) [A-Za-z_\x80-\xff][\w\x80-\xff]*+ )
    (?<keyword> (?: else | do | return | case | throw | if | constexpr | while | for | switch | operator ) \b )
    (?<name> (?!(?&keyword)) (?&word) (?: \s* (?&a) )? (?: \s* (?&p) )* )   # also f(x), which may name a kernel
    (?<callee> (?: (?: :: \s* )? (?&name) | (?&p) )
               (?: \s* (?: :: | \. | -> ) \s* (?: template \b \s* )? (?&name) | \s* (?&s) (?: \s* (?&p) )* )* )
    (?<attribute> (?: __attribute__ | __launch_bounds__ | __maxnreg__ | alignas | requires | decltype | noexcept )
                  \s* (?&p) )
    (?<prefix> (?: const | volatile | typename | struct | class | enum | union ) \b )
    (?<type> (?: __restrict | auto | bool | char | short | int | long | float | double | signed | unsigned ) \b )
)/x;

sub items {
    my ($list, @items) = @_;
    push @items, $1 while $list =~ /\G((?&item)),?$cpp/g;
    return @items;
}

# ---- the text ----------------------------------------------------------------------------------------------

# A form feed replaces each line of the system's files and each line marker, and a number in quotes replaces each literal. So
# every bracket is a bracket of C++, and text that must not be translated is white space.
our ($text, @lines, @literals, %is_system, %remains);

sub read_text {
    my ($file) = @_;
    open my $in, '<', $file or stop "cudacpu: cannot read $file: $!\n";
    ($text, my $in_system) = ('', 1);
    @lines = @literals = %is_system = %remains = ();
    my ($name, $number) = ('', 0);
    while (my $line = <$in>) {
        # Flag 3 marks the system's files, and elsewhere the system's macros: only the first marker of a file counts.
        if ($line =~ /^# (\d+) "(.*)"([ \d]*)$/) {
            ($number, $name) = ($1 - 1, $2);
            $in_system = $is_system{$name} //= $3 =~ /3/;
        }
        elsif (!$in_system) {
            ++$number;
            $remains{$name}{$number} = 1 if $line =~ /\S/;
        }
        if (!$in_system && $line !~ /^# \d+ "|^#pragma /) { $text .= $line =~ tr/\f/ /r }
        elsif (substr($text, -1) eq "\f") { $lines[-1] .= $line }
        else { push @lines, $line; $text .= "\f" }
    }
    $text =~ s{ \b\d (?: '?[\w.] )*+ (*SKIP)(*FAIL)      # the ' in 1'000 opens no literal
              | (?<=R) " (?<mark> [^(\s]*+ ) \( .*? \) \k<mark> "
              | " (?: (?: [^"\\\n]++ | \\. ){1,999}+ )*+ " | ' (?: [^'\\\n]++ | \\. )++ '
              }{ push @literals, $&; "\"$#literals\"" }gsex;
    # The digraphs. `<::` is `<` and `::`, except before `:` and `>`.
    my %digraph = ('<:' => '[', ':>' => ']', '<%' => '{', '%>' => '}');
    $text =~ s{ <::(?![:>])(*SKIP)(*FAIL) | <: | :> | <% | %> }{$digraph{$&}}gx;
    set_deep_text_aside();
}

# Text in more than 256 brackets becomes a literal, because the time of many patterns grows with the depth. clang accepts no
# more, and no kernel or launch is there.
sub set_deep_text_aside {
    my ($depth, $from, @deep) = 0;
    while ($text =~ /[][(){}]/g) {
        my $opens = substr($text, $-[0], 1) =~ /[[({]/;
        $from = $+[0] if $opens && ++$depth == 257;
        push @deep, [$from, $-[0] - $from] if !$opens && $depth-- == 257;
    }
    for (reverse @deep) {
        push @literals, substr($text, $_->[0], $_->[1]) =~ s/"(\d+)"/$literals[$1]/gr;
        substr $text, $_->[0], $_->[1], "\"$#literals\"";
    }
}

# The part of the text as g++ reads it. $line: how many form feeds are before it.
sub shown {
    my ($part, $line) = (@_, 0);
    return $part =~ s/"(\d+)"/$literals[$1]/gr =~ s/\f/$lines[$line++]/gr;
}

# FILE:LINE of offsets in the text: {offset => place}.
sub places {
    my ($from, $form_feeds, $file, $line, %place) = (0, 0, '', 1);
    for my $offset (sort { $a <=> $b } @_) {
        my $part = substr $text, $from, $offset - $from;
        for (split /^/, shown($part, $form_feeds)) { ($line, $file) = /^# (\d+) "(.*)"/ ? ($1, $2) : ($line + tr/\n//, $file) }
        $form_feeds += $part =~ tr/\f//;
        $from = $offset;
        $place{$offset} = "$file:$line";
    }
    return \%place;
}

my @advice;    # warnings that are not printed yet: [offset, text]
sub advise { push @advice, [@_] }
sub print_advice {
    my $places = places(map { $_->[0] } @advice);
    print STDERR map { folded("$places->{$_->[0]}:", "warning: $_->[1]") } splice @advice;
}

sub refuse {
    my ($offset, $why) = @_;
    print_advice();
    stop folded(places($offset)->{$offset} . ':', "error: $why");
}

# ---- what is around a place of the text ---------------------------------------------------------------------

# The index of the text. After each of @ends, which are offsets, a statement begins, in a block (of @blocks; 0: in none). A
# block is [the block around it, the offset where the statement begins that opens it, the offset after its brace].
my ($is_indexed, @ends, @block_after, @blocks, @form_feeds);

# Call it after a change of the text, before one of the functions below.
sub forget_index { $is_indexed = 0 }

sub index_text {
    return if $is_indexed;
    $is_indexed = 1;
    my ($block, $begin, $parens, @outer_parens) = (0, 0, 0);
    (@ends, @block_after, @form_feeds) = ();
    @blocks = (undef);
    my $all = $text;    # a substitution of $text, which may be under way, has set its pos()
    while ($all =~ / \( [^(){};\f]*+ \) (*SKIP)(*FAIL) | [(){};\f] /gx) {
        my ($at, $sign) = ($-[0], substr $all, $-[0], 1);
        if ($sign eq '(') { ++$parens }
        elsif ($sign eq ')') { --$parens if $parens }
        elsif ($sign eq "\f") { push @form_feeds, $at }
        elsif ($sign ne ';' || !$parens) {
            if ($sign eq '{') {
                push @blocks, [$block, $begin, $at + 1];
                push @outer_parens, $parens;
                ($block, $parens) = ($#blocks, 0);
            }
            elsif ($sign eq '}' && $block) { ($block, $parens) = ($blocks[$block][0], pop @outer_parens) }
            push @ends, $begin = $at + 1;
            push @block_after, $block;
        }
    }
}

# How many of the sorted numbers are not greater than $limit.
sub count_up_to {
    my ($numbers, $limit) = @_;
    my ($low, $high) = (0, scalar @$numbers);
    while ($low < $high) {
        my $middle = $low + $high >> 1;
        if ($numbers->[$middle] <= $limit) { $low = $middle + 1 }
        else { $high = $middle }
    }
    return $low;
}

# What the offset is in: the beginning of its statement, then the heads of the blocks around it, the innermost one first. Each
# head ends with its brace.
sub around {
    my ($offset) = @_;
    index_text();
    my $i = count_up_to(\@ends, $offset) - 1;
    my ($begin, $block) = $i < 0 ? (0, 0) : ($ends[$i], $block_after[$i]);
    my @around = substr $text, $begin, $offset - $begin;
    for (; $block; $block = $blocks[$block][0]) { push @around, substr $text, $blocks[$block][1], $blocks[$block][2] - $blocks[$block][1] }
    return @around;
}

# The compiler directives and system text before an offset, separated from it by white space only.
sub pragma_before {
    index_text();
    my $i = count_up_to(\@form_feeds, $_[0] - 1) - 1;
    return $i < 0 || substr($text, $form_feeds[$i], $_[0] - $form_feeds[$i]) =~ /\S/ ? '' : $lines[$i];
}

# The part of a function that is before an offset: what follows the last brace at the beginning of a line.
sub function_before {
    my $end = rindex $text, "\n}", $_[0] - 2;
    return $end < 0 ? substr $text, 0, $_[0] : substr $text, $end + 2, $_[0] - $end - 2;
}

sub space_of { return $_[0] =~ s/\S+//gr }    # keeps the lines of removed text
sub flat { return $_[0] =~ s/\s+/ /gr }       # moved text must not bring line breaks along

# The name that a parameter declares, or nothing for `int` or `const T*`.
sub parameter_name {
    my $declaration = $_[0] =~ s/\[\[.*?\]\]|[=[].*//gsr;
    return $1 if $declaration =~ /\(\s*[*&]\s*(\w+)\s*\)/;
    my ($name) = $declaration =~ /^ \s* (?:(?&prefix) \s*)* (?!(?&prefix)) [\w:] .* [\s*&>.)]
                                  (?!(?&prefix)|(?&type)) ((?&word)) \s* $ $cpp/sx or return;
    return $name . ($declaration =~ /\.\.\./ ? '...' : '');
}


1;
