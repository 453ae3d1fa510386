#!/bin/sh
# by_hand.sh SOURCE: tests that `ctest`, typed by hand, does what the README says. The script configures the lab with and
# without its optional parts. In each of these folders, ctest must select no slow test, and must build each program that a test
# runs. In the last folder nothing has been built: there, single tests must pass, and a program that fails to build must be
# reported. Exit status: 0 if all cases pass, 1 if not, 77 if perl lacks a module.
. "$(dirname "$0")/lib.sh"
source=$(cd "${1:?by_hand.sh SOURCE}" && pwd) || exit 1
build=$folder/build patience=900
perl -MJSON::PP -e 1 2>/dev/null || skip "perl has no JSON::PP"

# Fixtures are named after their targets: `cpu_waits` builds cpu_waits, `silent` cpu_silent,
# `03_dot_shared` cpu/03_dot_shared, and `cudacpu_hazards` libcudacpu_hazards.a.
cat >"$folder/look.pl" <<'END'
use strict;
use warnings;
use JSON::PP;
my ($build, $bad) = (shift, 0);
my $configured = qr/^(build[.]|common[.](counters|clangd)$|pages[.]pictures$)/;  # tests that need no program
my %is;
my @tests = @{decode_json(join "", <STDIN>)->{tests}};
for my $test (@tests) {
    my %has = map { $_->{name} => $_->{value} } @{$test->{properties}};
    ($test->{labels}, $test->{needs}) = ($has{LABELS} // [], $has{FIXTURES_REQUIRED} // []);
    $is{$_} = 1 for @{$has{FIXTURES_SETUP} // []};
}
sub complain { print "$_[0]->{name}: $_[1]\n"; $bad = 1 }
for my $test (@tests) {
    complain($test, "slow, and ctest selects it") if grep { $_ eq "slow" } @{$test->{labels}};
    my @built = grep { $is{$_} } @{$test->{needs}};
    complain($test, "nothing builds its program") if !$test->{command} && !@built;
    complain($test, "lab_needs() says nothing about it") if !@built && $test->{name} !~ $configured &&
        grep { $_ eq $build } @{$test->{command} // []};
    for my $word (@{$test->{command} // []}) {
        my ($program) = $word =~ m{\Q$build\E/(.+)} or next;
        next if -e "$build/$program" || $program =~ /counted(_all)?$/;  # a folder for results
        my ($folder, $name) = $program =~ m{(?:(.*)/)?([^/]+)$};
        $name =~ s/^lib(.*)[.]a$/$1/;
        my @names = ($name, $folder =~ /^(gpu|asan|counters)$/ ? () : $name =~ s/^cpu_//r, "${folder}_$name");
        complain($test, "nothing builds $program") unless grep { my $target = $_; grep { $target eq $_ } @names } @built;
    }
}
exit $bad;
END
selects() { # selects TITLE CMAKE-OPTION...: checks the tests that ctest selects in a folder configured with these options
    title=$1
    shift
    rm -rf "$build"
    ends 0 cmake -S "$source" -B "$build" "$@"
    ctest --test-dir "$build" --show-only=json-v1 >"$folder/json"
    perl "$folder/look.pl" "$build" <"$folder/json" >"$folder/out"
    must "$title" test $? = 0
}
selects "without the CPU device" -DLAB_CPU=OFF
selects "without Google Test" -DLAB_GPU=OFF -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON
selects "without OpenCV" -DLAB_GPU=OFF -DCMAKE_DISABLE_FIND_PACKAGE_OpenCV=ON
selects "CPU device" -DLAB_GPU=OFF

test_names() { ctest --test-dir "$build" -N "$@" | sed -n 's/^ *Test *#[0-9]*: //p'; }
test_names -C slow -L slow >"$folder/out"
must "-C slow selects the slow tests" test "$(wc -l <"$folder/out")" -gt 100
run ctest --test-dir "$build" -R '^(common[.]bars|Text[.]ForPeople|cpu[.]colour)$'
must "a single test's program is built" test "$status $(grep -c ' Test .* Passed ' "$folder/out")" = "0 6"
mkdir -p "$build/common/test/lines_test" # the linker cannot write the program
run ctest --test-dir "$build" --output-on-failure -R '^Lines[.]'
must "a program that is not built" test "$status" = 8
says 'build[.]lines_test .*[*]{3}Failed' && says 'Lines[.].* [(]Not Run[)]' && says 'lines_test.*[Dd]irectory' ||
    fail "it says neither what failed nor why"
finish
