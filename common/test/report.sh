#!/bin/sh
# report.sh BUILD: makes two reports and checks both pages: one from a run on the CPU device, one from the GPU figures in
# results/, as if this run had measured them.
# Exit status: 0 if all cases pass, 1 if not, 77 if the CPU device or gnuplot is missing.
. "$(dirname "$0")/lib.sh"
build=$(cd "$1" && pwd)
lacks() { ! grep -qE -e "$1" "$2"; }
count() { test "$(grep -o -e "$2" "$3" | wc -l)" = "$1"; }

# Each tag must be closed by its own name, in the right order.
closed() {
    tr '\n' ' ' <"$1" | sed 's/<style>[^<]*<\/style>//g; s/>/>\n/g' | sed -n 's/.*</</p' | awk '
        /^<!/ || /\/>$/ { next }
        { name = $1; gsub(/[<\/>]/, "", name) }
        /^<\// { if (depth < 1 || open[depth--] != name) { print "closed out of turn: " $0; exit bad = 1 }; next }
        { open[++depth] = name }
        END { if (!bad && depth) { print "never closed: " open[depth]; bad = 1 } exit bad }'
}

# Each colour of a text or a line must have a contrast of at least 4.5:1 with the page, light and dark. The marks of limit and
# library must have 3:1 with their bar, and the bar with its background.
contrast() {
    grep -oE -e '[a-z-]+: ?light-dark\([^)]*\)' "$1" | sort -u | tr -d ' ' | awk '
        function channel(hex, at, v) {
            v = (16 * (index(digits, substr(hex, at, 1)) - 1) + index(digits, substr(hex, at + 1, 1)) - 1) / 255
            return v > 0.04045 ? exp(2.4 * log((v + 0.055) / 1.055)) : v / 12.92
        }
        function light(hex) {
            if (length(hex) == 4) hex = "#" substr(hex, 2, 1) substr(hex, 2, 1) substr(hex, 3, 1) substr(hex, 3, 1) \
                substr(hex, 4, 1) substr(hex, 4, 1)
            return 0.2126 * channel(hex, 2) + 0.7152 * channel(hex, 4) + 0.0722 * channel(hex, 6)
        }
        BEGIN { digits = "0123456789abcdef"; FS = "[:(),]" }
        { of[$1, 1] = light($3) + 0.05; of[$1, 2] = light($4) + 0.05 }
        $1 == "--page" { page[1] = light($3); page[2] = light($4) }
        function apart(one, other, theme,    ratio) {
            ratio = of[one, theme] > of[other, theme] ? of[one, theme] / of[other, theme] : of[other, theme] / of[one, theme]
            if (ratio < 3) { print one, "has a contrast of", ratio, "with", other; bad = 1 }
        }
        $1 !~ /^--(page|line|box|mark|bar)$/ { names[++n] = $1; colour[n, 1] = $3; colour[n, 2] = $4 }
        END {
            for (i = 1; i <= n; ++i)
                for (theme = 1; theme <= 2; ++theme) {
                    one = light(colour[i, theme]) + 0.05
                    other = page[theme] + 0.05
                    ratio = one > other ? one / other : other / one
                    if (ratio < 4.5) { print names[i], colour[i, theme], "has a contrast of", ratio; bad = 1 }
                }
            for (theme = 1; theme <= 2; ++theme) {
                apart("--limit", "--bar", theme); apart("--library", "--bar", theme)
                apart("--limit", "--box", theme); apart("--library", "--box", theme); apart("--bar", "--box", theme)
            }
            exit bad || n < 6
        }'
}

page() { # page FILE: checks what must hold for every report
    must "every tag is closed" closed "$1"
    if command -v xmllint >/dev/null 2>&1; then must "xmllint" xmllint --noout "$1"; fi
    must "it loads nothing" lacks '(src|href)="([^#dt]|t[^r])|url\(|@import|https?:|<script' "$1"
    must "no nan or inf, but in the pictures" test -z "$(sed 's/base64,[^"]*//g' "$1" | grep -iowE 'nan|inf')"
    must "no place is left to fill in" test -z "$(sed '/<style>/,/<\/style>/d' "$1" | grep -E '[{@][a-zA-Z]' | grep -vE '^<(code|mark)>')"
    must "one h1" count 1 '<h1>' "$1"
    must "it is in <main>" test "$(grep -oE '<main|<h1>|</main' "$1" | tr -d '\n')" = '<main<h1></main'
    must "no unit before its number" lacks '(µs|GB/s|[%×] [a-z ]*) [0-9][0-9.]*(;|</caption>)' "$1"
    must "no id twice" test -z "$(grep -oE " id=[\"'][^\"']*" "$1" | sort | uniq -d)"
    must "colours that can be read" contrast "$1"
    number=0
    for sample in $samples; do
        number=$((number + 1)) link=$sample
        [ -d "$top/$sample" ] || link=${sample#??_}
        must "heading $sample" grep -qE "<h[23] id=\"s$sample\">$sample</h[23]>" "$1"
        must "link to $sample, with its verdict" grep -q "<a class=\"ok\" href=\"#s$sample\">✓ $link</a>" "$1"
    done
    must "$number verdicts" count $number '<p class="verdict ok">PASSED: [0-9]* results* agrees* with' "$1"
    number=$(for sample in $samples; do ls -d "$top/$sample/results/h200.svg" 2>/dev/null; done | wc -l | tr -d ' ')
    must "$number plots with a title" count "$number" '<svg role="img"' "$1"
    must "their values where one points" grep -q '<g><title>last_block: [0-9.]* µs, [0-9.]* % of the limit</title>' "$1"
    must "every table header has a scope" lacks '<th(>| [^s])' "$1"
    must "bars of the limit" grep -q '<div title="last_block, [0-9.]* µs, spread [0-9.]* %, [0-9.]* % of the limit, [0-9.]* × CUB, back to back [0-9.]* µs, ' "$1"
    must "a whisker where a spread was measured" grep -qE '<i style="--p:[0-9.]+;--s:[0-9.]+"></i>' "$1"
}

[ -d "$build/cpu" ] || skip "no CPU device in $build"
command -v gnuplot >/dev/null 2>&1 || skip "no gnuplot"
samples=$(cd "$build/cpu" && ls -d [0-9]*)
must "the report on the CPU device" sh "$top/common/tools/report.sh" "$build" cpu "$folder/cpu" >"$folder/said"
cat "$folder/said"
must "no line of over 80 columns" test -z "$(sed "s,$folder,," "$folder/said" | grep -E '^.{81}')"
page "$folder/cpu/index.html"
must "the H200 is named" grep -q 'Measured on an <strong>NVIDIA H200</strong>' "$folder/cpu/index.html"
limit=$(sed 's/"[^"]*"//' "$top/04_reduction_variants/results/h200_default.csv" | awk -F, '
    NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "time_us") time = i }
    /,read only,/ { print $time; exit }')
must "its times stand in the tables, such as $limit" grep -q ">read only <small class=\"soft\">limit</small></th><td class=\"n\">$limit</td>" \
    "$folder/cpu/index.html"
printed=$(sed -n 's/^dot product on the [a-z]*  *//p' "$top/03_dot_shared/results/h200_default.txt" | paste -sd+ | sed 's/+/ and /')
must "a claim about the tutorial's own data is answered with what the whole program printed" \
    grep -q "1.28618e+13.*<td>$printed</td>" "$folder/cpu/index.html"
result=$(sed -n '2s/.*"\([-0-9,]*\)".*/\1/p' "$folder/cpu/data/04_reduction_variants/run.csv")
must "the result that all rows have is said once" count 1 "; result $result" "$folder/cpu/index.html"
must "and not in each row" lacks ">$result<" "$folder/cpu/index.html"
if [ -d "$build/hazards" ]; then
    races=$(grep -l '^cudacpu: hazard: race on element ' "$folder"/cpu/data/*/hazard.txt | wc -l)
    must "$races races, one of each sample or more" test "$races" -ge 6
    must "$races figures" count "$races" '<figcaption>The wrong twin <code>[a-z_]*</code> is wrong on purpose: <strong>race on element ' "$folder/cpu/index.html"
    for sample in 02_clock_min 06_shared_image; do
        sed -n 's/^ *\([0-9][0-9]*\) |.*/\1/p' "$folder/cpu/data/$sample/hazard.txt" >"$folder/lines"
        while read -r line; do
            code=$(sed -n "${line}p" "$top/$sample"/"${sample#??_}.cu" | sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g; s/"/\&quot;/g')
            must "line $line of $sample is marked" grep -qF -e "$line  $code</mark>" "$folder/cpu/index.html"
        done <"$folder/lines"
        must "lines that race in $sample" test -s "$folder/lines"
    done
fi
# The page must not show any time or clock of the CPU device. Here each one is 98765.4, so that it can be found.
for csv in "$folder"/cpu/data/*/run.csv; do
    awk -F '"' -v OFS= '{ for (i = 2; i <= NF; i += 2) gsub(/,/, "", $i); print }' "$csv" | awk -F, -v OFS=, '
        NR == 1 { for (i = 1; i <= NF; ++i) if ($i ~ /^(cpu_device_ms|clocks .*|L2 warm)$/) at[i] }
        NR > 1 { for (i in at) if ($i != "") $i = "98765.4" }
        { print }' >"$folder/changed" && mv "$folder/changed" "$csv"
done
"$build/report_page" "$folder/cpu/data" "$top" cpu "$folder/changed.html"
must "no time of this machine" lacks '98765.4' "$folder/changed.html"

# If there is a build with counters, its pages are written and linked. The race of a twin is shown on its line.
mkdir -p "$folder/stub/cpu" "$folder/stub/counters" "$folder/stub/hazards"
ln -s "$build/report_page" "$folder/stub"
ln -s "$build/cpu/04_reduction_variants" "$folder/stub/cpu"
cat >"$folder/stub/counters/04_reduction_variants" <<'END'
#!/bin/sh
while [ $# -gt 1 ]; do [ "$1" = --trace ] && echo "<p>$*</p>" >"$2"; shift; done
END
cat >"$folder/stub/hazards/04_reduction_variants" <<'END'
#!/bin/sh
if [ "$1" = --list ]; then echo "twin no_barrier"; exit; fi
while [ $# -gt 1 ]; do [ "$1" = --trace ] && echo "<p>$*</p>" >"$2"; shift; done
cat >&2 <<'SAID'
cudacpu: hazard: 512 bytes of tile are read that nobody wrote
  in kernel k, at 04_reduction_variants/reduction_variants.cu:30
     30 |  first
cudacpu: hazard: race on element 1 of tile
  in kernel k, block 0, at 04_reduction_variants/reduction_variants.cu:20
     20 |  second      thread 1 writes
        |  thread 2 reads
  put a barrier there
cudacpu: hazard: race on element 3 of tile
SAID
END
chmod +x "$folder"/stub/*s/04_reduction_variants
must "a report beside a counters build" sh "$top/common/tools/report.sh" "$folder/stub" cpu "$folder/traced"
must "it made a page of modulo" test -s "$folder/traced/traces/04_modulo.html"
must "and links it" grep -q '<a href="traces/04_modulo.html">modulo</a>' "$folder/traced/index.html"
must "the race is shown as a mistake on purpose" grep -q 'The wrong twin <code>no_barrier</code> is wrong on purpose: <strong>race on element 1 of tile in kernel k, block 0</strong>' "$folder/traced/index.html"
must "and links its page" grep -q '<a href="traces/04_no_barrier.html">step by step</a>' "$folder/traced/index.html"
must "with its line and who is there" grep -q '<mark>  20  .*</mark><em>      thread 1 writes, thread 2 reads</em><code>' "$folder/traced/index.html"
must "and its advice" grep -q '>Advice: put a barrier there<' "$folder/traced/index.html"
must "no other hazard" lacks 'nobody wrote|element 3' "$folder/traced/index.html"
must "and says what a link is" grep -q 'is a link, the link shows it step by step' "$folder/traced/index.html"
must "others have no link" grep -q '<th scope="row">last_block <span' "$folder/traced/index.html"
[ -d "$build/counters" ] || must "nor have those without it" lacks 'href="t|step by step' "$folder/cpu/index.html"

cp -r "$top"/[0-9]* "$folder" && mkdir "$folder/common" && cp -r "$top/common/tools" "$folder/common"
must "the plots of results/" sh "$top/common/tools/plots.sh" "$folder"
settings() { sed -n "/^program /q; s/^$2  *//p" "$folder/$1/report.txt" 2>/dev/null; } # of the program with the folder's name
measured=""
for sample in $samples; do
    results=$folder/$sample/results data=$folder/gpu/$sample
    [ -e "$results/h200.svg" ] || continue
    measured="$measured $sample"
    mkdir -p "$data"
    for run in run $(settings "$sample" 'gpu run' | sed 's/ .*//'); do
        tag=$(settings "$sample" "beside $run")
        [ -n "$tag" ] || { [ "$run" = run ] && tag=default || tag=$run; }
        cp "$results/h200_$tag.csv" "$data/$run.csv" 2>/dev/null
        cp "$results/h200_$tag.txt" "$data/$run.txt" 2>/dev/null
    done
    mv "$results/h200.svg" "$data/plot.svg"
done
samples=$measured
must "the page of a GPU's figures" "$build/report_page" "$folder/gpu" "$folder" gpu "$folder/gpu.html"
page "$folder/gpu.html"
must "times of both" grep -q '>µs</th><th scope="col" class="n">NVIDIA H200, µs</th>' "$folder/gpu.html"
sed -i.bak '1s/,spread,/,before,/; 1s/$/,spread/; 2,$s/$/,1.5/' "$folder/gpu/04_reduction_variants/run.csv"
"$build/report_page" "$folder/gpu" "$folder" gpu "$folder/spread.html"
must "a spread is a whisker" grep -q '<i style="--p:[0-9.]*;--s:1.5"></i>' "$folder/spread.html"
must "and its figure is where one points" grep -q 'spread 1.5 %' "$folder/spread.html"

# If the vendor's library is missing, so is its line in the table.
for tag in default exact 2_24; do
    grep -v cublasSdot "$top/03_dot_shared/results/h200_$tag.csv" >"$folder/no_library_$tag.csv"
done
must "a plot without the library" sh "$top/common/tools/draw.sh" "$top/03_dot_shared" "$folder/no_library.svg" x \
    "$folder"/no_library_default.csv "$folder"/no_library_exact.csv "$folder"/no_library_2_24.csv
must "names its lines" grep -q '<text>vectorised</text>' "$folder/no_library.svg"
must "and no other" lacks cublasSdot "$folder/no_library.svg"

# A sample that failed, one that printed nothing, and one without GPU results.
mkdir "$folder/odd" && cp -r "$folder/cpu/data" "$folder/odd" && rm -r "$folder/03_dot_shared/results"
sed -i.bak 's/^PASSED: \(04_reduction_variants\):.*/FAILED: \1: 1 result is wrong/; s/^    .*//' "$folder/odd/data/04_reduction_variants/run.txt"
: >"$folder/odd/data/06_shared_image/run.txt" && rm -f "$folder"/odd/data/06_shared_image/*.csv
must "a page of them" "$build/report_page" "$folder/odd/data" "$folder" cpu "$folder/odd.html"
must "each verdict is said once" test "$(grep -o '"verdict bad">[^<]*' "$folder/odd.html" | tr '\n' ' ')" = \
    '"verdict bad">FAILED: 1 result is wrong "verdict bad">FAILED: it printed no verdict '
must "no header or box is empty, and no name left out" lacks '<th[^>]*></th>| an? ?</th>|<pre[^>]*>[[:space:]]*</pre>' "$folder/odd.html"
must "every tag is closed" closed "$folder/odd.html"

# Bad input is rejected, and the page is not changed.
first=${samples# } first=${first%% *}
echo "1,2" >>"$folder/gpu/$first/run.csv"
"$build/report_page" "$folder/gpu" "$folder" gpu "$folder/bad.html" 2>"$folder/err"
must "a broken line of a CSV file is named" grep -q 'run.csv, line [0-9]*: 2 fields' "$folder/err"
must "no page of it" test ! -e "$folder/bad.html"
echo "nonsense" >"$folder/none.csv"
sh "$top/common/tools/draw.sh" "$top/$first" "$folder/bad.svg" x "$folder/none.csv" 2>"$folder/err"
must "a CSV file without figures is refused" grep -q "could not draw .*/$first/plot.gp" "$folder/err"
must "no plot of it" test -z "$(ls "$folder" | grep '^bad')"
finish
