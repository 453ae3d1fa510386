# sarif.pl [--fix] LOG: checks a SARIF log of cudacpu against what the standard, version 2.1.0, demands of the properties that
# cudacpu writes, and that it writes no others; prints each result in a line, with the related lines and the fix below it. --fix
# carries out the fixes. Dies if the log is wrong.
use strict;
use warnings;
use JSON::PP;
binmode STDOUT, ':encoding(UTF-8)';

my $fix = @ARGV && $ARGV[0] eq '--fix' ? shift : '';
open my $in, '<', $ARGV[0] or die "$ARGV[0]: $!\n";
my $log = JSON::PP->new->utf8->decode(do { local $/; <$in> });

my %kind_of = (text => sub { !ref $_[0] && length $_[0] }, number => sub { JSON::PP->new->allow_nonref->encode($_[0]) =~ /^[1-9]\d*$/ });
my $message = ['text!', {text => 'text'}];
my $artifact = ['uri!', {uri => 'uri'}];
my $region = ['startLine!', {startLine => 'number', startColumn => 'number', endLine => 'number', endColumn => 'number', snippet => $message}];
my $location = ['physicalLocation!', {id => 'number', message => $message,
    physicalLocation => ['artifactLocation! region!', {artifactLocation => $artifact, region => $region}]}];
my $shape = ['version! runs!', {'$schema' => 'uri', version => qr/^2\.1\.0$/, runs => [['tool! results!', {
    tool => ['driver!', {driver => ['name!', {name => 'text', rules => [['id!', {id => 'text', shortDescription => $message}]]}]}],
    columnKind => qr/^unicodeCodePoints$/,
    results => [['message! ruleId!', {ruleId => 'text', level => qr/^(?:error|warning|note)$/, message => $message, locations => [$location],
        relatedLocations => [$location], fixes => [['artifactChanges!', {description => $message,
            artifactChanges => [['artifactLocation! replacements!', {artifactLocation => $artifact,
                replacements => [['deletedRegion!', {deletedRegion => $region, insertedContent => $message}]]}]]}]]}]]}]]}];

# A shape is [its needed properties, {property => shape}], [the shape of each element], a pattern, or a kind of value.
sub compare {
    my ($value, $shape, $where) = @_;
    if (ref $shape eq 'ARRAY' && @$shape == 1) {
        ref $value eq 'ARRAY' or die "$where is no array\n";
        compare($$value[$_], $$shape[0], "$where\[$_]") for 0 .. $#$value;
    } elsif (ref $shape eq 'ARRAY') {
        ref $value eq 'HASH' or die "$where is no object\n";
        exists $value->{$_} or die "$where has no $_\n" for $$shape[0] =~ /(\w+)!/g;
        compare($value->{$_}, $$shape[1]{$_} // die("$where has a property $_\n"), "$where.$_") for sort keys %$value;
    } elsif (ref $shape) {
        $value =~ $shape or die "$where is '$value'\n";
    } elsif ($shape eq 'uri') {
        $value =~ m{^(?:https?://|file:///)?(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+$} or die "$where is the URI '$value'\n";
    } else {
        $kind_of{$shape}->($value) or die "$where is no $shape\n";
    }
}
compare($log, $shape, 'log');

sub file_of { return $_[0]{artifactLocation}{uri} =~ s{^file://}{}r =~ s/%(..)/chr hex $1/ger }
sub words_of {
    my ($location) = @_;
    my ($physical, $words) = ($location->{physicalLocation}, $location->{message}{text} // '');
    my $file = file_of($physical) =~ s{.*/}{}r;
    utf8::decode($file);
    return "$file:$physical->{region}{startLine}:" . ($physical->{region}{startColumn} // '') . " $words";
}
for my $run (@{$log->{runs}}) {
    my %rules = map { $_->{id} => 1 } @{$run->{tool}{driver}{rules}};
    for my $result (@{$run->{results}}) {
        $rules{$result->{ruleId}} or die "no rule $result->{ruleId}\n";
        print "$result->{level} $result->{ruleId} ", join(' ', map { words_of($_) } @{$result->{locations}}), ' = ',
            $result->{message}{text} =~ s/\s+/ /gr, "\n";
        print '  related ', words_of($_), "\n" for @{$result->{relatedLocations}};
        for my $change (map { @{$_->{artifactChanges}} } @{$result->{fixes}}) {
            my $file = file_of($change);
            open my $source, '<:encoding(UTF-8)', $file or die "$file: $!\n";
            my @lines = ('', <$source>);
            for my $replacement (reverse @{$change->{replacements}}) {
                my ($old, $new) = ($replacement->{deletedRegion}, $replacement->{insertedContent}{text});
                my ($from, $length) = ($old->{startColumn} - 1, $old->{endColumn} - $old->{startColumn});
                print "  fix $old->{startLine}:$old->{startColumn} `", substr($lines[$old->{startLine}], $from, $length), '` -> `', $new =~ s/\n/\\n/r, "`\n";
                substr $lines[$old->{startLine}], $from, $length, $new;
            }
            next if !$fix;
            open my $out, '>:encoding(UTF-8)', $file or die "$file: $!\n";
            print $out @lines;
        }
    }
}
