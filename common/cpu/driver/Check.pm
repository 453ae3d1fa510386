# Check.pm - refuses what nvcc refuses, and what the CPU device cannot do.
package Check;
use strict;
use warnings;
use Exporter 'import';
use Report;
use Source;
our @EXPORT = qw(check_spaces check_constructors check_dynamic_shared refuse_absent %library @constants @devices %hosts_copy);

# The functions and variables outside of classes, each with its position in the text: {head, body, name, parameters, at}. A
# variable has no parameters.
sub file_scope {
    my ($part, $at) = @_;
    my @found;
    while ($part =~ /\G (?<space> \s* ) (?<head> (?: (?&p) | (?&s) | [^(){};\[\]]++ )*+ ) (?: ; | (?<body> (?&b) ) ) $cpp/gosx) {
        my ($head, $body, $place) = ($+{head}, $+{body}, $at + $-[0] + length $+{space});
        my $inside = $place + length $head;
        if (defined $body && $head =~ /(?:\bnamespace\b[^=]*|\bextern\s*"\d+"\s*)$/) {
            push @found, file_scope(substr($body, 1, -1), $inside + 1);
            next;
        }
        my $flat = $head =~ s/\b(?:__launch_bounds__|__attribute__|alignas|decltype|noexcept|requires)\s*(?&p)$cpp//gor =~ s/->[^()]*$//r;
        next if $flat =~ /\b(?:operator|typedef|using|namespace|friend|static_assert)\b|\b(?:class|struct|union|enum)\b[^(]*$/;
        if ($flat !~ /=/ && $flat =~ /(?<scope> :: \s* )? (?<name> (?&word) ) \s* (?: (?&a) \s* )? (?<parameters> (?&p) ) (?: \s | const | override | final )* $ $cpp/ox) {
            push @found, {head => $head, body => $body // '', name => $+{name}, parameters => $+{parameters}, at => $inside}
                if !$+{scope};
        }
        elsif ($flat !~ /\b(?:template|extern|const|constexpr)\b|::\s*\w+\s*(?:=.*)?$/s && $flat !~ /^[^=]*\(/) {
            my ($first, @more) = map { s/[=[].*//sr } items($flat);
            next if ($first // '') !~ /[\w>][\s*&]+(?&word)\s*$cpp$/;
            push @found, map { /((?&word))\s*$cpp$/ ? {head => $head, name => $1, at => $place} : () } $first, @more;
        }
    }
    return @found;
}

# Whether a function may declare the name itself, so that the name means its own variable.
sub declares {
    my ($function, $name) = @_;
    return ($function->{declared} //= names_declared_in($function))->{$name};
}

sub names_declared_in {
    my ($function) = @_;
    my ($body, %declared) = $function->{body};
    my $all_of = sub { $declared{$_} = 1 for "@_" =~ /[\w\x80-\xff]+/g };
    my $name = qr/([\w\x80-\xff]++)/;
    my $word = qr/(?:\b(?:const|static|volatile|register|constexpr|unsigned|signed|long|short|extern|__shared__|typename|struct|auto)\b\s*)*/;
    my $type = '(?!(?:return|else|case|throw|delete|goto|new)\b)(?:::\s*)?[\w:]+\s*(?:(?&a)\s*)?';
    $all_of->($1) if $function->{head} =~ /[<(](.*)/s;
    # (*FAIL) makes Perl try each way to read the beginning of a statement as a type and a name.
    $body =~ /(?:[;{}:]|\b(?:for|if|while|switch)\s*\()\s*$word$type[\s*&]+(?:const\b\s*)?\b$name(?{ $declared{$^N} = 1 })(*FAIL)$cpp/;
    $all_of->($1 =~ /,\s*$name\s*=/g) while $body =~ /\bfor\s*\(([^;]*)/g;
    $all_of->($1) while $body =~ /\]\s*\(([^()]*)\)[^;(){}]*\{/g;
    $all_of->($1) while $body =~ /\bauto\s*&{0,2}\s*\[([^\]]*)/g;
    $all_of->($1) while $body =~ /\b(?:enum|using|typedef|struct|class)\b([^;]*)/g;
    $all_of->($body =~ s/(?&p)$cpp//gr =~ /,[\s*&]*$name\s*(?=[=;,\[{(])/g);
    return \%declared;
}

# The host's library, except functions that the device has as well: printf, malloc and mathematics.
my $host_library = qr/\bstd\s*::\s*(?:vector|w?string|w?cout|cerr|endl|map|set|list|deque|unordered_\w+|sort|stable_sort|shared_ptr
    |unique_ptr|function|thread|mutex|\w?stringstream|to_string|random_device|mt19937)\b
    |(?<![\w.>:])(?:rand|srand|fprintf|fopen|puts|scanf|exit|getenv|system|s?n?printf(?<!\bprintf)|gettimeofday)(?=\s*\()/x;
# Whether the system's files declare a function of this name. (Which function a call means depends on types.) It takes half a
# second, because the precompiled header's declarations are not in the text, so it is asked only before a refusal.
our $whole;    # returns the lines of the preprocessed program with the declarations of the precompiled header
my %of_library;
sub in_a_library {
    my ($name) = @_;
    if (!%of_library) {
        my $in_system = 1;
        for ($whole->()) {
            if (/^# \d+ ".*?"([ \d]*)$/) { $in_system = $1 =~ /3/ }
            elsif ($in_system) { $of_library{$_} = 1 for /(?<!\breturn)(?<!\belse)(?:[\w>]\s+|[*&])(\w{2,})\s*\(/g }
        }
    }
    return $of_library{$name};
}

# Host-only member functions, if that is certain: {name => 1} of those called by name, {class => 1} of classes with such a
# constructor, {class => 1} of classes with such a constructor without parameters.
sub hosts_members {
    my (%methods, %built, %built_empty, %seen);
    my $plain = $text =~ s/\b(?:__attribute__|__launch_bounds__|alignas|decltype|noexcept|explicit|requires)\s*(?&p)$cpp//gr;
    my %others = map { $_ => 1 } $plain =~ /\b(?:__device__|constexpr|consteval)\b[^;{}()]*?\b(\w+)\s*\(/g;
    while ($plain =~ /\b(?:class|struct)\s+((?&word))([^(){};=]*)((?&b))$cpp/g) {
        my ($class, $bases, $inside) = ($1, $2, substr $3, 1, -1);
        $others{$class} = 1 if $seen{$class}++ || $bases =~ /\w/;
        $inside =~ s/(?<=\)) ((?:\s|const\b|noexcept\b)*) : (?!:) \s* (?: (?&callee) \s* (?: (?&b) \s* )? (?: ,\s* )? )+ (?=\{) $cpp/$1/gx;
        $inside =~ s/(?&b)$cpp/;/g;
        $inside =~ s/\b(?:public|protected|private)\s*:(?!:)//g;
        for (split /;/, $inside) {
            my ($head, $name, $parameters, $tail) = /^ ( [^()=]*? ) (?<![~\w:]) ((?&word)) \s* ((?&p)) ( .* ) $ $cpp/osx or next;
            next if $head =~ /\b(?:operator|friend|using|typedef)\b|~/ || $name eq 'operator' || $tail =~ /=\s*(?:default|delete)/;
            if ($name ne $class) { $methods{$name} = 1 }
            elsif ($parameters !~ /^\(\s*(?:const\s+)?\Q$class\E\b(?!\s*\*)/) {
                $built{$class} = 1;
                $built_empty{$class} = 1 if $parameters =~ /^\(\s*\)$/ || !grep { !/=/ } items(substr $parameters, 1, -1);
            }
        }
    }
    for my $found (\%methods, \%built, \%built_empty) { delete @$found{keys %others} }
    # The name of a variable may be a functor's.
    delete $methods{$1} while $plain =~ /(?:[\w>][\s*&]+|\(\s*\*\s*)(?=((?&word))\s*(?:[;,=\[\{]|\)\s*\())$cpp/g;
    return \(%methods, %built, %built_empty);
}

# What is between the last semicolon and the offset.
sub statement_before {
    my ($body, $offset) = @_;
    my $begin = 1 + rindex $body, ';', $offset - 1;
    return substr $body, $begin, $offset - $begin;
}

# Refuses what a kernel or a __device__ function cannot do, and what the host cannot, where the CPU device would run it.
# Returns the host variables whose addresses are passed to kernels: only the launch shows whether that is an error.
# %hosts_copy has the device variables that host functions name; @constants and @devices have those whose sizes are needed.
our (%hosts_copy, @constants, @devices);
sub check_spaces {
    my (%spaces, %variables, %place_of, %is_array, %is_const, %warned, %host_variables, @functions, @set);
    %hosts_copy = ();
    my $outside = sub { around($place_of{$_[0]}) == 1 };    # otherwise in a namespace
    for my $f (file_scope($text, 0)) {
        next if $f->{name} =~ /^(?:if|for|while|switch)$/;    # a statement outside of functions: g++ reports it
        my ($device, $host) = map { scalar $f->{head} =~ /\b__${_}__\b/ } qw(device host);
        if (!$f->{parameters}) {
            $place_of{$f->{name}} = $f->{at};
            $is_array{$f->{name}} = 1 if $f->{head} =~ /\b\Q$f->{name}\E\s*\[/;
            $is_const{$f->{name}} = 1 if $f->{head} =~ /\bconst(?:expr)?\b/;
            $variables{$f->{name}} .= $f->{head} =~ /\b__(managed|shared|constant)__\b/ ? substr $1, 0, 1 : $device ? 'd' : 'h';
            push @set, $f if $variables{$f->{name}} !~ /h/ && $f->{head} =~ /=/;
            next;
        }
        $f->{is} = $f->{head} =~ /\b__global__\b/ ? 'k' : $device ? ($host ? 'b' : 'd') : $f->{head} =~ /\bconst(?:expr|eval)\b/ ? 'b' : 'h';
        $spaces{$f->{name}} .= $f->{is};
        push @functions, $f if $f->{body};
    }
    for my $f (@set) {
        my ($called) = grep { ($spaces{$_} // '') =~ /^[hd]+$/ || /^(?:sqrt|sin|cos|tan|exp|log|log2|pow|rand|time|malloc)f?$/ }
            $f->{head} =~ s/^[^=]*=//r =~ /(?<![\w.>:])(\w+)\s*\(/g;
        refuse($f->{at}, "$f->{name} is a variable of the device: what it begins with must be known when it is compiled, and "
            . "$called() is called when the program runs: set it with cudaMemcpyToSymbol") if $called;
    }
    my ($host_methods, $built_by_host, $built_empty) = hosts_members();
    my $who_may = 'write __device__ before it, or __host__ __device__ if the host also calls it';
    my (%members, %methods);    # static variables of classes, which are the host's; and device-only functions
    while ($text =~ /\b(?:class|struct)\s+((?&word))[^(){};]*((?&b))$cpp/g) {
        my ($class, $inside) = ("$1", substr $2, 1, -1);
        $inside =~ s/(?&b)$cpp//g;
        $members{"$class\::$1"} = 1 while $inside =~ /\bstatic\b(?![^;]*\b(?:const|constexpr|__device__|__managed__|__constant__)\b)
            [^;(){}=]*[\s*&]((?&word))\s*(?:(?&s)\s*)*(?:=[^;]*)?;$cpp/gx;
        while ($inside =~ /([^;(){}:]*)[\s*&]((?&word))\s*\($cpp/g) {
            my ($head, $name) = ($1, $2);
            my $is = $head =~ /\b__device__\b/ && $head !~ /\b__host__\b/ ? 'd' : 'h';
            $methods{$_} .= $is for $name, "$class\::$name", "$class\::";
        }
    }
    my $address_on_the_host = sub {
        advise($_[0], "$_[1] is a __device__ function: a kernel on a GPU cannot call the address that the host has; copy one from "
            . "a __device__ variable with cudaMemcpyFromSymbol, or make it a template's argument") if !$warned{$_[1]}++;
    };
    for my $f (@functions) {
        # The body of a lambda or a class within the host's function is excluded.
        my $body = $f->{body} =~ s{(?: (?&s) \s* (?: __host__ \s* )? __device__ | \b(?:struct|class)\b ) [^{};]* (?&b) $cpp}{$& =~ s/[^\n]/ /gr}gosexr;
        my $on_device = $f->{is} =~ /[kd]/;
        my $who = $f->{is} eq 'k' ? 'a kernel' : 'a __device__ function';
        my $at = $f->{at};
        if ($on_device) {
            refuse($at + $-[0], "$who cannot throw or catch: return an error code, or call __trap()") if $body =~ /\bthrow\b|\btry\s*\{/;
            refuse($at + $-[0], 'a kernel is launched from a kernel (dynamic parallelism): the CPU device cannot do that; launch it '
                . 'from the host') if $body =~ /<\s*<\s*<(?!\s*<)/;
            while (%$host_methods && $body =~ /(?:\.|->)\s*((?&word))\s*\($cpp/go) {
                my ($name, $place) = ($1, $at + $-[1]);
                refuse($place, "$name is a function of the host, and $who cannot call it: $who_may")
                    if $host_methods->{$name} && !$spaces{$name}
                        && ("$f->{head}$body" !~ /\b(?:std|auto|template|cg|cooperative_groups)\b/ || !in_a_library($name));
            }
            while (%$built_by_host && $body =~ /(?<![\w.:>])((?&word))(?:\s*(?&a))?\s+((?&word))\s*(?:[;\[]|((?&p)|(?&b)))$cpp/go) {
                my ($class, $given, $place) = ($1, $3, $at + $-[1]);
                my $by_host = $given ? $built_by_host->{$class} && items(substr $given, 1, -1) > 1 : $built_empty->{$class};
                refuse($place, "the constructor of $class is a function of the host, and $who cannot call it: $who_may") if $by_host;
            }
            while ($body =~ /($host_library)/g) {
                my ($name, $place) = ($1, $at + $-[0]);
                my $last = $name =~ s/.*://sr;
                refuse($place, "$name is of the host's library, and $who cannot use it: use it on the host, and pass the result as an argument") if !$spaces{$last} && !declares($f, $last);
            }
            while (%members && $body =~ /\b((?&word))\s*::\s*((?&word))$cpp/go) {
                refuse($at + $-[1], "$1::$2 is a variable of the host, and $who cannot use it: pass it as an argument")
                    if $members{"$1::$2"};
            }
            my %argument = map { $_ => 1 } map { parameter_name($_) // () } items(substr $f->{parameters}, 1, -1);
            while ($body =~ /[;{}]\s*(?:(?:const|unsigned|signed)\s+)*(?!(?:return|delete|else|do|goto|throw|case|co_\w+)\b)(?:\w+::)*\w+\s+(\w+)\s*\[\s*(blockDim|[A-Za-z_]\w*)\b[^\]\[]*\]\s*[;=\[]/g) {
                refuse($at + $-[1], "$1: an array of $who needs a size that is known when it is compiled: take the largest, or use extern __shared__")
                    if $2 eq 'blockDim' || $argument{$2};
            }
        }
        while ($f->{is} eq 'h' && $body =~ /(?<!&)&\s*((?&word))\s*::\s*((?&word))\b(?!\s*(?:::|\())$cpp/go) {
            my ($place, $class, $name) = ($-[1], $1, $2);    # the class may be a template argument
            my $is = $methods{$methods{"$class\::"} ? "$class\::$name" : $name} // '';
            $address_on_the_host->($at + $place, "$class\::$name")
                if $is =~ /^d+$/ && statement_before($body, $place) !~ /[\w>]\s*<[^;(){}]*$/;
        }
        refuse($at + $-[1], "$1 belongs outside of functions: declare the variable there") if $body =~ /[;{}]\s*(__(?:device|constant|managed)__)\s+[\w:]/;
        while ($body =~ /(?<![\w.>:"])((?&word))\b(\s*\()?(\s*(?:(?&s)\s*)*(?:(?:[-+*\/%&|^]|<<|>>)?=(?!=)|\+\+|--))?$cpp/go) {
            next if !$spaces{$1} && !$variables{$1};
            my ($name, $call, $writes, $place) = ($1, $2, $3, $at + $-[1]);
            if ($call && ($on_device || $f->{is} eq 'h')) {
                my $is = $spaces{$name} // next;
                next if $is !~ ($on_device ? qr/^h+$/ : qr/^d+$/) || (!$on_device && $f->{head} =~ /\btemplate\b/);
                next if declares($f, $name) || in_a_library($name);
                refuse($place, $on_device ? "$name is a function of the host, and $who cannot call it: $who_may"
                    : "$name is a __device__ function, and the host cannot call it: write __host__ __device__ before it, or call it from a kernel");
            }
            elsif ($writes && $on_device && ($variables{$name} // '') eq 'c' && !declares($f, $name)) {
                refuse($place, "$name is __constant__: $who cannot write it; the host does, with cudaMemcpyToSymbol");
            }
            elsif (!$call && $on_device && ($variables{$name} // '') =~ /^h+$/ && !$spaces{$name} && !declares($f, $name)) {
                refuse($place, "$name is a variable of the host, and $who cannot use it: pass it as an argument, or write "
                    . '__device__ or __constant__ before it');
            }
            elsif (!$call && $f->{is} eq 'h' && ($spaces{$name} // '') =~ /^d+$/ && !$variables{$name}
                && !declares($f, $name) && statement_before($f->{body}, $place - $f->{at}) !~ /[\w>]\s*<[^;(){}]*$|\bdecltype\b[^;]*$/) {
                $address_on_the_host->($place, $name);
            }
            elsif (!$call && $f->{is} =~ /[hb]/ && ($variables{$name} // '') =~ /^[dc]$/ && !$warned{$name} && !declares($f, $name)
                && statement_before($f->{body}, $place - $f->{at}) !~ /\b(?:\w*Symbol\w*\b[^;{}]*|(?:sizeof|decltype)\b[\s(*]*)$/) {
                $warned{$name} = 1;
                advise($place, "$name is a variable of the device: the host has a copy of its own at another address: use "
                    . "cudaMemcpyToSymbol, cudaMemcpyFromSymbol or cudaGetSymbolAddress");
                $hosts_copy{$name} = 1 if !$is_const{$name} && $outside->($name);
            }
        }
    }
    while ($text =~ /(?<![\w.>:"])((?&word))(?=\s*+<)(?:\s*(?&a))?\s*<\s*<\s*<$cpp/go) {
        my ($name, $at) = ($1, $-[0]);
        refuse($at, "$name is not a kernel: write __global__ before it, or call it without <<<>>>")
            if !$variables{$name} && ($spaces{$name} // '') =~ /^[hbd]+$/;
    }
    my $lambda = '(?&s) \s* (?&p)?+ \s* (?: mutable \s* )? (?: -> [^{};]* )? \{';
    for my $f (grep { $_->{is} eq 'h' } @functions) {
        my %is_lambda;
        $is_lambda{$1} = 1 while $f->{body} =~ /\bauto \s+ (\w+) \s* = \s* (?= $lambda ) $cpp/gx;
        while ($f->{body} =~ /< \s* < \s* < [^;{}]*? > \s* > \s* > \s* ((?&p)) $cpp/gox) {
            my ($at, @given) = ($f->{at} + $-[1], items(substr $1, 1, -1));
            my ($named) = grep { $is_lambda{$_} } map { /^\s*(\w+)\s*$/ } @given;
            refuse($at, 'a kernel cannot call a lambda of the host: write [=] __device__ (...) { ... }')
                if $named || grep { /^ \s* $lambda $cpp/x } @given;
            for my $argument (@given) {
                my ($address, $name) = $argument =~ /^\s*(?:\([^()]*\*\s*\)\s*)?(&?)\s*((?&word)|"\d+")\s*$$cpp/ or next;
                refuse($at, 'a kernel cannot read a string of the host: copy it into memory of cudaMalloc')
                    if $name =~ /"(\d+)/ && $literals[$1] !~ /^'/;
                $host_variables{$name} = 1
                    if ($variables{$name} // '') eq 'h' && ($address || $is_array{$name}) && !declares($f, $name) && $outside->($name);
            }
        }
    }
    while ($text =~ /\bcuda(?:Memcpy(To|From)Symbol(?:Async)?|GetSymbol(?:Address|Size))\s*((?&p))$cpp/g) {
        my ($at, $symbol) = ($-[0], (items(substr $2, 1, -1))[$1 && $1 eq 'To' ? 0 : 1] // '');
        refuse($at, $literals[$1] . ' is a string, and since CUDA 5 the variable itself is wanted: write ' . substr($literals[$1], 1, -1)
            . ' without the quotes') if $symbol =~ /^\s*"(\d+)"\s*$/;
    }
    print_advice();
    my @outside = grep { $variables{$_} =~ /^[cdm]$/ && $outside->($_) } sort keys %variables;
    @constants = grep { $variables{$_} eq 'c' } @outside;
    @devices = grep { $variables{$_} ne 'c' } @outside;
    return sort keys %host_variables;
}

# `extern __shared__ float s[]` in one function and `extern __shared__ int s[]` in another give one name two types.
sub check_dynamic_shared {
    my %type_of;
    while ($text =~ /\bextern\s+__shared__\s+((?:(?:unsigned|signed|bool|char|short|int|long|float|double|u?int[234]|float[234]|double2)\s+)+)(\w+)\s*\[/g) {
        my ($type, $name, $at) = ($1, $2, $-[0]);
        $type = flat($type) =~ s/ $//r;
        my @namespaces = map { /\bnamespace\b([^;{}]*)\{$/ } around($at);
        my $other = $type_of{"@namespaces $name"} //= $type;
        refuse($at, "extern __shared__ $name is of type $other above: give this one another name") if $other ne $type;
    }
}

# Unsupported features, and the names that request them. Names that are missing here do not compile.
our %library;    # libraries whose headers the program includes
my %absent = (
    'textures over arrays and no surfaces: read and write the memory by its index, or use tex1Dfetch() and cudaResourceTypeLinear' =>
        qr/cuda(?!TextureObject_t|(?:Create|Destroy)TextureObject\b|Texture(?:Desc|(?:Address|Filter|Read)Mode)\b)\w*(?:Texture|Surface)\w*
        |cudaResource(?!Desc\b|Type(?:Linear)?\b)\w*|tex(?!1Dfetch\b)[123]D\w*|surf[123]D\w*|cuda(?!DevP2P)\w*Array\w*
        |cuda(?!Create)\w*ChannelDesc/x,
    'texture references: create a texture object with cudaCreateTextureObject()' => qr/texture(?=\s*<)|textureReference/,
    'graphs: launch the kernels one by one' => qr/cudaGraph(?!ics)\w*|cudaStream\w*Captur\w*|cudaThreadExchangeStreamCaptureMode
        |cudaDevice\w*GraphMem\w*|cudaUserObject\w*/x,
    'memory pools of this kind: use cudaMalloc' => qr/cudaMemPool(?:Export|Import|[GS]etAccess|Ptr)\w*|cudaMemAccessDesc|cudaMem[GS]et(?:Default)?MemPool/,
    'peers: there is one device' => qr/cudaMemcpy3DPeer\w*|cudaIpc\w*|cuda\w*External(?:Memory|Semaphore)\w*|cudaDeviceGetNvSciSyncAttributes/,
    'cuRAND for the host: use curand_init() and curand_uniform() of curand_kernel.h in a kernel' =>
        qr/curand(?:Generat|Create|Destroy|Set|Get|Status|Rng|Order)\w*|CURAND_(?:RNG|STATUS|ORDERING)_\w*/,
    'random numbers of this kind: use a curandState, and uniform or normal numbers' =>
        qr/curandState(?:MRG|Mtgp|Sobol|Scrambled)\w*|curandDirection\w*|curandDiscrete\w*|curand_(?:poisson|discrete)\w*/,
    'atomics of this kind: use atomicAdd(), atomicCAS() and the like' => qr/__nv_atomic_\w+/,
    'clusters: write kernel<<<grid, block>>>(...)' => qr/__cluster_dims__|cluster_group|this_cluster|cudaLaunchAttributeCluster\w*|cudaOccupancyMax\w+Cluster\w*/,
    'tiles of more than 32 threads: use the block' => qr/tiled_partition(?=\s*<\s*(?:64|128|256|512)\s*>)/,
    'barriers in two parts: use sync()' => qr/barrier_arrive|barrier_wait/,
    'launch and stream attributes of this kind: leave them out' => qr/cudaAccessP\w*|cudaStreamAttr\w*|cudaStream[GS]etAttribute|cudaStreamCopyAttributes
        |cudaLaunchAttribute(?!Ignore|Cooperative|ProgrammaticStream|Priority|Value|ID)\w+/x,
    'launches of a kernel without its type: write cudaLaunchKernelEx(&config, kernel, arguments...)' => qr/cudaLaunchKernelExC/,
    'launches of CUDA 4: write kernel<<<grid, block>>>(...)' => qr/cudaConfigureCall|cudaSetupArgument|cudaLaunch/,
    'copies in batches: make them one by one' => qr/cudaMem\w*Batch\w*/,
    'memory of advice: keep in mind what was advised' => qr/cudaMemRangeGetAttributes?/,
    'windows and their libraries: write the result into a file' => qr/cudaGraphics\w*|cuda(?:GL|D3D|VDPAU|EGL)\w*/,
    'addresses for inline PTX: use the pointer' => qr/__cvta_\w+/,
    'launches on several devices' => qr/cudaLaunchCooperativeKernelMultiDevice|multi_grid_group|this_multi_grid/,
    'driver API: use the runtime API' => qr/CU(?:device|deviceptr|context|module|function|result|jit\w+|mem\w+)
        |cu(?:Ctx|Module|Mem|Launch|Stream|Event|Device|Func|Link)[A-Z]\w*
        |cuda(?:Library|Log|GetDriverEntryPoint|DriverEntryPoint|KernelSet)\w*|cuda(?:GetKernel|Kernel_t|Function_t|GetFuncBySymbol|GetExportTable|FuncGetParamInfo)/x,
);

sub refuse_absent {
    my %of_the_program;
    $absent{"$_: CUDA's libraries need a GPU"} = qr/$_\w*|\U$_\E_\w*/ for grep { $_ ne 'curand' } keys %library;
    my $any = join '|', values %absent;
    while ($text =~ /\b(?=[A-Za-z_])(?!cudaError)($any)\b/g) {
        my ($name, $at) = ($1, $-[0]);
        # The program may define this name itself.
        next if $of_the_program{$name} //= $name !~ /^__/
            && $text =~ /\b(?!(?:const|struct|return|new|else|typename|case|throw)\b)[\w>]+
                (?:\s*[*&\s]\s*\b$name\s*[=;,)\[{] | \s+$name\s*\()/x;
        pos($text) = $at;
        my ($what) = grep { $text =~ /\G$absent{$_}\b/ } sort keys %absent;
        refuse($at, "$name: the CPU device has no $what");
    }
    my @headers_of_cub = map { s/\\(["\\])/$1/gr } grep { m{/cudacpu/cub_\w+\.hpp$} } keys %is_system;
    my %word_of_cub = map { $_ => 1 } map { /\w+/g } map { lines_in($_) } @headers_of_cub;
    while (%word_of_cub && $text =~ /\bcub\s*::\s*((?&word))$cpp/g) {
        refuse($-[1], "cub::$1: the CPU device's CUB has the collectives of warps and blocks and the most common algorithms for arrays, "
            . 'but not this') if !$word_of_cub{$1};
    }
}

# nvcc accepts a variable of a class on the device if the constructor is constexpr or empty. constinit makes the compiler
# refuse all others, including empty ones. So classes with an empty constructor, and classes that use one, are left out.
sub check_constructors {
    my (%text_of, %empty);
    $text_of{$1} .= $2 while $text =~ /\b(?:class|struct)\s+((?&word))(?=([^;(){}=]*(?&b)))$cpp/g;
    $text_of{$1} .= $2 while $text =~ /\busing\s+((?&word))\s*=([^;]*);$cpp/g;
    $text_of{$2} .= $1 while $text =~ /\btypedef\b([^;{}]*?)((?&word))\s*;$cpp/g;
    while ($text =~ /(?<!~)\b((?&word))\s*(?&p)\s*(?:noexcept\s*)?\{\s*\}$cpp/g) { $empty{$1} = 1 if defined $text_of{$1} }
    for (1 .. 3) {
        my $empty = join('|', keys %empty) || last;
        $empty{$_} = 1 for grep { $text_of{$_} =~ /\b(?:$empty)\b/ } keys %text_of;
    }
    my $checked = sub {
        my ($qualifiers, $offset, $declared, $made) = @_;
        my ($before) = around($offset);
        my @classes = grep { defined $text_of{$_} } ($declared . ' ' . ($made // '')) =~ /\w+/g;
        return $qualifiers if !@classes || grep({ $empty{$_} } @classes)
            || "$before $declared" =~ /\b(?:extern|constexpr|constinit|typedef|class|struct|union|enum|operator|__shared__)\b/;
        return "${qualifiers}constinit ";
    };
    $text =~ s{ (?<qualifiers> (?: \b__(?:device|constant|managed)__\b \s* )+ )
                (?= (?<declared> [^;(){}=]* ) (?: ; | \{ | \( \s* [-+.\d"] | = \s* (?<made> (?&word) \s* (?: (?&a) \s* )? ) (?: (?&p) | (?&b) ) \s* ; ) )
                $cpp }{ $checked->($+{qualifiers}, $-[0], @+{qw(declared made)}) }gsex and forget_index();
}

1;
