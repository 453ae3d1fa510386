# annotate.pl FOLDER LOG: joins the SARIF logs of a folder in one, without repetitions, and prints a GitHub annotation for each
# result. Files below $GITHUB_WORKSPACE, or else the working folder, are named relative to it. Exit status: 1 if there is an error.
use strict;
use warnings;
use Cwd 'getcwd';
use Encode ();
use File::Basename 'dirname';
use JSON::PP;
use lib dirname($0);
use Report;

my ($folder, $log) = @ARGV;
my $json = JSON::PP->new->canonical->utf8;
my $top = file_uri($ENV{GITHUB_WORKSPACE} || getcwd()) . '/';

sub relative {    # in all parts of a result
    my ($part) = @_;
    if (ref $part eq 'ARRAY') { relative($_) for @$part }
    elsif (ref $part eq 'HASH') {
        $part->{uri} =~ s/^\Q$top\E// if defined $part->{uri};
        relative($_) for values %$part;
    }
}
sub place {    # (file, line, column) of a location
    my $physical = $_[0]{physicalLocation} or return;
    my $file = $physical->{artifactLocation}{uri} =~ s{^file://}{}r =~ s/%(..)/chr hex $1/ger;
    return ($file, $physical->{region}{startLine}, $physical->{region}{startColumn} // 1);
}
sub escaped { return $_[0] =~ s/[%\r\n]/sprintf '%%%02X', ord $&/ger }
sub property { return escaped($_[0]) =~ s/[:,]/sprintf '%%%02X', ord $&/ger }

my ($whole, %rules, %known, @results);
for my $file (sort glob "\Q$folder\E/*.sarif") {
    open my $in, '<', $file or die "$file: $!\n";
    $whole = $json->decode(do { local $/; <$in> });
    my $run = $whole->{runs}[0];
    $rules{$_->{id}} = $_ for @{$run->{tool}{driver}{rules}};
    relative($run->{results});
    push @results, grep { !$known{$json->encode($_)}++ } @{$run->{results}};
}
$whole //= {'$schema' => 'https://json.schemastore.org/sarif-2.1.0.json', version => '2.1.0',
    runs => [{tool => {driver => {name => 'cudacpu'}}, columnKind => 'unicodeCodePoints'}]};
$whole->{runs}[0]{results} = \@results;
$whole->{runs}[0]{tool}{driver}{rules} = [map { $rules{$_} } sort keys %rules];
write_whole($log, $json->pretty->encode($whole));

for my $result (@results) {
    my @place = place($result->{locations}[0] // {});
    my $words = $result->{message}{text};
    for my $related (@{$result->{relatedLocations} // []}) {
        my ($file, $line) = place($related);
        $words .= "\n" . Encode::decode('UTF-8', $file) . ":$line: " . ($related->{message}{text} // '');
    }
    my $level = $result->{level} eq 'note' ? 'notice' : $result->{level};
    my $where = @place ? sprintf 'file=%s,line=%d,col=%d,', property($place[0]), @place[1, 2] : '';
    print "::$level ${where}title=cudacpu: $result->{ruleId}::" . escaped(Encode::encode('UTF-8', $words)) . "\n";
}
exit((grep { $_->{level} eq 'error' } @results) ? 1 : 0);
