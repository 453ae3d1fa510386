# IndexFlow.pm - which additions, subtractions and multiplications of device code calculate an index.
#
# A value is used as an index if it is in the brackets of a subscript, or is added to a pointer parameter, or is assigned to a variable that is an index or a pointer,
# or is returned by a function or passed as an argument that is used as one. Variables are told apart by function and name. The
# low bits of `x & mask` are right whatever overflows, so such an index is left out.
package IndexFlow;
use strict;
use warnings;
use Exporter 'import';
use Source;
our @EXPORT = 'index_operations';

my (%is_index, %returns_index, %takes_index);    # by function and variable; by function; by function and number of the parameter
my $function;                                    # the one that is searched

# Notes that this part of the body is an index. Returns whether that is news.
sub use_part {
    my ($from, $part) = @_;
    return 0 if $function->{known}{$from, length $part}++ || $part =~ /[\w\])]\s*&(?![&=])/;
    substr($function->{used}, $from, length $part) = 'x' x length $part;
    my $names = $part =~ s/(?&s)$cpp//gor;    # an element's value is data
    $is_index{$function->{name}}{$1} = 1 while $names =~ /(?<![.\w])(?<!->)([A-Za-z_]\w*)\b(?!\s*[(\[])/g;
    $returns_index{$1} = 1 while $names =~ /\b([A-Za-z_]\w*)\s*\(/g;
    return 1;
}

# Notes the parts of a function that may be an index, as [name, offset, text], and those that are.
sub read_function {
    ($function, my $body) = @_;
    my $index = $is_index{$function->{name}} //= {};
    $function->{used} = ' ' x length $body;
    while ($body =~ /(?<![.\w])(\w+)(?<!operator)\s*(?:[-+*]|<<)?=(?!=)((?:(?&p)|(?&s)|(?&b)|[^,;(){}\[\]])++)$cpp/go) {
        my ($name, $begin, $end) = ($1, $-[1], $+[2]);
        next if substr($body, 0, $begin) =~ /(?:[;{}(),]|\belse|\bdo)\s*\*+\s*$/;    # *p = x changes what p points to
        unshift @{$function->{assigned}}, [$name, $begin, substr $body, $begin, $end - $begin];
    }
    while ($body =~ /\breturn\b([^;]*)/g) { push @{$function->{returned}}, [$function->{name}, $-[1], $1] }
    while ($body =~ /\b(\w+)\s*(?=((?&p)))$cpp/go) {
        my ($callee, $at, $number) = ($1, $-[2] + 1, 0);
        for my $argument (items(substr $2, 1, -1)) {
            push @{$function->{passed}}, ["$callee $number", $at, $argument];
            $at += 1 + length $argument;
            ++$number;
        }
    }
    $index->{$1} = 1 while $body =~ /(?:[-=(,;{}+*\/<>!|?:]|\breturn)\s*\*\s*(\w+)/g;    # a pointer
    $index->{$1} = 1 while $body =~ /\b(\w+)\s*(?:\[|->)/g;
    my $pointers = join '|', map { quotemeta } grep { $_ } @{$function->{pointers}};
    if ($pointers) { use_part($-[1], $1) while $body =~ /\b(?:$pointers)\s*\+\s*((?:(?&p)|(?&s)|[^,;(){}\[\]])++)$cpp/g }
    use_part($-[1] + 1, substr $1, 1, -1) while $body =~ /((?&s))$cpp/go;
}

# Looks for parts of a function that are an index. Returns how many are new. The last assignment comes first, because others feed it.
sub search {
    ($function) = @_;
    my ($news, $name, $parameters) = (0, @$function{qw(name parameters)});
    for (['assigned', $is_index{$name}], ['returned', \%returns_index], ['passed', \%takes_index]) {
        my ($list, $used) = ($function->{$_->[0]}, $_->[1]);
        for (@{$list // []}) { $news += use_part(@$_[1, 2]) if $used->{$_->[0]} }
    }
    $takes_index{"$name $_"} ||= $is_index{$name}{$parameters->[$_]} for 0 .. $#$parameters;
    return $news;
}

# Returns {offset => [operator, whether it calculates an index]} for the text, which is not yet translated.
sub index_operations {
    my (@functions, %operations);
    %$_ = () for \%is_index, \%returns_index, \%takes_index;
    while ($text =~ /\b__(?:global|device)__\b[^;{}()]*(?:\b(?&attribute)[^;{}()]*)*?\b(\w+)\s*((?&p))[^;{}()]*((?&b))$cpp/gx) {
        my ($name, $begin, $body, @parameters) = ($1, $-[3], $3, items(substr $2, 1, -1));
        push @functions, {name => $name, begin => $begin, body => $body, parameters => [map { parameter_name($_) // '' } @parameters],
            pointers => [map { parameter_name($_) } grep { /\*/ } @parameters]};
    }
    read_function($_, $_->{body}) for @functions;
    for (my $news = 1; $news;) { $news = 0; $news += search($_) for @functions }
    for (@functions) {
        my ($begin, $body, $used, $index) = (@$_{qw(begin body used)}, $is_index{$_->{name}});
        while ($body =~ /(\w*)\s*(\+\+|--|[-+*]=?(?!>))\s*(\w*)/g) {
            my ($before, $operator, $after, $at, $end) = ($1, $2, $3, $-[2], $+[2]);
            my $left = substr $body, $at > 9 ? $at - 9 : 0, $at > 9 ? 9 : $at;
            my $is_pointer = $operator eq '*' && ($before =~ /^(?&type)$$cpp/ || $left !~ /[\w\])]\s*$/);
            my $is_used = substr($used, $at, 1) eq 'x' || ($operator =~ /\+\+|--/ && ($index->{$before} || $index->{$after}));
            $operations{$begin + $at} = [substr($operator, 0, 1), $is_used] if !$is_pointer;
            pos $body = $end;
        }
    }
    return \%operations;
}

1;
