# Source.pm - the text that g++ has preprocessed, the parts of C++ that the other files look for in it, and the messages about it.
package Source;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT = qw(stop folded $cpp items parameter_name $text @lines @literals %is_system %remains read_text shown place refuse advise
    space_of flat);

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

# ---- the parts of C++ that the translation looks for -------------------------------------------------------

# Perl repeats a group at most 65,534 times; a group of groups may match more.
our $cpp = qr/(?(DEFINE)
    (?<p> \( (?: (?: [^()]++ | (?&p) ){1,999}+ )*+ \) )
    (?<s> \[ (?: (?: [^][]++ | (?&s) ){1,999}+ )*+ \] )
    (?<b> \{ (?: (?: [^{}]++ | (?&b) ){1,999}+ )*+ \} )
    (?<a> < (?!<) (?: [^<>(){};]++ | (?<=-)> | (?: (?<=\d) | (?<=\d\s) ) << | (?&p) | (?&b) | (?&a) )*+ > )
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
}

sub shown {
    my ($part) = @_;
    my $line = 0;
    return $part =~ s/"(\d+)"/$literals[$1]/gr =~ s/\f/$lines[$line++]/gr;
}

sub place {    # file:line
    my ($offset) = @_;
    my ($file, $line) = ('', 1);
    for (split /^/, shown(substr $text, 0, $offset)) {
        ($line, $file) = /^# (\d+) "(.*)"/ ? ($1, $2) : ($line + tr/\n//, $file);
    }
    return "$file:$line";
}

sub refuse {
    my ($offset, $why) = @_;
    stop folded(place($offset) . ':', "error: $why");
}
sub advise { print STDERR folded(place($_[0]) . ':', "warning: $_[1]") }

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
