# Source.pm - the text that g++ has preprocessed, the parts of C++ that the other files look for in it, and messages about places in it.
package Source;
use strict;
use warnings;
use Exporter 'import';
use Report;
our @EXPORT = qw($cpp items parameter_name $text @lines @literals %is_system %remains read_text shown refuse advise
    places print_advice forget_index around function_at pragma_before function_before space_of flat);

# ---- the parts of C++ that the other files look for ---------------------------------------------------------

# Perl repeats a group at most 65,534 times; a group of groups may match more.
our $cpp = qr/(?(DEFINE)
    (?<p> \( [^()]*+ (?: (?: (?&p) [^()]*+ ){1,999}+ )*+ \) )
    (?<s> \[ [^][]*+ (?: (?: (?&s) [^][]*+ ){1,999}+ )*+ \] )
    (?<b> \{ [^{}]*+ (?: (?: (?&b) [^{}]*+ ){1,999}+ )*+ \} )
    (?<a> < (?! < | (?: (?: [^-<>{};]++ | ->? )*+ < ){32} )     # `a < b, a < c, a < d, ...` has no template arguments
          (?: [^<>(){};]++ | (?<=-)> | (?: (?<=\d) | (?<=\d\s) ) << | (?&p) | (?&b) | (?&a) )*+ > )
    (?<item> (?: [^][(){}<,]++ | (?&p) | (?&s) | (?&b) | (?&a) | [^,()] )++ )    # the text between two commas
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
    push @items, $1 while $list =~ /\G((?&item)),?$cpp/go;
    return @items;
}

# ---- the text ----------------------------------------------------------------------------------------------

# A form feed replaces each line of the system's files and each line marker, and a number in quotes replaces each literal. So
# every bracket is a bracket of C++, and text that must not be translated is white space.
our ($text, @lines, @literals, %is_system, %remains);

sub read_text {
    my ($file) = @_;
    ($text, my $in_system) = ('', 1);
    @lines = @literals = %is_system = %remains = ();
    my ($name, $number) = ('', 0);
    for my $line (lines_in($file)) {
        my $is_directive = $line =~ /^#(?: \d+ "|pragma )/;
        # Flag 3 marks the system's files, and elsewhere the system's macros: only the first marker of a file counts.
        if ($is_directive && $line =~ /^# (\d+) "(.*)"([ \d]*)$/) {
            ($number, $name) = ($1 - 1, $2);
            $in_system = $is_system{$name} //= $3 =~ /3/;
        }
        elsif (!$in_system) {
            ++$number;
            $remains{$name}{$number} = 1 if $line =~ /\S/;
        }
        if (!$in_system && !$is_directive) {
            $line =~ tr/\f/ /;
            $text .= $line;
        }
        elsif (substr($text, -1) eq "\f") { $lines[-1] .= $line }
        else { push @lines, $line; $text .= "\f" }
    }
    $text =~ s{ (?= ["'] ) (?: (?<=R) " (?<mark> [^(\s]*+ ) \( .*? \) \k<mark> "
              | " (?: (?: [^"\\\n]++ | \\. ){1,999}+ )*+ "
              | (?: (?<!\w) | (?<=\b[LUu]) | (?<=\bu8) ) ' (?: [^'\\\n]++ | \\. )++ ' )    # not in 1'000
              }{ push @literals, $&; "\"$#literals\"" }gsex;
    # The digraphs. `<::` is `<` and `::`, except before `:` and `>`.
    my %digraph = ('<:' => '[', ':>' => ']', '<%' => '{', '%>' => '}');
    $text =~ s{ <::(?![:>])(*SKIP)(*FAIL) | <: | :> | <% | %> }{$digraph{$&}}gx;
    set_deep_text_aside();
    forget_index();
}

# Text in more than 256 brackets becomes a literal, because the time of many patterns grows with the depth. clang accepts no
# more, and no kernel or launch is there.
sub set_deep_text_aside {
    my ($depth, $from, @deep) = 0;
    while ($text =~ / ([][(){}]) [^][(){}]*+ (?: [[(] [^][(){}]*+ [])] [^][(){}]*+ )*+ /gx) {
        if ($1 =~ /[[({]/) { $from = $+[1] if ++$depth == 257 }
        elsif ($depth-- == 257) { push @deep, [$from, $-[1] - $from] }
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
        my $shown = shown($part, $form_feeds);
        ($line, $file, $shown) = ($1, $2, $3) if $part =~ /\f/ && $shown =~ /.*^# (\d+) "([^\n]*)"[ \d]*\n(.*)/ms;
        $line += $shown =~ tr/\n//;
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
    show(map { folded($places->{$_->[0]} . ':' . column_at($_->[0], $places->{$_->[0]}) . ':', "warning: $_->[1]") } splice @advice);
}

sub refuse {
    my ($offset, $why) = @_;
    print_advice();
    my $place = places($offset)->{$offset};
    stop folded("$place:" . column_at($offset, $place) . ':', "error: $why");
}

# The column in the file of what is at an offset. The text has other columns, because macros are expanded in it.
sub column_at {
    my ($offset, $place) = @_;
    my ($word) = substr($text, $offset, 200) =~ /\A[ \t]*([A-Za-z_\x80-\xff][\w\x80-\xff]*|\S|)/;
    my $begin = 1 + rindex $text, "\n", $offset - 1;
    my $number = 1 + (() = substr($text, $begin, $offset - $begin) =~ /(?<!\w)\Q$word\E(?!\w)/g);
    return $place =~ /(.*):(\d+)$/s ? column_of($1, $2, $word, $number) : 1;
}

# ---- what is around a place of the text ---------------------------------------------------------------------

# The index of the text. After each of @ends, which are offsets, a statement begins, in a block (of @blocks; 0: in none). A
# block is [the block around it, the offset where the statement begins that opens it, the offset after its brace, its function].
# A function is the outermost block that is no namespace and no class.
my ($is_indexed, @ends, @block_after, @blocks, @form_feeds);

# Call it after a change of the text, before one of the functions below.
sub forget_index { $is_indexed = 0 }

sub index_text {
    return if $is_indexed;
    $is_indexed = 1;
    my ($block, $begin, $parens, @outer_parens) = (0, 0, 0);
    @ends = @block_after = (0);
    @blocks = [0, 0, 0, 0];
    @form_feeds = ();
    my $all = $text;    # a substitution of $text, which may be under way, has set its pos()
    while ($all =~ / ([(){};\f]) [^(){};\f]*+ (?: \( [^(){};\f]*+ \) [^(){};\f]*+ )*+ /gx) {
        my ($sign, $at) = ($1, $-[1]);
        if ($sign eq '(') { ++$parens }
        elsif ($sign eq ')') { --$parens if $parens }
        elsif ($sign eq "\f") { push @form_feeds, $at }
        elsif ($sign ne ';' || !$parens) {
            if ($sign eq '{') {
                my $is_scope = substr($all, $begin, $at + 1 - $begin)
                    =~ /\b(?:namespace|class|struct|union|enum)\b[^;{}()]*\{$|\bextern\s*"\d+"\s*\{$/;
                push @blocks, [$block, $begin, $at + 1, $blocks[$block][3] || ($is_scope ? 0 : scalar @blocks)];
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

# Where the statement begins that an offset is in, and its block.
sub statement_at {
    index_text();
    my $i = count_up_to(\@ends, $_[0]) - 1;
    return ($ends[$i], $block_after[$i]);
}

# What the offset is in: the beginning of its statement, then the heads of the blocks around it, the innermost one first. Each
# head ends with its brace.
sub around {
    my ($offset) = @_;
    my ($begin, $block) = statement_at($offset);
    my @around = substr $text, $begin, $offset - $begin;
    for (; $block; $block = $blocks[$block][0]) { push @around, substr $text, $blocks[$block][1], $blocks[$block][2] - $blocks[$block][1] }
    return @around;
}

# The number of the function around an offset; 0 if it is in none.
sub function_at { return $blocks[(statement_at($_[0]))[1]][3] }

# The compiler directives and system text before an offset, separated from it by white space only.
sub pragma_before {
    my $end = $_[0];
    --$end while $end && substr($text, $end - 1, 1) =~ /[^\S\f]/;
    return '' if !$end || substr($text, $end - 1, 1) ne "\f";
    index_text();
    return $lines[count_up_to(\@form_feeds, $end - 1) - 1];
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
                                  (?!(?&prefix)|(?&type)) ((?&word)) \s* $ $cpp/osx or return;
    return $name . ($declaration =~ /\.\.\./ ? '...' : '');
}

1;
