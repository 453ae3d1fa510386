# Report.pm - cudacpu's messages: as text, in gcc's format, or as a SARIF 2.1.0 log.
package Report;
use strict;
use warnings;
use Exporter 'import';
use Fcntl;
use File::Spec;
our @EXPORT = qw(report_as stop folded show column_of file_uri lines_in write_file write_whole);

my ($format, $log, @results) = ('text', '');

# Sets the format, the value of LAB_REPORT or --report: text, gcc, sarif (on stderr at the end) or sarif:FILE, where %p is the
# process's number.
sub report_as {
    my ($name, $option) = @_;
    my ($kind, $file) = $name =~ /^(?|(text|gcc|sarif)()|(sarif):(.+))$/s
        or stop("cudacpu: $option=$name: say text, gcc, sarif or sarif:FILE\n");
    ($format, $log) = ($kind, $file =~ s/%p/$$/gr);
}

sub stop { show(@_); exit 1 }

# The text in lines of at most 80 columns, and in one line if programs read it. The place at the beginning of the first line is
# not broken.
sub folded {
    my ($all, @words) = ($_[0], split ' ', $_[1]);
    my $column = length $all;
    for my $word (@words) {
        ($all, $column) = ("$all\n ", 1) if $column + length " $word" > 80 && $format eq 'text';
        $all .= " $word";
        $column += length " $word";
    }
    return "$all\n";
}

# Prints messages, of cudacpu or of the compiler.
sub show {
    for my $message (@_) {
        print STDERR $message if $format ne 'sarif' || $log ne '';
        next if $format ne 'sarif';
        my $plain = $message =~ s/\e\[[\d;]*[mK]//gr;
        push @results, {file => $1, line => $2, column => $3, level => $4, words => $5}
            if $plain =~ /\A(.+?):(\d+):(?:(\d+):)? (?:fatal )?(error|warning): (.*)/;
    }
}

# The column of a line of a file where the word stands for the $number-th time, or else of the first character that is no blank.
my %lines_of;    # by file
sub column_of {
    my ($file, $line, $word, $number) = @_;
    if (!$lines_of{$file}) {
        open my $in, '<', $file or return 1;
        $lines_of{$file} = [<$in>];
    }
    my ($code, @columns) = $lines_of{$file}[$line - 1] // return 1;
    utf8::decode($_) for $word, $code;
    push @columns, $-[0] + 1 while length $word && $code =~ /(?<!\w)\Q$word\E(?!\w)|(?=\W)\Q$word\E/g;
    return $columns[$number < @columns ? $number - 1 : -1] // ($code =~ /\S/ ? $-[0] + 1 : 1);
}

sub file_uri { return 'file://' . File::Spec->rel2abs($_[0]) =~ s{[^\w/.~-]|[^\x00-\x7f]}{sprintf '%%%02X', ord $&}ger }

# These end the program if the file cannot be read or written.
sub lines_in {
    my ($file) = @_;
    open my $in, '<', $file or stop("cudacpu: cannot read $file: $!\n");
    return <$in>;
}
sub write_file {
    my ($file, @contents) = @_;
    my $opened = open my $out, '>', $file;
    $opened && print($out @contents) && close $out or stop("cudacpu: cannot write $file: $!\n");
}

# Writes the file completely or not at all.
sub write_whole {
    my ($file, $contents) = @_;
    my $made = -e $file && !-f _ ? $file : "$file.$$";
    unlink $made if $made ne $file;
    my $opened = sysopen my $out, $made, O_WRONLY | ($made eq $file ? 0 : O_CREAT | O_EXCL);
    $opened && print($out $contents) && close $out && ($made eq $file || rename $made, $file)
        or print(STDERR "cudacpu: cannot write $file: $!\n"), exit 2;
}

END {
    my $status = $?;
    if (@results) {
        require JSON::PP;
        require Encode;
        my %rules;
        my @all = map {
            my $words = Encode::decode('UTF-8', $_->{words});
            my $kind = $words =~ /\[-W([\w=+-]+)\]$/ ? $1 : "compile-$_->{level}";
            $rules{$kind} //= {id => $kind, shortDescription => {text => "$kind, of cudacpu or the compiler that it calls"}};
            my %region = (startLine => 0 + $_->{line});
            $region{startColumn} = 0 + $_->{column} if $_->{column};
            {   ruleId => $kind, level => $_->{level}, message => {text => $words},
                locations => [{physicalLocation => {artifactLocation => {uri => file_uri($_->{file})}, region => \%region}}]}
        } @results;
        my $json = JSON::PP->new->canonical->utf8->pretty->encode({
            '$schema' => 'https://json.schemastore.org/sarif-2.1.0.json', version => '2.1.0', runs => [{
                tool => {driver => {name => 'cudacpu', rules => [map { $rules{$_} } sort keys %rules]}},
                columnKind => 'unicodeCodePoints', results => \@all}]});
        if ($log eq '') { print STDERR $json }
        else { write_whole($log, $json) }
    }
    $? = $status;
}

1;
