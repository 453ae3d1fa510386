# LineTable.pm - what the running program must know of its source's lines (include/cudacpu/engine.hpp, SourceLine): it is
# recorded when the program is compiled, because later the source may have been edited or moved.
package LineTable;
use strict;
use warnings;
use Exporter 'import';
use File::Spec;
use IndexFlow;
use Source;
our @EXPORT = 'line_table';

my %fact = (member => 1, shared => 2, local => 4, global => 8, row => 16, in_branch => 32, in_loop => 64, '+' => 128, '-' => 256, '*' => 512);

# Returns the table of the text, which is not yet translated, in C++, for a build: plain, hazards, counters or asan.
sub line_table {
    my ($build) = @_;
    my (%shared, %global, %local, %facts_at, %facts_of);
    while ($text =~ /\b__shared__\b([^;]*)/g) {
        my $function = function_at($-[0]);
        $shared{$_}{$function} = 1 for $1 =~ /[\w\x80-\xff]+/g;
    }
    while ($text =~ /\b__(?:device|constant|managed)__\b([^(;={]*)/g) {
        next if function_at($-[0]);
        $global{$_} = 1 for $1 =~ /[\w\x80-\xff]+/g;
    }
    while ($text =~ /([A-Za-z_\x80-\xff][\w\x80-\xff]*+)\s*\[/g) {
        my ($name, $at) = ($1, $-[0]);
        my $function = function_at($at) or next;
        my $before = substr $text, $at > 12 ? $at - 12 : 0, $at > 12 ? 12 : $at;
        my $kind = $before =~ /(?:\.|->)\s*$/ ? 'member' : $shared{$name}{$function} || $shared{$name}{0} ? 'shared'
            : $local{$name}{$function} ? 'local' : $global{$name} ? 'global' : '';
        $facts_at{$at} |= $fact{$kind} if $kind;
        $local{$name}{$function} = 1 if $before =~ /(\w+)\s+$/ && $1 !~ /^(?:return|else|case|delete|throw|do)$/;
    }
    while ($text =~ /\]\s*\[/g) { $facts_at{$-[0]} |= $fact{row} if function_at($-[0]) }
    while ($text =~ /\b__syncthreads\w*\s*\(/g) {
        my ($at, $around) = ($-[0], join ' ', around($-[0]));
        $facts_at{$at} |= $fact{in_branch} if $around =~ /\b(?:if|switch)\s*(?:constexpr\s*)?\(|\belse\b/;
        $facts_at{$at} |= $fact{in_loop} if $around =~ /\b(?:for|while)\s*\(|\bdo\b/;
    }
    my ($operations, %others_of) = $build eq 'hazards' ? index_operations() : {};
    $facts_at{$_} |= $fact{$operations->{$_}[0]} for grep { $operations->{$_}[1] } keys %$operations;
    my @others = grep { !$operations->{$_}[1] } keys %$operations;
    my $places = places(keys %facts_at, @others);
    $others_of{$places->{$_}} |= $fact{$operations->{$_}[0]} for @others;
    for my $at (keys %facts_at) {
        my ($file, $line) = $places->{$at} =~ /(.*):(\d+)$/s;
        $facts_of{$file}{$line} |= $facts_at{$at} & ~($others_of{$places->{$at}} // 0);
    }
    my ($all, $serial) = ('', 0);
    for my $file (sort keys %facts_of) {
        my $facts = $facts_of{$file};
        my $lines = 'cudacpu_lines_' . ++$serial;
        my $name = File::Spec->rel2abs($file =~ s/\\(["\\])/$1/gr) =~ s/["\\]/\\$&/gr;
        $all .= "\nstatic const ::cudacpu::SourceLine ${lines}[] = {" . join(', ', map { "{$_, $facts->{$_}}" } sort { $a <=> $b } keys %$facts)
            . "};\n[[maybe_unused]] static const ::cudacpu::SourceFile ${lines}_of {\"$name\", $lines, " . keys(%$facts) . "};\n";
    }
    return $all;
}

1;
