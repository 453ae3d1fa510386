# StatementTree.pm - gives a program the statements of its source files, for the advice (src/advice/source.hpp has
# the form). It is not a compiler: text that it cannot follow, such as macros that hide braces, becomes one long statement.
package StatementTree;
use strict;
use warnings;
no warnings 'recursion';
use Exporter 'import';
our @EXPORT = 'statement_tree';

my ($text, %end, @functions);    # end: the place after the bracket that closes the one at a place
my $literal = qr/"(?:(?:[^"\\\n]++|\\.){1,999}+)*+"?|(?<![A-Za-z0-9])'(?:[^'\\\n]++|\\.)*+'?/;
my $comment = qr{//[^\n]*|/\*.*?(?:\*/|\z)|^[ \t]*+\K\#(?:[^\n]++|(?<=\\)\n)*+}ms;

sub blank { return $_[0] =~ s/[^\n]/ /gr }

sub closed { return $end{$_[0]} // length $text }
sub next_code { pos($text) = $_[0]; $text =~ /\G\s*+/gc; return pos $text }

# Returns the statement at a place: [kind, begin, end, head, head_end, parts].
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
        while ($text =~ /\G[^;\}(\[\{]*+([(\[\{])/gc) { pos($text) = closed($-[1]) }
        $text =~ /\G[^;\}]*+;?/gc;
        $at = pos($text) > $begin ? pos $text : $begin + 1;
    }
    return [$kind, $begin, $at, $head, $head_end, @parts];
}

# Records the lambdas of a body: [=] __device__ (int i) {...}, or auto fold = [&](int d) {...}, which is called by its name.
sub read_lambdas {
    my ($from, $to, @found) = @_;
    my $body = substr $text, $from, $to - $from;
    while ($body =~ /(?:(\w++) *= *|[^\w ] *)\[/g) {
        my $name = $1 // '';
        pos($text) = closed($from + $+[0] - 1);
        next if $text !~ /\G[\s\w]*+(?=\()/gc;
        my $head = pos $text;
        my $end = closed($head);
        push @found, [$name, $head, $end, statement($end)] if substr($text, next_code($end), 1) eq '{';
    }
    push @functions, reverse @found;    # the inner ones first
}

# A brace after a parameter list opens a function. The parser also looks inside namespaces and classes.
sub read_functions {
    my $begin = pos($text) = 0;
    while ($text =~ /\G[^;\}(\{]*+([;\}(\{])/g) {
        my ($sign, $at) = ($1, $+[0]);
        pos($text) = $at = closed($at - 1) if $sign eq '(';
        $begin = $at if $sign eq ';' || $sign eq '}';
        next if $sign ne '{';
        my ($name, $open);    # the last parameter list that follows a name
        my ($from, $given) = $begin;
        while (($given = index $text, '(', $from) >= $from && $given < $at) {
            my $between = substr $text, $from, $given - $from;
            last if $from > $begin && $between =~ /\A\s*:(?!:)/;    # a constructor's initializers
            my ($word) = $between =~ /(\w*)\s*\z/;
            my $operator = $word eq '' && substr($text, $begin, $given - $begin) =~ /\boperator/;
            ($name, $open) = ($operator ? 'operator' : $word, $given) if $operator || $word =~ /^(?!__)./;
            last if $operator;
            $from = closed($given);
        }
        if (defined $open) {
            my $body = statement($at - 1);
            read_lambdas($at - 1, $body->[2]);
            push @functions, [$name, $open, closed($open), $body];
            $at = $begin = $body->[2];
        } elsif (substr($text, $begin, $at - $begin) =~ /=/) {
            $at = $begin = closed($at - 1);
        } else {    # a namespace or a class
            $begin = $at;
        }
        pos($text) = $at;
    }
}

sub words_of {
    my ($words, $kind, $begin, $end, $head, $head_end, @parts) = ($_[0], @{$_[1]});
    push @$words, $kind, $begin, $end, $head, $head_end, scalar @parts;
    words_of($words, $_) for @parts;
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
    my @open;
    %end = ();
    while ($text =~ /([(\[\{])|[)\]\}]/g) {
        if ($1) { push @open, $-[0] }
        elsif (@open) { $end{pop @open} = $+[0] }
    }
    read_functions();
    my @words = scalar @functions;
    for (@functions) { push @words, $_->[0] || '-', @$_[1, 2]; words_of(\@words, $_->[3]) }
    return '::cudacpu::statement_tree("' . $file =~ s/["\\]/\\$&/gr . "\", R\"cudacpu($source)cudacpu\", \"@words \")";
}

1;
