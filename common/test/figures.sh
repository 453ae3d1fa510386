#!/bin/sh
# figures.sh BUILD: tests `figures`, `bars` and `mean.pl` with small pages and files. The correct ones must pass, and copies with
# one mistake each must not. Then the script changes each digit of each figure of the correct page: no change may pass.
# Exit status: 0 if all cases pass, 1 if not.
. "$(dirname "$0")/lib.sh"
figures=$1/figures bars=$1/bars checks=0
cd "$folder" || exit 1
right() { # right TITLE: the page must pass
    checks=$((checks + 1))
    "$figures" check . 01_sum/measured.md >out 2>&1 || fail "$1: it is right"
}
wrong() { # wrong TITLE WORDS: the page must not pass, and the message must contain these words
    checks=$((checks + 1))
    "$figures" check . 01_sum/measured.md >out 2>&1 && fail "$1: it is wrong"
    grep -qF -e "$2" out || fail "$1: wanted: $2"
}
page() { cat >01_sum/measured.md; }

mkdir -p 01_sum/results 02_other/results
cat >01_sum/results/h200_default.csv <<'END'
sample,device,n,variant,result,time_us,gb_per_s,percent_of_limit,times_library,nominal_gb_per_s,verdict,clocks mean,per ns,spread,error
01_sum,"NVIDIA H200: SMs",4096,read only,-,15.09,2651.1,100.0,,4814,limit,,,,
01_sum,"NVIDIA H200: SMs",4096,CUB,"1,024",20.22,1977.8,74.6,1.00,4814,ok,,,,
01_sum,"NVIDIA H200: SMs",4096,modulo,"1,024",145.94,274.1,10.3,0.138,4814,ok,2447,1.37,,1.53e-06
01_sum,"NVIDIA H200: SMs",4096,packed,"1,024",15.47,2585.3,97.5,1.31,4814,ok,1814,417.59,0.7,5.7e-08
01_sum,"NVIDIA H200: SMs",8192,packed,"2,048",30.94,2585.3,97.5,1.31,4814,ok,1814,,,1.1e-07
01_sum,"NVIDIA H200: SMs",8192,"CPU, 1 thread","2,048",6012.25,2585.3,,,4814,ok,,,,
END
sed 's/H200/H100/; s/145.94/175.94/' 01_sum/results/h200_default.csv >01_sum/results/h100_default.csv
cat >02_other/results/h200_default.csv <<'END'
sample,variant,time_us
02_other,tutorial,4.51
END

# ---- prose: correct figures
cat >right.md <<'END'
# `packed`, from 2²⁰ to 16,384 elements

For 4,096 ints of 32 lanes and 256 x 256 threads (section 3.1, CUDA 13.0, H200, 40 MB, 10⁷), `modulo` takes 145.94 µs or
0.146 ms, that is 274 GB/s or 10.3 % of the limit, and 2,447 clocks with 1.37 adds a ns.
`packed` takes 15.5 to 30.9 µs, 1.31 × CUB and 97.5 %. `packed 99.9 µs` is code.

The multiplication saves 130 µs and is 9.43 times as fast: 10.6 % of the time. The data sheet says 4814 GB/s,
and the tutorial 3096 clocks. About 70 % is a rule of thumb, CPU, 1 thread takes 6.0 ms. The sum of both is 161.41, in 02 4.5 µs.
<!-- = 130 µs = default:modulo.time_us - default:packed.time_us; 9.43 = default:modulo.time_us / default:packed.time_us@n=4096;
10.6 % = default:packed.time_us / default:modulo.time_us -->
<!-- given: 4814 GB/s | the data sheet -->
<!-- tutorial: 3096 --> <!-- thumb: 70 % -->
<!-- = 6.0 ms = default:CPU, 1 thread.time_us; 161.41 = (default:modulo.time_us + default:packed.time_us); 4.5 µs = 02/default:tutorial.time_us -->

The error of `modulo` is 1.53e-06, that is 1.53E-6, 1.53 × 10⁻⁶, 1.53·10⁻⁶ or 1.53 x 10^-6; `packed` is off by 5.7e-08, by
less than 10⁻⁷. 2⁻²⁴, 10^7, 1e24 and 1e6 are sizes and names. It does 1.2 · 10¹² adds, and prints 8.9e-01.
<!-- = 5.7e-08 = default:packed.error@n=4096; 1.2 × 10¹² = 4 * 300000000000 -->
<!-- given: 1e-7 | the bound --> <!-- prints: sum --wrong | 8.9e-01 -->

| row | time µs | and |
| --- | ---: | --- |
| `modulo` | 145.94 | 10.3 % of the limit |
| `packed` | 15.47 | 4096 |
| `modulo` | - | 1.53e-06 |

On an H100 `modulo` takes 175.94 µs.

> "Ten times 11.1 µs", says the tutorial.

```
modulo  77.77 µs
```
END
page <right.md
right "each kind of figure"

# ---- prose: wrong figures
one() { printf '%s\n' "$@" | page; }
one '`modulo` takes 145.95 µs.' && wrong "a wrong digit" '01_sum/measured.md:1: 145.95 µs'
wrong "the nearest" 'Nearest: 145.94 µs, default:modulo.time_us'
one '`modulo` takes 175.94 µs.' && wrong "another GPU's" 'no cell has it'
one 'It takes 145.94 µs.' && wrong "no row is named" '<!-- = 145.94 µs = default:modulo.time_us@n=4096 -->'
one '`packed` takes 15 µs.' && wrong "two digits" 'fewer than three digits'
one '`packed` takes 15.5 ms.' && wrong "another unit" '15.5 ms'
one '`packed` is at 15.5 %.' && wrong "a time is no percentage" '15.5 %'
one '`packed` takes 145.94 µs.' && wrong "another row" 'does not name its row'
one '`packed` takes 15.9 to 30.9 µs.' && wrong "the first of two" '15.9 µs'
one '`modulo` takes 2,448 clocks.' && wrong "clocks" 'Nearest: 2447 clocks'
one '`packed` is 1.32 times as fast as CUB.' && wrong "times" '1.32 times'
one '`modulo` does 1.38 adds a ns.' && wrong "per ns" '1.38 a ns'
one '`packed` wins 0.38.' && wrong "a decimal without unit" '0.38'
one '`packed` is off by 5.8e-08.' && wrong "a digit of e-08" '5.8e-08'
one '`packed` is off by 5.7e-08.' && wrong "two digits and a power" 'default:packed.error@n=4096'
one '`packed` is off by 1.1e-07.' '<!-- = 1.1e-07 = default:packed.error@n=4096 -->' && wrong "another row's" 'is 5.7e-08'
one '`modulo` is off by 1.53e−07.' && wrong "another power" '1.53e-07'
one '`modulo` is off by 1.53 × 10⁻⁵.' && wrong "a raised digit" '1.53e-05'
one '`modulo` is off by 1.53 · 10^-5.' && wrong "a digit below ^" '1.53e-05'
one 'Less than 10⁻⁶.' && wrong "ten to a negative power" '1e-06'
one 'It does 67 · 10¹² adds.' && wrong "a whole number and a power of ten" '67e+12'
one '| row | why |' '| --- | --- |' '| `modulo` | 1.54e-06 |' && wrong "a power in a cell" '1.54e-06'
one '`packed` takes 15' 'µs.' && wrong "a line's end between" ':1: 15 µs'
one 'It saves 131 µs.' '<!-- = 131 µs = default:modulo.time_us - default:packed.time_us -->' &&
    wrong "the comment's sum" "default:modulo.time_us - default:packed.time_us is 130.47"
one 'It saves 130 µs.' '<!-- = 131 µs = default:modulo.time_us - default:packed.time_us -->' &&
    wrong "a comment of another figure" 'no such figure'
one 'It takes 15 µs.' '<!-- = 15 µs = default:missing.time_us -->' && wrong "no such row" 'no row missing'
one 'It takes 15 µs.' '<!-- = 15 µs = none:packed.time_us -->' && wrong "no such file" 'h200_none.csv'
one 'It takes 15 µs.' '<!-- = 15 µs = default:packed.time -->' && wrong "no such column" 'no column'
one 'It takes 15 µs.' '<!-- = 15 µs = default:packed.time_us + -->' && wrong "half an expression" 'blanks around them'
one 'It has 4815 GB/s.' '<!-- given: 4815 GB/s -->' && wrong "given, and not from where" 'where from'
one '30 %, 31 %, 32 %, 33 %' '<!-- thumb: 30 31 32 33 -->' && wrong "four thumbs" 'three at most'
one 'It takes 3096 clocks.' '<!-- tutorial: 3097 -->' && wrong "the tutorial's other figure" '3096 clocks'
one '| row | time µs |' '| --- | --- |' '| `packed` | 15.48 |' && wrong "a number under a unit" '15.48 µs'
one '| counter | `packed` |' '| --- | --- |' '| time, µs | 15.48 |' && wrong "a number beside a unit" '15.48 µs'
one '| row | why |' '| --- | --- |' '| `packed` | 15.48 µs |' && wrong "a figure in a cell" '15.48 µs'

# ---- each digit of each figure
page <right.md
awk '/^```/ { code = !code } { line = $0 }
code || /^>/ || /^<!--|-->$/ || /^#/ { next }
{
    gsub(/`[^`]*`|4,096 ints|2⁻²⁴|10^7|1e24|1e6|10⁻⁷|1\.2 · 10¹²|8\.9e-01|32 lanes|256 x 256|3\.1,|13\.0|H[12]00|40 MB|10⁷|in 02|, 1 thread|16,384|2²⁰/, "", $0)
    plain = $0
    offset = 0
    while (match(plain, /[0-9][0-9.,]*[0-9] *(µs|ms|GB\/s|%|×|clocks|adds|times)|[0-9.]+[eE]-[0-9]+|1\.53 ?[×·x] ?10|161\.41|15\.5|145\.94 \||15\.47 \|/)) {
        figure = substr(plain, RSTART, RLENGTH)
        plain = substr(plain, RSTART + RLENGTH)
        for (d = 1; d <= length(figure); ++d) {
            digit = substr(figure, d, 1)
            if (digit ~ /[0-9]/) print FNR "\t" figure "\t" substr(figure, 1, d - 1) (digit + 1) % 10 substr(figure, d + 1)
        }
    }
}' right.md >plants
planted=0
while IFS='	' read -r line from to; do
    awk -v line="$line" -v from="$from" -v to="$to" 'FNR == line { at = index($0, from)
        $0 = substr($0, 1, at - 1) to substr($0, at + length(from)) } { print }' right.md | page
    planted=$((planted + 1))
    "$figures" check . 01_sum/measured.md >out 2>&1 && fail "line $line: $to, in place of $from, passes"
done <plants
[ $planted -ge 90 ] || fail "only $planted digits were changed"

# ---- the Chinese page: its figures must be right in README.md, or be covered by its own comments
chinese() { # chinese WORDS LINE...: the message about a page of these lines must contain WORDS; "" if the page is right
    words=$1 checks=$((checks + 1))
    shift
    printf '%s\n' "$@" >01_sum/README.zh-CN.md
    "$figures" check . 01_sum/README.zh-CN.md >out 2>&1
    if [ -z "$words" ]; then [ ! -s out ] || grep -q ' 0 figures' out; else grep -qF -e "$words" out; fi ||
        fail "the Chinese page: $1: wanted: $words"
}
printf '%s\n' '`modulo` is off by 1.53e-06 and 9.43 times as slow; it takes 145.95 µs.' \
    '<!-- = 9.43 times = default:modulo.time_us / default:packed.time_us@n=4096 -->' >01_sum/README.md
chinese 'README.zh-CN.md:1: 145.95 µs' '它要 145.95 µs。'
sed 's/145.95/145.94/' 01_sum/README.md >page && mv page 01_sum/README.md
chinese '' '误差是 1.53e-06，慢 9.43 倍，要 145.94 µs。' '<!-- = 9.43 倍 = default:modulo.time_us / default:packed.time_us@n=4096 -->'
chinese ':3: 1.54' '| 版本 | 倍 |' '| --- | --- |' '| `modulo` | 1.54 |'
chinese '1.54e-06' '误差是 1.54e-06。'
chinese '1.53e-05' '误差是 1.53 × 10⁻⁵。'
chinese '9.44 倍' '慢 9.44 倍。'
chinese 'no such figure' '慢 9.43 倍。' '<!-- = 9.42 倍 = default:modulo.time_us / default:packed.time_us@n=4096 -->'
chinese "time_us is 145.94" '要 145.95 µs。' '<!-- = 145.95 µs = default:modulo.time_us -->'
rm 01_sum/README.md 01_sum/README.zh-CN.md

# ---- tables
cat >table.md <<'END'
<!-- table: default | variant, result, time_us as time µs, default:time_us@n=8192 as 8,192, times_library as × CUB, + what | n=2^12 -->
| variant | what |
| --- | --- |
| `packed` | the best, 97.5 % |
| read only | nothing |
<!-- end -->

Between.

<!-- table: 02/default | variant, time_us -->
<!-- end -->
<!-- table: default | variant | rows=CPU, 1 thread,modulo -->
<!-- end -->
END
cat >wanted <<'END'
<!-- table: default | variant, result, time_us as time µs, default:time_us@n=8192 as 8,192, times_library as × CUB, + what | n=2^12 -->
| variant | result | time µs | 8,192 | × CUB | what |
| --- | ---: | ---: | ---: | ---: | --- |
| read only | - | 15.09 | - | - | nothing |
| CUB | 1,024 | 20.22 | - | 1.00 | |
| `modulo` | 1,024 | 145.94 | - | 0.138 | |
| `packed` | 1,024 | 15.47 | 30.94 | 1.31 | the best, 97.5 % |
<!-- end -->

Between.

<!-- table: 02/default | variant, time_us -->
| variant | time_us |
| --- | ---: |
| `tutorial` | 4.51 |
<!-- end -->
<!-- table: default | variant | rows=CPU, 1 thread,modulo -->
| variant |
| --- |
| CPU, 1 thread |
| `modulo` |
<!-- end -->
END
page <table.md
wrong "tables that are not written yet" 'make tables writes: | variant | result'
"$figures" tables . 01_sum/measured.md >out 2>&1 || fail "tables are written"
diff wanted 01_sum/measured.md >out || fail "the tables"
right "tables that were written"
"$figures" tables . >out 2>&1 && [ ! -s out ] || fail "nothing is left to write"
sed 's/145.94/145.95/' wanted | page && wrong "a digit of a table" '145.94'
sed 's/97.5 %/97.6 %/' wanted | page && wrong "a figure in a column typed by hand" '97.6 %'
for mistake in 's/default |/none |/' 's/time_us as/time as/' 's/n=2^12/n=5/' 's/rows=/rows=none,/' '/end -->/d'; do
    sed "$mistake" wanted | page && checks=$((checks + 1))
    cp 01_sum/measured.md before
    "$figures" tables . 01_sum/measured.md >out 2>&1 && fail "tables: $mistake"
    cmp -s before 01_sum/measured.md || fail "tables: $mistake: the page was changed"
done
rm 01_sum/measured.md

# ---- bars
cat >01_sum/bench.txt <<'END'
# writes the bars of a sample
run default
names fast packed,modulo
bar library | default | 4096 | fast | >= 1.31 | x CUB
bar library | default | 4096 | fast | >= 1.32 | at the limit
bar library only | default | 4096 | fast | >= 1.32 | not by the limit
bar library | default | 4096 | modulo | >= 1 | far from the limit
bar limit | default | 2^12 | modulo,packed | >= 98 | % of the limit
bar nominal | default | 4096 | fast | >= 53 | % of the memory
bar over read only | default | 4096 | fast | <= 1.03 | the limit's time
bar speedup modulo | default | 4096 | packed | >= 9.5 | x modulo
bar column clocks mean | default | 4096 | fast | <= 1814 | clocks
bar over tutorial of 02_other default | default | 4096 | fast | <= 1 | n is another there
program 01_more
run missing --n 1
bar library | missing | 4096 | fast | >= 1 | not measured
END
cat >wanted <<'END'
01_sum x CUB >= 1.31 1.31 0.7 yes packed
01_sum at the limit >= 1.32 1.31 0.7 by limit packed
01_sum not by the limit >= 1.32 1.31 0.7 no packed
01_sum far from the limit >= 1 0.14 - no modulo
01_sum % of the limit >= 98 97.50 0.7 no packed
01_sum % of the memory >= 53 53.70 0.7 yes packed
01_sum the limit's time <= 1.03 1.03 0.7 yes packed
01_sum x modulo >= 9.5 9.43 0.7 no packed
01_sum clocks <= 1814 1814.00 0.7 yes packed
01_sum n is another there <= 1 - 0.7 unknown packed
01_more not measured >= 1 - - unknown
11 bars: 5 reached, 4 not, 2 not measured
1 of them by limit: the row is within 5 % of what the run's limit allows
END
"$bars" . | sed '1d; /^$/d; s/  */ /g; s/ $//' >out
diff wanted out >diff || { mv diff out; fail "bars"; }
mkdir -p measured/01_sum && sed 's/15.47/15.63/' 01_sum/results/h200_default.csv >measured/01_sum/gpu_default.csv
"$bars" . measured | grep -q "limit's time.*1.04 .*no" || fail "bars of another folder"
for mistake in 's/^run default/run other/' 's/| >= 98/| 98/' 's/^names/name/' 's/^bar limit/bar limits/' 's/ | x CUB//' '$ a run default'; do
    cp 01_sum/bench.txt before && checks=$((checks + 1))
    sed "$mistake" before >01_sum/bench.txt
    "$bars" . >out 2>&1 && fail "bars: $mistake"
    grep -q 'bench.txt:[0-9]*: ' out || fail "bars: $mistake: no line is named"
    mv before 01_sum/bench.txt
done

# ---- the mean of several runs
printf 'variant,result,error,time_us\nfast,"1,024",1e-06,3.10\nslow,7,-,%s\n' 9 >run1
printf 'variant,result,error,time_us\nfast,"1,024",2e-06,2.90\nslow,8,-,%s\n' 10 >run2
printf 'variant,result,error,time_us\nfast,"1,024",2e-06,3.00\nslow,8,-,%s\n' 8.5 >run3
printf 'variant,result,error,time_us\nfast,"1,024",2e-06,3.06\nslow,8,-,%s\n' 12.5 >run4
perl "$top/common/tools/mean.pl" out run1 run2 run3 run4 || fail "the mean of four"
printf 'variant,result,error,time_us\nfast,"1,024",1e-06,3.02\nslow,7,-,10\n' | diff out - || fail "the mean of four"
echo more >>run3
perl "$top/common/tools/mean.pl" other run1 run2 run3 2>out && fail "the mean of runs with other lines"
{ grep -q 'run3 has a different number of lines' out && [ ! -e other ]; } || fail "a run with other lines is named, and nothing written"
checks=$((checks + 2))
must "$checks pages and files, $planted digits changed" test $failed = 0
finish
