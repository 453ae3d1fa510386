# Translate.pm - the translation of CUDA C++ to C++: kernels, launches, variables in __shared__ and __constant__ memory.
package Translate;
use strict;
use warnings;
use Exporter 'import';
use Check;
use Source;
our @EXPORT = qw(translate_text shown_with_loops %loop_lines);

my ($build, $is_clang);

# The text as g++ reads it, with a #pragma in place of each mark; what follows keeps its line. %loop_lines has the lines of such loops.
my (@loop_heights);
our %loop_lines;
sub shown_with_loops {
    my ($file, $line, $all) = ('', 0, '');
    my @heights = @loop_heights;
    for (split /^/, shown($_[0])) {
        ($line, $file) = /^# (\d+) "(.*?)"/ ? ($1 - 1, $2) : ($line + 1, $file);
        for (1 .. tr/\x01//) { $loop_lines{$file =~ s{.*/}{}r . ":$_"} = 1 for $line .. $line + shift @heights }
        $all .= s/\x01/\n#pragma GCC unroll 128\n# $line "$file"\n/gr;
    }
    return $all;
}

# Types such as float4, whose members nvcc loads together, and the names of structs and functions that use them.
my $vector_words;
sub find_vector_words {
    my (%words, @named);
    push @named, [$1, ($2 // '') . $3] while $text =~ /((?&word)) \s* (?: ( (?&p) [^(){};]* ) | : [^(){};]* )? ((?&b)) $cpp/gox;
    @named = grep { $_->[0] !~ /^(?:if|for|while|switch|namespace)$/ } @named;
    $vector_words = '(?:u?(?:char|short|int|long|longlong)|float|double)[24]|alignas|aligned';
    for (1 .. 3) {
        my @more = grep { !$words{$_->[0]} && $_->[1] =~ /\b(?:$vector_words)\b/ } @named or last;
        $words{$_->[0]} = 1 for @more;
        $vector_words = join '|', $vector_words, map { $_->[0] } @more;
    }
}

# A loop such as for (int k = 0; k < side; ++k) sum += a[k]; with a known number of iterations gets a mark, which later
# becomes #pragma GCC unroll. nvcc unrolls such a loop completely, and then merges loads of adjacent elements.
my %known;    # named constants
sub mark_loops {
    %known = ();
    $known{$_} = 1 for map { /(\w+)\s*=(?!=)/g } $text =~ /\bconstexpr\b([^;{}]*)/g;
    $known{$_} = 1 for map { /\b(?:int|unsigned|size_t|bool)\s+(\w+)/g } $text =~ /\btemplate\s*<([^;{}()]*?)>\s*(?=\w)/g;
    $known{$1} = 1 while $text =~ /\bconst\s+(?:unsigned|int|unsigned\s+int|size_t)\s+(\w+)\s*=\s*[-+*\/\d\s]+;/g;
    my $header = qr{ \b for \s* \( \s* (?: \w+ \s+ )+? (?<i> \w+ ) \s* = (?<from> [^;(){}]*) ; \s* \k<i> \s* (?: [<>]=? | != )
                     (?<to> [^;(){}]*) ; [^;(){}]* \) }x;
    my @written_out;    # the unrolled loops around a place: where each ends, and its variable
    my $is_known = sub {
        return !grep { my $name = $_; !$known{$name} && !grep { $name eq $_->[1] } @written_out } "@_" =~ /\b[A-Za-z_]\w*/g;
    };
    my $marked = sub {
        my ($loop, $at, $body, $i, $from, $to) = @_;
        return $loop if pragma_before($at - length $loop) =~ /#pragma\s+(?:GCC\s+unroll|omp)\b/;    # g++ accepts only one such #pragma
        @written_out = grep { $at < $_->[0] } @written_out;
        return $loop if !$is_known->($from, $to) || function_before($at) !~ /\b__(?:global|device)__\b/;
        push @written_out, [$at + length $body, $i];
        my ($inner, $rounds) = (0, 0);
        while ($body =~ /$header/g) {
            $inner = -1, last if !$is_known->(@+{qw(from to)});
            $rounds += $+{to} =~ /^\s*(\d+)\s*$/ ? $1 : 8;
            ++$inner;
        }
        $rounds *= $to =~ /^\s*(\d+)\s*$/ ? $1 : 8;
        # A division or a root may branch, which separates one iteration from the next.
        if ($inner != (() = $body =~ /\b(?:for|while|do)\b/g) || $rounds > 512
            || $body =~ /\bsqrtf?\s*\(/ || grep { !/^\d/ && (/\(/ || !$is_known->($_)) } $body =~ m{/=?\s*(\w+|\()}g) {
            pop @written_out;
            return $loop;
        }
        push @loop_heights, "$loop$body" =~ tr/\n//;
        return "\x01$loop";
    };
    @loop_heights = ();
    forget_index();
    $text =~ s{ $header (?= \s* (?<body> (?: (?&p) | [^;{}()] )* (?: (?&b) | ; ) ) ) $cpp }{ $marked->($&, $+[0], @+{qw(body i from to)}) }gsex;
}

# A loop such as for (int i = tid; i < n; i += step) sum += a[i]; whose number of iterations can be computed before the first
# one. nvcc executes four at once, so it visits them in another order (include/cudacpu/rounds.hpp).
sub order_rounds {
    my $waits = '__sync\w*|__shfl\w*|__ballot\w*|__any\w*|__all\w*|__match\w*|__reduce\w*|__activemask|sync|shfl\w*|asm|__asm__';
    my %waits;
    while ($text =~ /\b((?&word)) \s* (?&p) [\s\w]* ((?&b))$cpp/gx) {
        my ($name, $body) = ($1, $2);
        $waits{$name} = 1 if $name !~ /^(?:if|for|while|switch)$/ && $body =~ /\b(?:$waits)\b/;
    }
    $waits = join '|', $waits, keys %waits;
    my $ordered = sub {
        my ($loop, $offset, $body, $type, $i, $from, $than, $to, $count, $is_while) = @_;
        my ($down, $by) = $count =~ /^\s*(?:(\+\+|--)\s*\Q$i\E|\Q$i\E\s*(\+\+|--))\s*$/ ? (($1 // $2) eq '--', 1)
            : $count =~ /^\s*\Q$i\E\s*([-+])=(.*)$/s ? ($1 eq '-', $2) : return $loop;
        my $bounds = "$from $to $by";
        return $loop if $down != ($than =~ />/) || items($from) > 1 || items($by) > 1
            || $body !~ /\[|->|\*/ || $body =~ /\b(?:for|while|do|break|return|goto|switch|co_\w+|$waits)\b|&\s*$i\b/
            || $to =~ /&&|\|\||[?,]/ || $bounds =~ /\b(?!(?:u?int(?:\d+_t)?|unsigned|long|size_t|min|max)\b)[A-Za-z_]\w*\s*\(/;
        my @changed = $body =~ /\b([A-Za-z_]\w*)\s*(?:[-+*\/%|&^]|<<|>>)?=(?!=)/g;
        push @changed, $body =~ /(?:\+\+|--)\s*([A-Za-z_]\w*)/g, $body =~ /\b([A-Za-z_]\w*)\s*(?:\+\+|--)/g;
        return $loop if grep { my $name = $_; grep { $_ eq $name } $i, "$to $by" =~ /[A-Za-z_]\w*/g } @changed;
        return $loop if "$to $by" =~ /\[|->|\*\s*\w+\s*$/ && $body =~ /\]\s*(?:[-+*\/%|&^]|<<|>>)?=(?!=)|atomic|\*\s*\w+\s*=/;
        my $function = function_before($offset);
        my $step = $by !~ /[^\w\s]/ && !grep { !$known{$_} } $by =~ /\b[A-Za-z_]\w*/g;    # it is a known constant
        # Inside a loop nvcc does not divide to compute the number of iterations of an inner one.
        return $loop if !$step && grep { /\b(?:for|while)\s*(?&p)[^;{}]*$cpp$|\b(?:(?:for|while)\s*(?&p)|do)\s*\{$cpp$/ } around($offset);
        return $loop if substr($text, $offset - 1, 1) eq "\x01" || pragma_before($offset) =~ /#pragma\s+(?:(?:GCC\s+)?(?:no)?unroll|omp)\b/;
        my @known = $from =~ /^\s*-?\d+\s*$/ ? 'true' : ();
        for my $name (@changed) {
            my $declared = qr/\b(?!else\b|return\b)\w+>?\s[\s&*]*(?:[^;(){}]*,\s*)?\Q$name\E\s*=\s*([^;,=][^;,]*)/;
            next if $body =~ /$declared|(?:\.|->)\s*\Q$name\E\b/ || $function !~ /.*$declared/s;
            push @known, "::std::is_integral_v<decltype($name)>" if $1 =~ /^-?(?:\d[\w.]*|[\w:]*::\w+)\s*$/;
        }
        my $form = join ', ', map({ $_ ? 'true' : 'false' } $down, scalar($than =~ /=/)), $step ? "__builtin_constant_p($by) ? $by : 0" =~ s/\s+/ /gr : 0,
            join(' || ', @known) || 'false';
        # Loads of several iterations are merged only if there is no store between them and no branch before them.
        my @neighbours = grep { my $index = $_; $index =~ /\b\Q$i\E\b/ && !grep { $_ ne $i } $index =~ /\b[A-Za-z_]\w*/g }
            $body =~ /\[([^][]*)\](?!\s*\[)/g;
        my $row = (grep { $body =~ /\]\s*\[\Q$_\E\]/ } @neighbours) ? 'true' : 'false';
        my $in_fours = @neighbours && $by eq 1 && !$down && $body !~ /\]\s*(?:[-+*\/%|&^]|<<|>>)?=(?!=)|\batomic|\*\s*\w+\s*=|(?:\bif\b|\?|&&|\|\|).*\[/s;
        ($type, $from, $to, $by, $count) = map { flat($_) } $type, $from, $to, $by, $count;
        my ($r, $rounds, $sign) = ('cudacpu_rounds', '::cudacpu::rounds', $down ? '-' : '');
        return "for (::uint64_t ${r}_from = static_cast<$type>($from), ${r}_step = $sign\::uint64_t($by), ${r}_part = 0, ${r}_done = 0, "
            . "${r}_end = 0, $r = ${rounds}::count<$type>(${r}_from, $to, ${r}_step, {$form}); " . ($in_fours ? "${rounds}::note(0), " : '') . "${r}_part < ${rounds}::parts; ++${r}_part) "
            . 'for (' . ($is_while ? '' : $type) . " $i = (${r}_end = ${r}_done + ${rounds}::of_part<${rounds}::countable<decltype(static_cast<$type>(0) + ($by))>"
            . "({$form})>(${r}_part, $r, ${r}_done, {$form}), static_cast<$type>(${r}_from + ${r}_done * ${r}_step)); "
            . ($in_fours ? "${rounds}::note({$form}, $row, ${r}_part, ${r}_done), " : '') . "${r}_done != ${r}_end; ++${r}_done" . ($is_while ? '' : ", $count") . ')' . space_of($loop);
    };
    forget_index();
    $text =~ s{ \b for \s* \( \s* (?<type> (?: (?:unsigned|long|int|u?int\d+_t|uint|size_t|ptrdiff_t|short) \s+ )+ )
                (?<i> \w+ ) \s* = (?<from> [^;{}]* ) ; \s* \k<i> \s* (?<than> <=? | > (?!=) ) (?<to> [^;{}]* ) ;
                (?<count> (?: (?&p) | [^;(){}] )* ) \) (?= \s* (?<body> (?&b) | [^;{}]* ; ) ) $cpp
              }{ $ordered->($&, $-[0], @+{qw(body type i from than to count)}) }gsex;
    # while (i < n) { ...; i += step; }
    forget_index();
    $text =~ s{ \b while \s* \( \s* (?<i> [A-Za-z_]\w* ) \s* (?<than> <=? | > (?!=) ) (?<to> (?: (?&p) | [^(){};] )* ) \)
                (?= \s* \{ (?<body> (?: (?&b) | [^{}] )* (?<= [;\x7d] ) ) (?<count> \s* \k<i> \s* [-+]= [^{};]* ) ; \s* \} ) $cpp
              }{ $+{body} =~ /\bcontinue\b/ ? $& : $ordered->($&, $-[0], $+{body}, "decltype($+{i})", @+{qw(i i than to count)}, 1) }gsex;
}

# The head of the innermost class or function that the place is inside of, if there is one.
sub in_block {
    my ($statement, @heads) = around($_[0]);
    return (grep { !/\bnamespace\b[^;{}]*\{$|\bextern\s*"\d+"\s*\{$/ } @heads)[0];
}

# Whether there may be arrays on a thread's stack: an access past their end is detected when something is next read there,
# such as a parameter.
my $local_arrays;
sub find_local_arrays {
    while ($text =~ /(?:^|[;{}>)])\s*((?:[\w:]+\s+)*[\w:]+(?:<[^;{}()]*>)?(?:\s+|\s*\*+\s+|\s+\*+))(?!_)\w+\s*\[[^;{}]*?\]\s*[;=,{]/g) {
        $local_arrays ||= $1 !~ /^_|\b__(?:shared|device|constant|managed)__|\b(?:extern|static|typedef|return|else|delete|using)\b/;
    }
}

# __global__ void k(int* p) { ... } becomes
# void k(int* p) { static Kernel kernel{"k", "p", 0}; enter_kernel(kernel, new auto([=]() mutable { ... }), p); }
sub kernel {
    my ($offset, %part) = @_;
    my ($body, $head) = ($part{body}, "$part{before}$part{declaration}");
    my ($result) = $head =~ /^(.*?)\b\Q$part{kernel}\E\s*(?:<.*>\s*)?\Q$part{parameters}\E/s;
    refuse($offset, "a kernel returns nothing: write `__global__ void $part{kernel}(...)`")
        if ($result // '') =~ /\b(?:int|float|double|bool|char|long|short|unsigned|size_t|void\s*\*)\s*\**\s*$/;
    refuse($offset, 'a kernel cannot be a member of a class: write it outside')
        if (around($offset))[0] !~ /\bfriend\b/ && (in_block($offset) // '') =~ /\b(?:class|struct|union)\b[^;{}()]*\{$/;
    refuse($offset, 'a kernel takes no `...`: name its parameters') if $part{parameters} =~ /,\s*\.\.\.\s*\)$/;
    return "$head;" if $body eq ';';
    my ($threads) = $head =~ /__launch_bounds__\s*\(((?&item))$cpp/;
    my @arguments = map { parameter_name($_) } items(substr $part{parameters}, 1, -1);
    my $names = join(',', @arguments) =~ s/\.//gr;
    my $vectors = $vector_words && "$head$body" =~ /\b(?:$vector_words)\b/ ? 'true' : 'false';
    my $flat = $build =~ /counters|hazards/ && !$is_clang ? '__attribute__((flatten)) ' : '';    # nvcc inlines the functions that a kernel calls
    my @captured = ('=', map { $part{parameters} =~ /&\s*(?:\.\.\.\s*)?\b\Q@{[s{\.}{}gr]}\E\b/ ? "&$_" : () } @arguments);
    my $mutable = "mutable $flat";
    if ($build eq 'hazards' && !$local_arrays) {    # the compiler calls no hook before the program reads a parameter
        my @own = grep { /\w/ } @arguments;
        my $quiet = '__attribute__((no_sanitize("thread", "alignment")))';
        $mutable = $is_clang ? "$quiet mutable " : "mutable $quiet ";
        $body = '{ [](' . join(', ', map { my ($name, $dots) = /(\w+)(\.*)/; "[[maybe_unused]] ::cudacpu::own<decltype($name)>$dots $name" } @own)
            . ") $flat$body(" . join(', ', @own) . '); }';
    }
    return "$head\{ static ::cudacpu::Kernel cudacpu_kernel{\"$part{kernel}\", \"$names\", " . flat($threads // 0)
        . ", $vectors}; ::cudacpu::enter_kernel(" . join(', ', 'cudacpu_kernel', 'new auto([' . join(', ', @captured)
        . "]() $mutable$body)", map { my $a = $_; grep({ $_ eq "&$a" } @captured) ? '::cudacpu::referred(' . $a =~ s/(\.*)$/)$1/r : $a } @arguments) . '); }';
}

# __shared__ float tile[16][16], *p; becomes, for each name,
# struct S { float tile[16][16]; }; static SharedObject object_of_S {..., "tile"}; auto& tile = shared<S>(object_of_S).tile;
# An array without a size gets size 0 in S; only its alignment matters.
sub shared {
    my ($offset, %part) = @_;
    my $declaration = $part{declaration};
    my ($scope, $static) = in_block($offset) ? ('', '') : ('_at_namespace_scope', '[[maybe_unused]] static ');
    my $extern = $declaration =~ /\bextern\b/;
    my ($result, $type) = ('', '');
    for my $item (items($declaration =~ s/\b(?:__shared__|static|extern)\b//gr)) {
        my ($front, $stars, $name, $sizes) =
            $item =~ /^ ([^=]*?) ((?: \* \s* | \( \s* (?= \*))*) ((?&word)) \s*
                       ((?: (?&s) \s*)* (?: \) \s* (?: (?: (?&s) | (?&p)) \s*)*)*) $ $cpp/x;    # int *a, b[4], (*c)[4], (*d[2])(int)
        $type ||= $front // '';
        refuse($offset, 'this declaration of __shared__ memory is not understood: write `__shared__ T name[n];` or '
            . '`extern __shared__ T name[];`, without a value')
            if $type !~ /\w/ || !$name || ($extern && $sizes && $sizes !~ s/^\[\s*\]/[0]/);
        my $struct = 'cudacpu_shared_' . ++our $serial;
        $result .= flat("struct $struct { $type $stars$name$sizes; }; ");
        my $dynamic = 'dynamic' . ($scope || '_shared');
        my $declarator = $sizes ? "auto* const $name" : "auto& $name";
        $result .= $extern ? "${static}$declarator = ::cudacpu::$dynamic<$struct>(\"$name\")->$name; "
            : "static ::cudacpu::SharedObject object_of_$struct {sizeof($struct), alignof($struct), \"$name\"}; "
            . "${static}auto& $name = ::cudacpu::shared$scope<$struct"
                . ($scope ? '' : ", decltype($struct\::$name)") . ">(object_of_$struct).$name; ";
    }
    return $result . space_of($declaration);
}

# __constant__ float w[9], scale; is followed, for each name, by static const Constant constant_of_w {&w, sizeof w}; where
# its address is known: not in a class or a template.
sub constant {
    my ($offset, %part) = @_;
    my $declaration = $part{declaration};
    my $plain = $declaration =~ s/\b__constant__\b//r;
    return "$plain;" if in_block($offset) || $declaration =~ /\b(?:extern|template)\b/;
    # g++ inserts no call of the counters before it reads const data.
    $plain =~ s/\bconst\b/$plain =~ m{\b(?:static|inline)\b} ? '' : 'static'/e if $plain =~ /^[^=*&]*\[/ && $plain !~ /\bconstexpr\b/;
    my @names = map { s/=.*//sr =~ /^ (?: .*? [\s*&>] )?? ((?&word)) \s* (?: (?&s) \s* | (?&b) \s* )* $ $cpp/sx ? $1 : () } items($plain);
    return "$plain;" . join '', map {
        my $object = 'cudacpu_constant_' . ++our $serial;
        "[[maybe_unused]] static const ::cudacpu::Constant $object {&$_, sizeof $_};" } @names;
}

# asm("mov.u32 %0, %%smid;" : "=r"(x)) becomes (x) = special_register("smid"), cast to its type; other PTX is refused.
sub assembly {
    my ($offset, $whole) = @_;
    my ($quoted, $output) = $whole =~ /\(\s* ((?:"\d+"\s*)+) (?: : \s* "\d+" \s* ((?&p)) )? $cpp/x or return $whole;
    my $instruction = join '', map { substr $literals[$_], 1, -1 } $quoted =~ /\d+/g;
    my $space = qr/(?:\s|\\[nt])*/;
    return "$output = decltype(+$output)(::cudacpu::special_register(\"$1\"))" . space_of($whole)
        if $output && $instruction =~ /^$space mov\.[usb](?:32|64) $space %0 $space, $space %%?(laneid|warpid
            |nwarpid|smid|nsmid|clock|clock64|globaltimer|lanemask_(?:lt|le|eq|ge|gt)|n?(?:tid|ctaid)\.[xyz]) $space;?$space$/x;
    refuse($offset, "inline PTX: the CPU device cannot run \"$instruction\"; use the function that CUDA has for it "
        . '(clock64(), __activemask(), ...)') if $instruction =~ /[a-z]\w*\.[a-z]|\b(?:trap|exit|ret|brkpt)\b/;
    return $whole;    # assembly for the host
}

# g++ merges two reads in `if (*p < x) most(p, x)`, where most() begins with a read of *p that it passes to a CAS. The
# barrier makes them two reads again: one for the guard, and one for the CAS.
sub look_again_for_cas {
    $text =~ s!\b__device__\b(?:[^(){};]++|(?&p))*+\K(?&b)$cpp!$& =~ s/^\{(?=.*\batomicCAS)/{ asm volatile("" ::: "memory");/sr!ge
        and forget_index();
}

# Replaces what a pattern finds in statements that have a mark. The search begins where the statement does.
sub rewrite {
    my ($mark, $pattern, $replacement) = @_;
    my ($done, $end) = ('', 0);
    forget_index();
    while ($text =~ /$mark/g) {
        my ($at, $next, $statement) = ($-[0], $+[0], around($-[0]));
        my $begin = $at - length $statement;
        pos($text) = $begin > $end ? $begin : $end;
        if ($text =~ /$pattern/g) {
            (my $from, $next) = ($-[0], $+[0]);
            $done .= substr($text, $end, $from - $end) . $replacement->($from, %+);
            $end = $next;
        }
        pos($text) = $next;
    }
    $text = $done . substr $text, $end;
}

# k<<<g, b>>>(x) becomes (configure(g, b), k(x), launched())
sub launch {
    my ($offset, %part) = @_;
    return '(' . space_of("$part{called}$part{space}") . "::cudacpu::configure($part{config}), " . flat($part{called})
        . "$part{arguments}, ::cudacpu::launched())";
}

# Translates the text for a build: plain, hazards, counters or asan. The options: is_20, whether the program asks for C++20;
# is_clang, whether clang compiles the result. Returns whether the program says `volatile`.
sub translate_text {
    ($build, my %option) = @_;
    $is_clang = $option{is_clang};
    my $says_volatile = $text =~ /\bvolatile\b(?!\s*\()/;
    look_again_for_cas() if $build eq 'hazards';
    refuse_absent();
    # New keywords of C++20 are ordinary names in a program that does not ask for C++20.
    $text =~ s/\b(?:concept|requires|char8_t|consteval|constinit|co_(?:await|return|yield))\b/cudacpu_$&/g and forget_index()
        if !$option{is_20} && $text !~ /\btemplate\s*(?&a)[^;{}()]*\b(?:concept|requires)\b$cpp/;
    refuse($-[0], 'a kernel is neither __device__ nor __host__: write `__global__ void`') if $text =~ /\b__(?:global__\s+__(?:device|host)|(?:device|host)__\s+__global)__\b/;
    my @host_variables = check_spaces();
    check_constructors();
    check_dynamic_shared();
    find_local_arrays() if $build eq 'hazards';
    my $read = $build eq 'counters' ? qr/\b__(?:device|host)__\b/ : qr/\b__(?:device|host|constant)__\b/;
    my $own_new = 'operator';    # classes with a `new` of their own, or an inherited one
    while ($text =~ /\b(?:class|struct)\s+((?&word))([^(){};]*)((?&b))$cpp/g) {
        my ($class, $rest) = ($1, "$2$3");
        $own_new .= "|$class" if $rest =~ /^[^{]*:[^{]*\b(?:$own_new)\b|\boperator\s+new\b/;
    }
    $text =~ s{ \b __(?:device|global)__ \b [^;{}]* \K ( (?: (?&b) \s* (?: , [^;{}]* )? )+ ) $cpp
              }{ $1 =~ s/(?<!operator )\bnew\b(?=\s*(?!(?:$own_new)\b)[\w:])/new (::cudacpu::device_heap)/gr }gsex;
    mark_loops() if $build eq 'counters';
    s/\b__managed__\b/__attribute__((section("cudacpu_managed"), aligned(::cudacpu::largest_page)))/g, s/$read//g for $text, @lines;
    find_vector_words() if $build =~ /hazards|counters/;
    if ($build eq 'counters') {
        order_rounds();
        # g++ knows that a[i] = a[k] does not change a[k]; nvcc loads a[k] again, except in a loop that it unrolls.
        $text =~ s{ (?<= [;{}] ) \s* ((?&word)) \s* (?&s) \s* = \s* \1 \s* (?&s) \K (?= \s* ; ) $cpp }{, ::cudacpu::forget()}gx;
        $text =~ s{ \x01 \K ( for \s* (?&p) \s* (?: (?&p) | [^;{}()] )* (?: (?&b) | ; ) ) $cpp }{ $1 =~ s/, ::cudacpu::forget\(\)//gr }gsex;
    }
    rewrite(qr/\b__global__\b/, qr{ (?<before> (?: __launch_bounds__ \s* (?&p) [\w\s]* )? ) \b __global__ \b
                (?<declaration> (?: (?&attribute) | [^(){};] )*?
                    (?!(?&attribute)) (?<kernel> (?&word) ) \s* (?: (?&a) \s* )? (?<parameters> (?&p) )
                    (?: (?&p) | [^(){};] )*? )
                (?<body> ; | (?&b) ) $cpp }sx, \&kernel);
    refuse($-[0], '__global__ is not followed by a function: write `__global__ void name(...)`') if $text =~ /\b__global__\b/;
    $text =~ s{ \b (?: __launch_bounds__ | __maxnreg__ ) \s* (?&p) $cpp }{ space_of($&) }gex;
    $text =~ s{ (?<!\() \b __noinline__ \b }{__attribute__((noinline))}gx;
    $text =~ s{ \b (?: asm | __asm__ | __asm ) \b \s* (?: \w+ \s* )? (?&p) $cpp }{ assembly($-[0], $&) }gex;
    # cudaFree(p); discards its result, so the program has not seen the error. The program may have a function of this name.
    my %of_the_program;
    $of_the_program{$1} = 1 while $text =~ /\b(cuda[A-Z]\w*) \s* (?&p) [\s\w]* \{ $cpp/gx;
    $text =~ s{ (?<= [;{})] ) (?: \s* else \b )? \s* (?<called> cuda(?:Device|Event|Free|Func|Host|Launch|Malloc|Mem|Set|Stream|Thread)\w* )
                \s* (?&p) (?= \s* ; ) $cpp }{ $& . ($of_the_program{$+{called}} ? '' : ', ::cudacpu::not_looked_at()') }gex;
    rewrite(qr/<\s*<\s*</, qr{ (?<called> (?&callee) ) (?<space> \s* ) < \s* < \s* <
                (?<config> (?: (?&p) | (?&s) | (?&b) | [^(){};] )*? ) > \s* > \s* > \s* (?<arguments> (?&p) ) $cpp }sx, \&launch);
    # a kernel's type determines its arguments: cudaLaunchKernel((void*)k, ...) is passed k
    $text =~ s{ \b cudaLaunch(?:Cooperative)?Kernel \s* \( \K
                (\s* \( \s* (?: const \s+ )? void (?: \s+ const )? \s* \* \s* \) \s* ) (?= &? \s* (?&callee) \s* , ) $cpp
              }{ space_of($1) }gex;
    # nvcc also accepts t.f<true>(x) where t's type depends on a template parameter
    my %is_template;
    $is_template{$1} = 1 while $text =~ /\btemplate \s* (?&a) [^(){};=]*? \b (\w+) \s* \($cpp/gx;
    $text =~ s{ (?: \. | - > ) \s* \K (?= ((?&word)) \s* (?&a) \s* \( ) $cpp }{ $is_template{$1} ? 'template ' : '' }gex;
    refuse($-[0], '<<< is not understood: write kernel<<<grid, block>>>(arguments)')
        if $text =~ /(?<!operator)<\s*<\s*</;
    rewrite(qr/\b__constant__\b/, qr{ \G \s* \K (?<declaration> (?: (?&p) | [^(){};] )*? \b __constant__ \b (?: (?&b) | [^{};] )* ) ;
                $cpp }x, \&constant);
    $text =~ s/\b__constant__\b//g;
    for (['__constant__ memory has 64 KB', 65536, @constants], ['the CPU device has 2 GB for variables of the device', 2_000_000_000, @devices]) {
        my ($what, $most, @names) = @$_;
        $text .= 'static_assert(' . join(' + ', map { "sizeof $_" } @names) . " <= $most, \"$what: @names\");" if @names;
    }
    $text .= "[[maybe_unused]] static const ::cudacpu::HostVariable cudacpu_host_of_$_ {&$_, sizeof $_};" for @host_variables;
    $text .= "[[maybe_unused]] static const ::cudacpu::DeviceVariable cudacpu_first_$_ {(void*)&$_, sizeof $_};"
        for @constants, @devices;
    $text .= "[[maybe_unused]] static ::cudacpu::HostsCopy cudacpu_copy_of_$_ {(void*)&$_, sizeof $_};" for sort keys %hosts_copy;
    rewrite(qr/\b__shared__\b/, qr{ \G (?: (?: (?&p) | [^(){};] )*? (?<! : ) : (?! : ) )?? \s* \K    # after a label
                (?<declaration> (?: (?&p) | :: | [^(){};:] )*? \b __shared__ \b (?: (?&b) | [^{};] )* ) ; $cpp }x, \&shared);
    # A kernel's printf() returns the number of its arguments, if the program uses the result.
    $text =~ s/(?=[=(,+<>!&|r])(?:[=(,+<>!&|]|\breturn\b)\s*\Kprintf(?=\s*\()/::cudacpu::printed/g;
    # AddressSanitizer has no hook in volatile reads, so a thread that spins on one gives way by this call.
    $text =~ s/\bwhile\s*(?&p)\s*\{\K(?=\s*\})$cpp/ ::cudacpu::give_way(); /g if $build eq 'asan' && $says_volatile;
    return $says_volatile;
}

1;
