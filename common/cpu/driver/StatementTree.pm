# StatementTree.pm - gives a program the statements of its source files, for the advice (src/advice/source.hpp has
# the form). It is not a compiler: text that it cannot follow, such as macros that hide braces, becomes one long statement.
package StatementTree;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT = 'statement_tree';

my ($text, @functions);
my $nested = qr/(?<nested>[(\[{](?:[^()\[\]{}]++|(?&nested))*+(?:[)\]}]|\z))/;
my $parameters = qr/(\((?:[^()\[\]{}]++|$nested)*+(?:\)|\z))/;
my $literal = qr/"(?:[^"\\\n]|\\.)*+"?|(?<![A-Za-z0-9])'(?:[^'\\\n]|\\.)*+'?/;
my $comment = qr{//[^\n]*|/\*.*?(?:\*/|\z)|^[ \t]*+\K\#(?:[^\n]++|(?<=\\)\n)*+}ms;

sub blank { return $_[0] =~ s/[^\n]/ /gr }

# The place after the bracket that closes the one at a place, and the next place without a blank.
sub closed { pos($text) = $_[0]; return $text =~ /\G$nested/gc ? pos $text : length $text }
sub next_code { pos($text) = $_[0]; $text =~ /\G\s*+/gc; return pos $text }

# Reads the statement at a place: its kind, begin, end, head, head_end and parts.
sub statement {
    my $at = next_code($_[0]);
    my ($begin, $head, $head_end, @parts) = ($at, 0, 0);
    my $first = $text =~ /\G(\w++)/gc ? $1 : '';
    my $held = $first ne '' && $text =~ /\G\s*+(?=\()/gc ? next_code(closed(pos $text)) : 0;    # EACH(i, n) {, a macro that hides a loop
    my $hidden = $held && substr($text, $held) =~ ($first =~ /[a-z]|^__/ ? qr/\A\{/ : qr/\A[\{\w]/);
    my $part = sub { push @parts, statement($at); $at = $parts[-1][2] };
    my $parentheses = sub { $head = index $text, '(', $at; $at = $head_end = closed($head = $head < 0 ? length $text : $head) };
    my $kind = 0;
    if (substr($text, $at, 1) eq '{') {
        $kind = 1;
        my $end = closed($at++);
        while (($at = next_code($at)) < $end - 1) { $part->() }
        $at = $end;
    } elsif ($first =~ /^(?:if|for|while|switch)$/ || $hidden) {
        $kind = $first =~ /^(?:if|switch)$/ ? 2 : 3;
        $parentheses->();
        $part->();
        if ($first eq 'if' && substr($text, my $next = next_code($at), 5) =~ /^else\b/) { $at = $next + 4; $part->() }
    } elsif ($first eq 'do') {
        $kind = 3;
        $at += 2;
        $part->();
        $parentheses->();
        $at = 1 + index "$text;", ';', $at;
    } else {
        pos($text) = $at;
        $text =~ /\G(?:[^;\}(\[{]++|$nested)*+;?/gc;
        $at = pos($text) > $begin ? pos $text : $begin + 1;
    }
    return [$kind, $begin, $at, $head, $head_end, @parts];
}

# A lambda: [=] __device__ (int i) {...}, or auto fold = [&](int d) {...}, which is called by its name.
sub read_lambdas {
    my ($from, $to) = @_;
    my $body = substr $text, $from, $to - $from;
    while ($body =~ /(?:(\w++) *= *|[^\w ] *)\[/g) {
        my $name = $1 // '';
        pos($text) = closed($from + $+[0] - 1);
        next if $text !~ /\G[\s\w]*+(?=\()/gc;
        my $head = pos $text;
        my $end = closed($head);
        push @functions, [$name, $head, $end, statement($end)] if substr($text, next_code($end), 1) eq '{';
    }
}

# A brace after a parameter list opens a function. The parser also looks inside namespaces and classes.
sub read_functions {
    my $begin = pos($text) = 0;
    while ($text =~ /\G[^;\}(\{]*+([;\}(\{])/g) {
        my ($sign, $at) = ($1, $+[0]);
        pos($text) = $at = closed($at - 1) if $sign eq '(';
        $begin = $at if $sign eq ';' || $sign eq '}';
        next if $sign ne '{';
        my ($head, $name, $open) = (substr $text, $begin, $at - 1 - $begin);
        while ($head =~ /(\w*+)\s*+$parameters(?<initializers>\s*+:(?!:))?/g) {    # the last ones after a name
            my ($word, $given, $before, $initializers) = ($1, $-[2], substr($head, 0, $-[0]), $+{initializers});
            my $operator = $word eq '' && $before =~ /\boperator/;
            ($name, $open) = ($operator ? 'operator' : $word, $begin + $given) if $operator || $word =~ /^(?!__)./;
            last if $operator || $initializers;
        }
        if (defined $open) {
            my $body = statement($at - 1);
            read_lambdas($at - 1, $body->[2]);
            push @functions, [$name, $open, closed($open), $body];
            $at = $begin = $body->[2];
        } elsif ($head =~ /=/) {
            $at = $begin = closed($at - 1);
        } else {    # a namespace or a class
            $begin = $at;
        }
        pos($text) = $at;
    }
}

sub words_of {
    my ($kind, $begin, $end, $head, $head_end, @parts) = @{$_[0]};
    return ($kind, $begin, $end, $head, $head_end, scalar @parts, map { words_of($_) } @parts);
}

# Returns C++ code that records the statements of a file. Lines that the preprocessor has left out, such as [3, 5], are not
# among them.
sub statement_tree {
    my ($file, $left_out) = @_;
    open my $in, '<', $file or return '';
    local $/;
    my $source = (<$in> // '') =~ tr/\r/ /r . "\n";
    $source =~ s/$literal|($comment)/defined $1 ? blank($1) : $&/ge;
    my @lines = split /^/, $source;
    for (@$left_out) { $_ = blank($_) for @lines[$_->[0] - 1 .. $_->[1] - 1] }
    $source = join '', @lines;
    ($text, @functions) = $source =~ s/$literal/substr($&, 0, 1) . blank(substr $&, 1, -1) . substr($&, -1)/ger;
    read_functions();
    my $words = join ' ', scalar @functions, map { $_->[0] || '-', $_->[1], $_->[2], words_of($_->[3]) } @functions;
    return '::cudacpu::statement_tree("' . $file =~ s/["\\]/\\$&/gr . "\", R\"cudacpu($source)cudacpu\", \"$words \")";
}

1;
