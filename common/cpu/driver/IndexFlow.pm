# IndexFlow.pm - which additions, subtractions and multiplications of device code calculate an index.
#
# A value is used as an index if it is in the brackets of a subscript, or is assigned to a variable that is an index or a pointer,
# or is returned by a function or passed as an argument that is used as one. Variables are told apart by function and name. The
# low bits of `x & mask` are right whatever overflows, so such an index is left out.
package IndexFlow;
use strict;
use warnings;
use Exporter 'import';
use Source;
our @EXPORT = 'index_operations';

my (%is_index, %returns_index, %takes_index);    # by function and variable; by function; by function and number of the parameter
my $function;                                    # {name, parameters, begin: of its body, body, parts: [from, to] of those that calculate an index, used: the same}

# Notes that this part of the body is an index. Returns whether that is news.
sub use_part {
    my ($from, $part) = @_;
    return 0 if $part =~ /[\w\])]\s*&(?![&=])/ || $function->{used}{$from, length $part}++;
    push @{$function->{parts}}, [$from, $from + length $part];
    my $names = $part =~ s/(?&s)$cpp//gr;    # an element's value is data
    $is_index{$function->{name}}{$1} = 1 while $names =~ /(?<![.\w])(?<!->)([A-Za-z_]\w*)\b(?!\s*[(\[])/g;
    $returns_index{$1} = 1 while $names =~ /\b([A-Za-z_]\w*)\s*\(/g;
    return 1;
}

# Looks for parts of a function that are an index. Returns whether there are new ones.
sub search {
    ($function) = @_;
    my ($news, $body, $index) = (0, $function->{body}, $is_index{$function->{name}} //= {});
    $takes_index{$function->{name}}{$_} ||= $index->{$function->{parameters}[$_]} for 0 .. $#{$function->{parameters}};
    $index->{$1} = 1 while $body =~ /(?:[-=(,;{}+*\/<>!|?:]|\breturn)\s*\*\s*(\w+)/g;    # a pointer
    $index->{$1} = 1 while $body =~ /\b(\w+)\s*(?:\[|->)/g;
    $news += use_part($-[1] + 1, substr $1, 1, -1) while $body =~ /((?&s))$cpp/g;
    while ($body =~ /(?<![.\w])(\w+)(?<!operator)\s*(?:[-+*]|<<)?=(?!=)((?:(?&p)|(?&s)|(?&b)|[^,;(){}\[\]])++)$cpp/g) {
        $news += use_part($-[1], substr $body, $-[1], $+[2] - $-[1]) if $index->{$1};
    }
    while ($body =~ /\breturn\b([^;]*)/g) { $news += use_part($-[1], $1) if $returns_index{$function->{name}} }
    while ($body =~ /\b(\w+)\s*(?=((?&p)))$cpp/g) {
        my ($callee, $at, $number) = ($1, $-[2] + 1, 0);
        for my $argument (items(substr $2, 1, -1)) {
            $news += use_part($at, $argument) if $takes_index{$callee}{$number};
            $at += 1 + length $argument;
            ++$number;
        }
    }
    return $news;
}

# Returns {offset => [operator, whether it calculates an index]} for the text, which is not yet translated.
sub index_operations {
    my (@functions, %operations);
    %$_ = () for \%is_index, \%returns_index, \%takes_index;
    while ($text =~ /\b__(?:global|device)__\b[^;{}()]*(?:\b(?&attribute)[^;{}()]*)*?\b(\w+)\s*((?&p))[^;{}()]*((?&b))$cpp/gx) {
        my ($name, $begin, $body) = ($1, $-[3], $3);
        push @functions, {name => $name, begin => $begin, body => $body, parts => [],
            parameters => [map { parameter_name($_) // '' } items(substr $2, 1, -1)]};
    }
    for (my $news = 1; $news;) { $news = 0, $news += search($_) for @functions }
    for (@functions) {
        my ($begin, $body, $parts, $index) = (@$_{qw(begin body parts)}, $is_index{$_->{name}});
        while ($body =~ /(\w*)\s*(\+\+|--|[-+*]=?(?!>))\s*(\w*)/g) {
            my ($before, $operator, $after, $at, $end) = ($1, $2, $3, $-[2], $+[2]);
            my $is_pointer = $operator eq '*' && ($before =~ /^(?&type)$$cpp/ || substr($body, $at > 9 ? $at - 9 : 0, $at > 9 ? 9 : $at) !~ /[\w\])]\s*$/);
            my $is_used = grep { $at >= $_->[0] && $at < $_->[1] } @$parts;
            $is_used ||= $index->{$before} || $index->{$after} if $operator =~ /\+\+|--/;
            $operations{$begin + $at} = [substr($operator, 0, 1), $is_used] if !$is_pointer;
            pos $body = $end;
        }
    }
    return \%operations;
}

1;
