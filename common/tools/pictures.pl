#!/usr/bin/perl
# pictures.pl TRACES OUT [NN...]: draws the pictures of the samples' pages from runs. It reads the traces in the folder TRACES,
# which pictures.sh makes, and the H200's figures in NN_name/results/. Each becomes four files in OUT/NN_name/pictures/:
# NAME.svg and NAME.dark.svg in English, NAME.zh.svg and NAME.zh.dark.svg in Chinese. With NN: the pictures of these samples.
# No text is smaller than 12 px where the picture is 830 px wide, as on GitHub. All text has a contrast of 4.5 or more.
# Run it in the top folder. Exit status: 0 all are drawn; else a message says what is missing.
use strict;
use warnings;
use utf8;
use JSON::PP;
binmode STDERR, ":encoding(UTF-8)";
my ($traces, $top, @only) = @ARGV;
die "pictures.pl: type pictures.pl TRACES OUT [NN...]\n" if !defined $top;

# ---- a picture: its size, its marks, its words ---------------------------------------------------------------------------
my %themes = (
    light => {page => "#ffffff", ink => "#1f2933", soft => "#56616c", line => "#c3cad2", idle => "#e8ecf0", blue => "#1d5fa8",
              pale => "#d6e6f7", orange => "#b3470b", amber => "#f9cba6", green => "#1f7a4d", mint => "#d9f0e3"},
    dark => {page => "#0d1117", ink => "#e6edf3", soft => "#a5aeb8", line => "#3d4550", idle => "#222931", blue => "#6fb3ff",
             pale => "#1f3f63", orange => "#ffab70", amber => "#5a3015", green => "#5fd39a", mint => "#1a4630"});
my ($theme, $chinese, @marks);
my $width = 830;
sub t { my ($english, $zh) = @_; return $chinese ? $zh : $english }
sub paint { my ($name) = @_; return $themes{$theme}{$name} // die "pictures.pl: there is no colour $name\n" }

# The ratio of luminances, as the Web Content Accessibility Guidelines 2.1 define it.
sub contrast {
    my @luminance;
    for my $colour (@_) {
        my @part = map { my $x = hex($_) / 255; $x <= 0.03928 ? $x / 12.92 : (($x + 0.055) / 1.055)**2.4 } $colour =~ /([0-9a-f]{2})/g;
        push @luminance, 0.2126 * $part[0] + 0.7152 * $part[1] + 0.0722 * $part[2];
    }
    my ($low, $high) = sort { $a <=> $b } @luminance;
    return ($high + 0.05) / ($low + 0.05);
}
sub number { my $text = sprintf "%.1f", shift; $text =~ s/\.0$//; return $text }

# text X, Y, WORDS, and what is not usual: size, colour, on (the colour below it), anchor (start), bold, code
sub text {
    my ($x, $y, $words, %how) = (@_[0 .. 2], size => 14, colour => "ink", on => "page", anchor => "start", @_[3 .. $#_]);
    my $ratio = contrast(paint($how{colour}), paint($how{on}));
    die sprintf("pictures.pl: '%s', %s on %s (%s): contrast %.2f\n", $words, $how{colour}, $how{on}, $theme, $ratio) if $ratio < 4.5;
    die "pictures.pl: '$words' is too small\n" if $how{size} < 12;
    my $wide = 0; # about, in the fonts that are usual
    $wide += $how{size} * (ord > 0x2e80 ? 1 : $how{code} || $how{bold} ? 0.62 : 0.57) for split //, $words;
    my $from = $x - $wide * {start => 0, middle => 0.5, end => 1}->{$how{anchor}};
    die "pictures.pl: '$words' does not fit into the picture\n" if $from < 4 || $from + $wide > $width - 4;
    $words =~ s/&/&amp;/g;
    $words =~ s/</&lt;/g;
    my $class = join " ", $how{colour}, ($how{bold} ? "bold" : ()), ($how{code} ? "code" : ());
    my $anchor = $how{anchor} eq "start" ? "" : qq( text-anchor="$how{anchor}");
    my $size = $how{size} == 14 ? "" : qq( font-size="$how{size}");
    push @marks, sprintf qq(<text x="%s" y="%s" class="%s"%s%s>%s</text>), number($x), number($y), $class, $anchor, $size, $words;
}
# Many boxes of one colour are one path. boxes COLOUR, [X, Y, WIDTH, HEIGHT]...
sub boxes {
    my $colour = shift;
    my $path = join "", map { sprintf "M%s %sh%sv%sh-%sz", map { number($_) } @$_[0 .. 3], $_->[2] } @_;
    push @marks, qq(<path class="$colour" d="$path"/>) if @_;
}
sub line { # X1, Y1, X2, Y2, and what is not usual: colour, width, dash, head
    my ($x1, $y1, $x2, $y2, %how) = (@_[0 .. 3], colour => "soft", width => 1, @_[4 .. $#_]);
    my $more = ($how{dash} ? qq( stroke-dasharray="$how{dash}") : "") . ($how{head} ? ' marker-end="url(#head)"' : "");
    push @marks, sprintf qq(<line x1="%s" y1="%s" x2="%s" y2="%s" stroke="%s" stroke-width="%s"%s/>), (map { number($_) } $x1, $y1, $x2, $y2),
        paint($how{colour}), $how{width}, $more;
}
# draw FOLDER, NAME, sub: calls it once for each theme and language; it makes the marks and returns (height, title).
sub draw {
    my ($folder, $name, $make) = @_;
    my ($number) = $folder =~ /^(\d+)/;
    return if @only && !grep { $_ eq $number } @only;
    mkdir $_ for $top, "$top/$folder", "$top/$folder/pictures";
    for my $case (["", "light", 0], [".dark", "dark", 0], [".zh", "light", 1], [".zh.dark", "dark", 1]) {
        (my $suffix, $theme, $chinese) = @$case;
        @marks = ();
        my ($height, $title) = $make->();
        my $classes = join "\n", map { ".$_ { fill: " . paint($_) . " }" } sort keys %{$themes{$theme}};
        my $file = "$top/$folder/pictures/$name$suffix.svg";
        open my $out, ">:encoding(UTF-8)", $file or die "pictures.pl: cannot write $file: $!\n";
        print $out qq(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 $width $height" width="$width" height="$height" role="img">\n),
            qq(<title>$title</title>\n<style>\ntext { font: 14px system-ui, "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", sans-serif }\n),
            qq(text[font-size="12"] { font-size: 12px }\ntext[font-size="16"] { font-size: 16px }\n),
            qq(text.code { font-family: ui-monospace, Menlo, Consolas, monospace }\n.bold { font-weight: bold }\n$classes\n</style>\n),
            qq(<marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">),
            qq(<path d="M0 0L8 4L0 8z" class="soft"/></marker>\n<rect width="$width" height="$height" rx="8" class="page"/>\n),
            join("\n", @marks), "\n</svg>\n";
        close $out or die "pictures.pl: cannot write $file: $!\n";
    }
    print "$folder/pictures/$name.svg\n";
}

# ---- what runs have left ---------------------------------------------------------------------------------------------------
# A trace, as common/cpu/src/warp/record.hpp describes it: the launch of the kernel whose name begins with KERNEL.
sub trace {
    my ($file, $kernel) = @_;
    open my $in, "<:encoding(UTF-8)", "$traces/$file.html" or die "pictures.pl: cannot read $traces/$file.html: $!\n";
    local $/;
    my $page = <$in>;
    my ($text) = $page =~ /<script type="application\/json" id="trace">(.*?)<\/script>/s or die "pictures.pl: no trace in $traces/$file.html\n";
    my $all = eval { JSON::PP->new->decode($text) } or die "pictures.pl: $traces/$file.html: $@";
    my ($launch) = grep { $_->{kernel} =~ /^\Q$kernel\E\b/ } @{$all->{launches}};
    $launch or die "pictures.pl: no launch of $kernel in $traces/$file.html\n";
    return $launch;
}
sub lanes_of { my ($event) = @_; return grep { $event->{mask} >> $_ & 1 } 0 .. 31 }
sub space_of { my ($launch, $event) = @_; return defined $event->{array} ? $launch->{arrays}[$event->{array}]{space} : "" }
# events LAUNCH, KIND, SPACE: those of the first warp that is drawn
sub events {
    my ($launch, $kind, $space) = @_;
    return grep { $_->{column} == 0 && $_->{kind} eq $kind && space_of($launch, $_) eq $space } @{$launch->{events}};
}

# A CSV file's rows, by their column's names.
sub rows {
    my ($file) = @_;
    open my $in, "<:encoding(UTF-8)", $file or die "pictures.pl: cannot read $file: $!\n";
    my (@names, @all);
    while (my $row = <$in>) {
        chomp $row;
        my @cells;
        while ($row =~ /\G(?:"([^"]*)"|([^,]*))(,|$)/g) {
            push @cells, $1 // $2;
            last if $3 eq "";
        }
        if (!@names) { @names = @cells; next }
        my %cell;
        @cell{@names} = @cells;
        push @all, \%cell;
    }
    return @all;
}
sub row { # FILE, VARIANT
    my ($file, $variant) = @_;
    my ($row) = grep { $_->{variant} eq $variant } rows($file);
    return $row // die "pictures.pl: $file has no row $variant\n";
}
sub time_text { my ($us) = @_; return $us < 10 ? sprintf "%.2f µs", $us : $us < 1000 ? sprintf "%.1f µs", $us : sprintf "%.2f ms", $us / 1000 }

# ---- 32 banks: which lane takes which bank, and when -------------------------------------------------------------------------
# panel of banks: Y, LAUNCH, EVENT (a shared access), HEADING; returns the y below it
sub bank_panel {
    my ($y, $launch, $event, $heading) = @_;
    my $array = $launch->{arrays}[$event->{array}];
    my (@served, %turn_of, $n);
    my $k = 0;
    for my $lane (lanes_of($event)) {
        my $word = ($array->{offset} + $event->{elements}[$k++] * $array->{element}) / 4;
        my $bank = $word % 32;
        $turn_of{$word} //= $served[$bank]++ // 0;
        push @{$n->{$turn_of{$word}}{$bank}}, $lane;
    }
    my $turns = 1 + $event->{conflicts};
    die "pictures.pl: $turns turns, and " . keys(%$n) . " are drawn\n" if $turns != keys %$n;
    my ($left, $each, $tall) = (84, 22.9, 17);
    text(16, $y + 16, $heading->[0], bold => 1, code => 1, size => 16);
    text(16 + 10 * length($heading->[0]) + 14, $y + 16, $heading->[1]);
    text(16, $y + 38, "bank", size => 12, colour => "soft");
    text($left + ($_ + 0.5) * $each, $y + 38, $_, size => 12, colour => "soft", anchor => "middle") for 0 .. 31;
    $y += 44;
    for my $turn (0 .. $turns - 1) {
        text(16, $y + 13, t("turn ", "第 ") . ($turn + 1) . t("", " 轮"), size => 12, colour => $turn ? "orange" : "soft");
        my @at = map { [$left + $_ * $each + 0.5, $y + 0.5, $each - 1, $tall - 1] } 0 .. 31;
        my $taken = $n->{$turn};
        my $colour = $turn ? "orange" : "blue";
        boxes("idle", map { $at[$_] } grep { !$taken->{$_} } 0 .. 31);
        boxes($colour, map { $at[$_] } sort { $a <=> $b } keys %$taken);
        for my $bank (sort { $a <=> $b } keys %$taken) {
            text($at[$bank][0] + $each / 2, $y + 13, $taken->{$bank}[0], size => 12, anchor => "middle", colour => "page", on => $colour);
        }
        $y += $tall;
    }
    return $y;
}

# ---- 01: the ways from the host -------------------------------------------------------------------------------------------
sub ways {
    my $file = "01_sum_managed/results/h200_host.csv";
    my %why = (
        page_faults => ["a page at a time, when touched", "碰到哪一页，才取哪一页"], pageable => ["a copy from ordinary memory", "从普通内存复制"],
        prefetched => ["managed pages, all sent ahead", "统一内存的页，提前送过去"], zero_copy => ["the kernel itself reads the host's memory", "核函数直接读主机内存"],
        overlapped => ["in pieces: one is copied while another is added", "分块：一块在复制，另一块在相加"], pinned => ["one copy from pinned memory, then the kernel", "从锁页内存一次复制，再运行核函数"],
        "CPU, 1 thread" => ["not sent at all: the CPU adds", "不送：CPU 自己加"], "CPU, 16 threads" => ["not sent at all: 16 threads of the CPU add", "不送：CPU 用 16 个线程加"]);
    my @rows = sort { $b->{time_us} <=> $a->{time_us} } grep { $why{$_->{variant}} } rows($file);
    my $copy = row($file, "pinned copy only")->{time_us};
    my ($left, $scale, $y) = (150, 600 / $rows[0]{time_us}, 58);
    my $x = $left + $copy * $scale;
    my $title = t("Ten million ints in the host's memory: the time until their sum is known", "一千万个整数在主机内存里：多久才能得到它们的和");
    text(16, 28, $title, bold => 1, size => 16);
    for my $row (@rows) {
        my $colour = $row->{variant} =~ /CPU/ ? "green" : "blue";
        my $long = $row->{time_us} * $scale;
        (my $name = $row->{variant}) =~ s/CPU, (\d+) threads?/t("CPU, $1 thread" . ($1 > 1 ? "s" : ""), "CPU，$1 个线程")/e;
        text($left - 10, $y + 15, $name, anchor => "end", code => $row->{variant} !~ /CPU/);
        boxes($colour, [$left, $y, $long, 20]);
        my $inside = $long > 420;
        text($inside ? $left + $long - 8 : $left + $long + 8, $y + 15, time_text($row->{time_us}), bold => 1, anchor => $inside ? "end" : "start",
             colour => $inside ? "page" : "ink", on => $inside ? $colour : "page");
        my $words = t(@{$why{$row->{variant}}});
        text($inside ? $x + 8 : $left + $long + 84, $y + 15, $words, colour => $inside ? "page" : "soft", on => $inside ? $colour : "page");
        $y += 28;
    }
    line($x, 50, $x, $y + 2, colour => "orange", width => 2, dash => "5 4");
    text($x + 6, $y + 12, t("the copy alone, " . time_text($copy), "只复制，不相加：" . time_text($copy)), colour => "orange");
    return ($y + 26, $title);
}

# ---- 02: four SMs, their blocks in waves ------------------------------------------------------------------------------------
sub waves {
    my @rows = rows("02_clock_min/results/h200_timeline.csv");
    my ($resident) = map { $_->{resident} } grep { ($_->{resident} // "") ne "" } @rows;
    my @timeline = grep { $_->{variant} eq "timeline" && $_->{blocks} == 2 * $resident && $_->{sm} < 4 } @rows;
    my ($sms) = map { /(\d+) SMs/ ? $1 : () } map { $_->{device} } @rows;
    my $slots = $resident / $sms;
    my ($last) = sort { $b <=> $a } map { $_->{end_ns} } @timeline;
    my ($left, $y, $tall) = (70, 70, 11);
    my $scale = ($width - $left - 24) / $last;
    my $all = 2 * $resident;
    1 while $all =~ s/(\d)(\d{3})\b/$1,$2/;
    my $title = t("$all blocks, on four of the GPU's $sms SMs", "$all 个线程块，GPU 的 $sms 个 SM 中的四个");
    text(16, 28, $title, bold => 1, size => 16);
    boxes("blue", [16, 41, 14, 12]);
    text(36, 52, t("the first $slots: an SM has room for no more", "头 $slots 个：SM 上放不下更多"));
    boxes("orange", [386, 41, 14, 12]);
    text(406, 52, t("these had to wait until one before them ended", "这些要等前面的某一个结束"));
    for my $sm (0 .. 3) {
        my @free = (-1) x $slots;
        my %bars;
        for my $block (sort { $a->{begin_ns} <=> $b->{begin_ns} || $a->{block} <=> $b->{block} } grep { $_->{sm} == $sm } @timeline) {
            my ($slot) = grep { $free[$_] <= $block->{begin_ns} } 0 .. $#free;
            die "pictures.pl: SM $sm has more than $slots blocks at once\n" if !defined $slot;
            my $colour = $free[$slot] < 0 ? "blue" : "orange";
            push @{$bars{$colour}}, [$left + $block->{begin_ns} * $scale, $y + $slot * $tall, ($block->{end_ns} - $block->{begin_ns}) * $scale - 1, $tall - 2];
            $free[$slot] = $block->{end_ns};
        }
        boxes("idle", [$left, $y - 2, $width - $left - 24, $slots * $tall + 2]);
        text($left - 10, $y + $slots * $tall / 2 + 4, "SM $sm", anchor => "end");
        boxes($_, @{$bars{$_}}) for sort keys %bars;
        $y += $slots * $tall + 10;
    }
    for my $us (0 .. int($last / 1000)) {
        my $x = $left + $us * 1000 * $scale;
        line($x, $y - 6, $x, $y, colour => "soft");
        text($x, $y + 14, $us . ($us ? "" : " µs"), size => 12, colour => "soft", anchor => $us ? "middle" : "start");
    }
    return ($y + 26, $title);
}

# ---- 03: coalesced and strided loads ----------------------------------------------------------------------------------------
sub sectors {
    my $title = t("A warp loads 32 numbers: neighbouring words, and words 32 bytes apart", "一个线程束读 32 个数：相邻的字，与相隔 32 字节的字");
    text(16, 28, $title, bold => 1, size => 16);
    my $y = 44;
    for my $case (["neighbours", t("lane k reads a[k]", "通道 k 读 a[k]")], ["apart", t("lane k reads a[8 * k]", "通道 k 读 a[8 * k]")]) {
        my ($kernel, $how) = @$case;
        my $launch = trace("loads", $kernel);
        my ($event) = events($launch, "load", "global");
        my @elements = @{$event->{elements}};
        my %lane;
        my $k = 0;
        $lane{$elements[$k++]} = $_ for lanes_of($event);
        my %sectors = map { int($_ / 8) => 1 } @elements;
        my $count = keys %sectors;
        die "pictures.pl: $count sectors are drawn, $event->{sectors} were counted\n" if $count != $event->{sectors};
        my $used = int(100 * 4 * @elements / 32 / $count + 0.5);
        text(16, $y + 16, $how, bold => 1, size => 16);
        text(220, $y + 16, t("$count sectors of 32 bytes are fetched, $used % of them used", "取 $count 个 32 字节的扇区，用到 $used %"), colour => $used < 50 ? "orange" : "ink");
        $y += 26;
        my ($across, $each) = (4, 196);
        my $place = 0;
        for my $sector (sort { $a <=> $b } keys %sectors) {
            my ($x, $line) = (16 + $place % $across * ($each + 4.6), $y + int($place / $across) * 24);
            my @at = map { [$x + $_ * $each / 8, $line, $each / 8 - 1, 19] } 0 .. 7;
            boxes("amber", map { $at[$_] } grep { !defined $lane{$sector * 8 + $_} } 0 .. 7);
            boxes("blue", map { $at[$_] } grep { defined $lane{$sector * 8 + $_} } 0 .. 7);
            for my $word (grep { defined $lane{$sector * 8 + $_} } 0 .. 7) {
                text($at[$word][0] + $each / 16, $line + 14, $lane{$sector * 8 + $word}, size => 12, anchor => "middle", colour => "page", on => "blue");
            }
            ++$place;
        }
        $y += int(($count + $across - 1) / $across) * 24 + 14;
    }
    boxes("blue", [16, $y, 14, 12]);
    text(36, $y + 11, t("a word that a lane wants, with the lane's number", "某个通道要的字，数字是通道号"), colour => "soft");
    boxes("amber", [430, $y, 14, 12]);
    text(450, $y + 11, t("fetched with it, for nothing", "一起取来，却用不上"), colour => "soft");
    return ($y + 24, $title);
}

# ---- 04: which lanes work in each step, and what the banks add ----------------------------------------------------------------
# Steps of a tree: the parts between two barriers that store to shared memory. Returns [mask of column 0, 1, ...], turns.
sub tree_steps {
    my ($launch) = @_;
    my (@steps, $step, $begun);
    for my $event (@{$launch->{events}}) {
        if ($event->{kind} eq "barrier") {
            push @steps, $step if $step && $step->{store};
            $step = {turns => 0} if !$begun || $event->{row} != $begun;
            $begun = $event->{row};
        } elsif ($step && space_of($launch, $event) eq "shared") {
            my $turns = 1 + $event->{conflicts};
            $step->{turns} = $turns if $turns > $step->{turns};
            ($step->{store} = 1, $step->{masks}[$event->{column}] = $event->{mask}) if $event->{kind} eq "store";
        }
    }
    return @steps;
}
# Of a fold by shuffles: one a shuffle, and the barrier between.
sub shuffle_steps {
    my ($launch) = @_;
    my (%rows, @steps);
    for my $event (@{$launch->{events}}) {
        push @{$rows{$event->{row}}}, $event if $event->{kind} =~ /^(shuffle|barrier)$/;
    }
    for my $row (sort { $a <=> $b } keys %rows) {
        my %step = (turns => 0, barrier => $rows{$row}[0]{kind} eq "barrier");
        $step{masks}[$_->{column}] = $_->{mask} for @{$rows{$row}};
        push @steps, \%step;
    }
    return @steps;
}
sub runs { # MASK: [first lane, how many] of each run of lanes that work
    my ($mask) = @_;
    my @runs;
    for my $lane (grep { $mask >> $_ & 1 } 0 .. 31) {
        if (@runs && $runs[-1][0] + $runs[-1][1] == $lane) { ++$runs[-1][1] } else { push @runs, [$lane, 1] }
    }
    return @runs;
}
sub lanes {
    my $file = "04_reduction_variants/results/h200_default_int.csv";
    my %why = (
        modulo => ["a few lanes of every warp, and a remainder for each", "每个线程束里只有几个通道，还都要求余数"],
        strided_index => ["few warps are left, but their lanes queue at the banks", "只剩少数线程束，但通道要在 bank 前排队"],
        sequential => ["the same lanes work, and no bank makes them wait", "工作的通道相同，但没有 bank 让它们等"],
        shuffle => ["registers instead of shared memory: one barrier, not ten", "用寄存器代替共享内存：同步一次，不是十次"]);
    my $title = t("Which lanes work in each step: the first 4 of a block's 16 warps", "每一步有哪些通道在工作：线程块 16 个线程束中的前 4 个");
    text(16, 28, $title, bold => 1, size => 16);
    my ($left, $each, $gap, $tall, $y) = (58, 4.5, 8, 14, 44);
    my $bars = $left + 4 * (32 * $each + $gap) + 8;
    for my $kernel (qw(modulo strided_index sequential shuffle)) {
        my $launch = trace($kernel, $kernel);
        my @steps = $kernel eq "shuffle" ? shuffle_steps($launch) : tree_steps($launch);
        text(16, $y + 16, $kernel, bold => 1, code => 1, size => 16);
        text(16 + 10 * length($kernel) + 14, $y + 16, t(@{$why{$kernel}}));
        text($width - 16, $y + 16, time_text(row($file, $kernel)->{time_us}), bold => 1, anchor => "end");
        $y += 26;
        text($left - 8, $y + 11, t("step", "步"), size => 12, colour => "soft", anchor => "end");
        text($left + $_ * (32 * $each + $gap) + 16 * $each, $y + 11, t("warp $_", "线程束 $_"), size => 12, colour => "soft", anchor => "middle") for 0 .. 3;
        text($bars, $y + 11, t("turns at the banks", "bank 的轮次"), size => 12, colour => "soft") if $kernel ne "shuffle";
        $y += 16;
        my $count = 0;
        for my $step (@steps) {
            my @starts = map { $left + $_ * (32 * $each + $gap) } 0 .. 3;
            if ($step->{barrier}) {
                line($starts[0], $y + $tall / 2, $starts[3] + 32 * $each, $y + $tall / 2, colour => "ink", width => 2);
                text($bars, $y + 11, t("barrier", "同步"), size => 12);
                $y += $tall;
                next;
            }
            ++$count;
            text($left - 8, $y + 11, $count, size => 12, colour => "soft", anchor => "end");
            boxes("idle", map { [$_, $y + 1, 32 * $each, $tall - 3] } @starts);
            boxes("blue", map { my $warp = $_; map { [$starts[$warp] + $_->[0] * $each, $y + 1, $_->[1] * $each - 1, $tall - 3] } runs($step->{masks}[$warp] // 0) } 0 .. 3);
            if ($step->{turns}) {
                boxes("blue", [$bars, $y + 2, 6, $tall - 5]);
                boxes("orange", map { [$bars + 7 * $_, $y + 2, 6, $tall - 5] } 1 .. $step->{turns} - 1);
                text($bars + 7 * $step->{turns} + 4, $y + 11, $step->{turns}, size => 12, colour => $step->{turns} > 1 ? "orange" : "soft", bold => $step->{turns} > 1);
            }
            $y += $tall;
        }
        $y += 14;
    }
    text(16, $y + 4, t("Blocks of 512 threads; times for 10,000,000 ints on an NVIDIA H200. In the first three a barrier follows each step.",
        "线程块有 512 个线程；时间是 NVIDIA H200 上一千万个整数的。前三种每一步之后都有一次同步。"), size => 12, colour => "soft");
    return ($y + 18, $title);
}
# bank_panels TITLE PICK CASE...: a panel for each kernel with its words; PICK finds its launch and the event that is drawn
sub bank_panels {
    my ($title, $pick, @cases) = @_;
    text(16, 28, $title, bold => 1, size => 16);
    my $y = 42;
    $y = bank_panel($y, $pick->($_->[0]), $_) + 16 for @cases;
    return ($y, $title);
}
sub reduction_banks {
    my $title = t("Step 4 of both trees, warp 0: which bank serves which lane, and in which turn", "两棵树的第 4 步，线程束 0：哪个 bank 在第几轮服务哪个通道");
    my $pick = sub {
        my ($kernel) = @_;
        my $launch = trace($kernel, $kernel);
        my $event = (events($launch, "store", "shared"))[4]; # the first fills the tile
        die "pictures.pl: in step 4 of $kernel not all 32 lanes work\n" if lanes_of($event) != 32;
        return ($launch, $event);
    };
    return bank_panels($title, $pick,
        ["sequential", t("neighbouring words: every lane has a bank of its own", "相邻的字：每个通道各有一个 bank")],
        ["strided_index", t("words 16 apart: 32 lanes share 2 banks, and 30 banks stand idle", "相隔 16 个字：32 个通道挤在 2 个 bank，另外 30 个闲着")]);
}

# ---- 05: places that old values give -------------------------------------------------------------------------------------------
sub places {
    my $launch = trace("push_back", "push_back");
    my ($load) = events($launch, "load", "global");
    my ($atomic) = events($launch, "atomic", "global");
    my ($store) = events($launch, "store", "global");
    my ($left, $each) = (92, 22.6);
    my (%in, %old, %place);
    my $k = 0;
    $in{$_} = $load->{values}[$k++] for lanes_of($load);
    $k = 0;
    for my $lane (lanes_of($atomic)) {
        ($old{$lane}, $place{$lane}) = ($atomic->{olds}[$k], $store->{elements}[$k]);
        die "pictures.pl: lane $lane stores to another place than its old value\n" if $old{$lane} != $place{$lane};
        ++$k;
    }
    my $title = t("The old value that atomicAdd returns is a place that no other lane gets", "atomicAdd 返回的旧值，是别的通道得不到的位置");
    text(16, 28, $title, bold => 1, size => 16);
    my %at = (lane => 62, in => 76, old => 128, out => 226);
    my $x = sub { $left + ($_[0] + 0.5) * $each };
    text(16, $at{lane}, t("lane", "通道"), size => 12, colour => "soft");
    text(16, $at{in} + 18, "in", code => 1);
    text(16, $at{old} + 18, t("old value", "旧值"));
    text(16, $at{out} + 18, "out", code => 1);
    for my $lane (0 .. 31) {
        my $keeps = defined $old{$lane};
        text($x->($lane), $at{lane}, $lane, size => 12, colour => "soft", anchor => "middle");
        boxes($keeps ? "blue" : "idle", [$x->($lane) - 10.5, $at{in}, 21, 26]);
        text($x->($lane), $at{in} + 17, $in{$lane}, size => 12, anchor => "middle", colour => $keeps ? "page" : "soft", on => $keeps ? "blue" : "idle");
        next if !$keeps;
        line($x->($lane), $at{in} + 28, $x->($lane), $at{old} - 1, head => 1);
        boxes("amber", [$x->($lane) - 10.5, $at{old}, 21, 26]);
        text($x->($lane), $at{old} + 18, $old{$lane}, bold => 1, anchor => "middle", on => "amber");
        line($x->($lane), $at{old} + 28, $x->($old{$lane}), $at{out} - 1, head => 1);
        boxes("blue", [$x->($old{$lane}) - 10.5, $at{out}, 21, 26]);
        text($x->($old{$lane}), $at{out} + 17, $in{$lane}, size => 12, anchor => "middle", colour => "page", on => "blue");
    }
    text($x->($_), $at{out} + 42, $_, size => 12, colour => "soft", anchor => "middle") for sort { $a <=> $b } values %old;
    text(16, $at{out} + 42, t("place", "位置"), size => 12, colour => "soft");
    return ($at{out} + 56, $title);
}

# ---- 06: the tile's banks, and two roofs ----------------------------------------------------------------------------------------
sub tile_banks {
    my $title = t("Warp 0 fills its part of the tile: which bank serves which lane, and when", "线程束 0 写入小块：哪个 bank 在第几轮服务哪个通道");
    my $pick = sub {
        my $launch = trace("tile_$_[0]", $_[0]);
        return ($launch, (events($launch, "store", "shared"))[0]);
    };
    return bank_panels($title, $pick,
        ["conflict_free", t("tile[ty][tx]: neighbouring lanes, neighbouring words", "tile[ty][tx]：相邻的通道，相邻的字")],
        ["tutorial", t("tile[tx][ty]: neighbouring lanes, words 16 apart", "tile[tx][ty]：相邻的通道，相隔 16 个字")]);
}
sub roofline {
    my @counted = rows("06_shared_image/results/h200_counters_4096.csv");
    my $measured = "06_shared_image/results/h200_16384.csv";
    my ($sms) = $counted[0]{device} =~ /(\d+) SMs/;
    my $memory = row($measured, "tutorial")->{nominal_gb_per_s};
    my $issue = $sms * 4 * 1.98; # 10^9 warp instructions a second: four schedulers an SM, at 1,980 MHz
    my ($x0, $x1, $y0, $y1) = (0.04, 7, 130, 7000);
    my ($left, $right, $top_y, $bottom) = (84, 806, 60, 372);
    my $x = sub { $left + ($right - $left) * log($_[0] / $x0) / log($x1 / $x0) };
    my $y = sub { $bottom - ($bottom - $top_y) * log($_[0] / $y0) / log($y1 / $y0) };
    my $title = t("Two roofs: 16384 × 16384 pixels, one byte each, on an NVIDIA H200", "两个屋顶：16384 × 16384 个像素，各一个字节，NVIDIA H200");
    text(16, 28, $title, bold => 1, size => 16);
    for my $gb (200, 500, 1000, 2000, 5000) {
        line($left, $y->($gb), $right, $y->($gb), colour => "line");
        text($left - 8, $y->($gb) + 4, $gb, size => 12, colour => "soft", anchor => "end");
    }
    for my $n (0.05, 0.1, 0.2, 0.5, 1, 2, 5) {
        line($x->($n), $bottom, $x->($n), $bottom + 5);
        text($x->($n), $bottom + 19, $n, size => 12, colour => "soft", anchor => "middle");
    }
    text(16, 50, t("GB/s written", "写入 GB/s"), size => 12, colour => "soft");
    text($right, $bottom + 38, t("instructions of a warp for each byte", "每字节的线程束指令数"), size => 12, colour => "soft", anchor => "end");
    my $corner = $issue / $memory;
    line($left, $y->($memory), $x->($corner), $y->($memory), colour => "orange", width => 3);
    line($x->($corner), $y->($memory), $x->($issue / $y0 < $x1 ? $issue / $y0 : $x1), $y->($issue / $x1 > $y0 ? $issue / $x1 : $y0), colour => "orange", width => 3);
    text($left + 6, $y->($memory) - 8, t("the memory's roof: $memory GB/s", "内存的屋顶：$memory GB/s"), colour => "orange");
    text($x->(0.85), $y->(1350), t("the issue roof: $sms SMs × 4 a clock", "发射指令的屋顶：$sms 个 SM × 每周期 4 条"), colour => "orange");
    my %beside = (tutorial => [-40, 52], tutorial_float => [-40, 36], conflict_free => [-40, 20], no_shared => [-10, 4],
                  separable => [-10, -2], wide_stores => [-10, 10], no_conversion => [-10, 4]);
    for my $row (grep { $beside{$_->{variant}} } @counted) {
        my ($name, $per_byte, $gb) = ($row->{variant}, $row->{instructions} / $row->{n}, row($measured, $row->{variant})->{gb_per_s});
        my ($px, $py) = ($x->($per_byte), $y->($gb));
        push @marks, sprintf qq(<circle cx="%s" cy="%s" r="5" class="blue"/>), number($px), number($py);
        my ($dx, $dy) = @{$beside{$name}};
        line($px + $dx + 4, $py + $dy - 4, $px - 4, $py + 3) if $dy > 12;    # to its point, if another label is nearer
        text($px + $dx, $py + $dy, $name, code => 1, size => 12, anchor => "end");
    }
    return ($bottom + 50, $title);
}

draw("01_sum_managed", "ways", \&ways);
draw("02_clock_min", "waves", \&waves);
draw("03_dot_shared", "sectors", \&sectors);
draw("04_reduction_variants", "lanes", \&lanes);
draw("04_reduction_variants", "banks", \&reduction_banks);
draw("05_atomics", "places", \&places);
draw("06_shared_image", "banks", \&tile_banks);
draw("06_shared_image", "roofline", \&roofline);
