#!/bin/sh
# bench.sh BUILD FOLDER: runs every sample over its sizes on the GPU, keeps what each one wrote as
# FOLDER/SAMPLE/gpu_TAG.csv, and ends with one table: the bar, what was measured, and whether it was reached.
# Exit status: 0 measured (reached or not: another GPU has other ratios), 1 a sample failed, 77 no GPU.
set -u
build=$1 folder=$2
failed=0

# bench SAMPLE TAG ARGUMENT...
bench() {
    sample=$1 tag=$2
    shift 2
    mkdir -p "$folder/$sample" || exit 3
    printf '%-22s %-16s %s\n' "$sample" "$tag" "$*"
    "$build/gpu/$sample" "$@" --csv "$folder/$sample/gpu_$tag.csv" >"$folder/$sample/gpu_$tag.txt" 2>&1
    status=$?
    [ $status = 0 ] && return
    tail -3 "$folder/$sample/gpu_$tag.txt"
    [ $status = 77 ] && exit 77
    failed=1
}

if ! [ -x "$build/gpu/04_reduction_variants" ]; then
    echo "make bench measures GPUs, and there is no GPU build in $build/gpu. Type make doctor to see what is missing."
    exit 77
fi
bench 01_sum_managed default
bench 02_clock_min default
bench 02_clock_min timeline --timeline
bench 03_dot_shared default
bench 03_dot_shared 2_24 --n 16777216
bench 03_dot_shared 2_28 --n 268435456
bench 03_dot_shared 2_30 --n 1073741824
for type in int float double; do
    bench 04_reduction_variants sizes_$type --type $type --sweep
    bench 04_reduction_variants default_$type --type $type
    bench 04_reduction_variants 2_30_$type --type $type --n 1073741824
    for op in min max prod; do
        for power in 20 24 28; do
            bench 04_reduction_variants ${op}_2_${power}_$type --type $type --op $op --n $((1 << power))
        done
    done
done
bench 05_atomics default
bench 05_atomics addresses --addresses
bench 05_atomics 2_28 --n 268435456 --few 1024
bench 05_atomics 2_30 --n 1073741824 --few 1024
bench 06_shared_image default
bench 06_shared_image 16384 --width 16384 --height 16384

# One line a bar: how it is measured | sample | tag | n | variants (fewer are faster) | bar | the work in words.
#   library    the library's time in that run over the best of the variants: at least the bar
#   limit      % of the limit's row: at least the bar          nominal  % of the memory's nominal bandwidth: at least
#   over A     best time over row A's: at most the bar         speedup A  row A's time over the best: at least
#   clocks     % of the tutorial's clocks with a warm L2: at most the bar
any=modulo,strided_index,sequential,first_add,shuffle,grid_stride,coop_groups,vectorised,last_block,one_word,packed
dots=tutorial,no_shared,atomics,last_block,shuffle,vectorised,warp_atomics
{
    for type in int float; do
        for power in 16 18 20 22; do
            echo "library|04_reduction_variants|sizes_$type|$((1 << power))|$any|1.25|$type sum, 2^$power, x CUB"
        done
        echo "library|04_reduction_variants|default_$type|10000000|$any|1.2|$type sum, 10^7, x CUB"
        echo "library|04_reduction_variants|sizes_$type|$((1 << 24))|$any|1.15|$type sum, 2^24, x CUB"
        echo "library|04_reduction_variants|sizes_$type|$((1 << 26))|$any|1.03|$type sum, 2^26, x CUB"
        echo "library|04_reduction_variants|sizes_$type|$((1 << 28))|$any|1.00|$type sum, 2^28, x CUB"
        echo "library|04_reduction_variants|2_30_$type|$((1 << 30))|$any|1.00|$type sum, 2^30, x CUB"
        echo "nominal|04_reduction_variants|2_30_$type|$((1 << 30))|$any|93|$type sum, 2^30, % of nominal bandwidth"
    done
    for power in 20 24 28; do
        for type in int float double; do
            for op in min max prod; do
                echo "library|04_reduction_variants|${op}_2_${power}_$type|$((1 << power))|$any|1.00|$type $op, 2^$power, x CUB"
            done
        done
        echo "library|04_reduction_variants|sizes_double|$((1 << power))|$any|1.00|double sum, 2^$power, x CUB"
    done
    echo "library|01_sum_managed|default|10000000|tutorial,full_grid,warp_fold,vectorised,last_block|1.25|10^7 ints on the GPU, x CUB"
    echo "over pinned copy only|01_sum_managed|default|10000000|prefetched,pinned,overlapped|1.15|10^7 ints from the host, time of the copy alone"
    echo "library|03_dot_shared|default|33792|$dots|2|dot product, 33,792, x cublasSdot"
    echo "library|03_dot_shared|2_24|$((1 << 24))|$dots|1.15|dot product, 2^24, x cublasSdot"
    echo "library|03_dot_shared|2_28|$((1 << 28))|$dots|1.02|dot product, 2^28, x cublasSdot"
    echo "library|03_dot_shared|2_30|$((1 << 30))|$dots|1.02|dot product, 2^30, x cublasSdot"
    for power in 24 28 30; do
        tag=2_$power bar=1.5
        [ $power = 24 ] && tag=default bar=1.4
        echo "library|05_atomics|$tag|$((1 << power))|push_back,warp_filter,block_filter|$bar|filter, half of 2^$power, x CUB"
        echo "library|05_atomics|$tag|$((1 << power))|ordered_filter|1.00|ordered filter, half of 2^$power, x CUB"
    done
    echo "limit|05_atomics|2_30|$((1 << 30))|block_filter|95|filter, half of 2^30, % of the copy"
    echo "over packed of 04_reduction_variants sizes_int|05_atomics|default|$((1 << 24))|vector_sum|1.05|sum to one address, 2^24, time of 04's best"
    echo "speedup tutorial|06_shared_image|16384|$((1 << 28))|conflict_free,no_shared,separable,wide_stores,no_conversion|8|image 16384^2, x the tutorial's kernel"
    echo "over memset|06_shared_image|16384|$((1 << 28))|wide_stores,no_conversion|1.25|image 16384^2, time of memset"
    echo "clocks|02_clock_min|default|32768|shuffle,redux,one_warp|50|clocks of one block, warm L2, % of the tutorial's"
} >"$folder/bars.txt"

echo
awk -F'|' -v folder="$folder" '
function fields(line, out,    i, c, n, quoted) {  # of a CSV line; "" within quotes does not occur in what is read here
    n = 1; out[1] = ""; quoted = 0
    for (i = 1; i <= length(line); ++i) {
        c = substr(line, i, 1)
        if (c == "\"") quoted = !quoted
        else if (c == "," && !quoted) out[++n] = ""
        else out[n] = out[n] c
    }
    return n
}
# The best (least or greatest) value of a column among the rows that are named and have this n.
function best(sample, tag, n, names, column, greatest,    file, line, head, row, i, at, value, found) {
    file = folder "/" sample "/gpu_" tag ".csv"; found = ""
    if ((getline line < file) <= 0) return ""
    for (i = fields(line, head); i > 0; --i) at[head[i]] = i
    while ((getline line < file) > 0) {
        fields(line, row)
        value = row[at[column]]
        if (value == "" || row[at["n"]] != n || index("," names ",", "," row[at["variant"]] ",") == 0) continue
        if (row[at["verdict"]] == "WRONG") continue
        if (found == "" || (greatest ? value + 0 > found + 0 : value + 0 < found + 0)) {
            found = value
            chosen = row[at["variant"]]
        }
    }
    close(file)
    return found
}
BEGIN { printf "%-22s  %-44s  %8s  %9s  %-7s  %s\n", "sample", "work", "bar", "measured", "reached", "variant" }
{
    how = $1; sample = $2; tag = $3; n = $4; names = $5; bar = $6; chosen = ""; greatest = 1
    if (how == "library") value = best(sample, tag, n, names, "times_library", 1)
    else if (how == "limit") value = best(sample, tag, n, names, "percent_of_limit", 1)
    else if (how == "nominal") {
        value = best(sample, tag, n, names, "gb_per_s", 1); nominal = best(sample, tag, n, chosen, "nominal_gb_per_s", 1)
        if (nominal > 0) value = 100 * value / nominal
    } else if (how == "clocks") { value = best(sample, tag, n, names, "% of tut. warm", 0); greatest = 0 }
    else {
        other = how; sub(/^[a-z]+ /, "", other); from = sample; from_tag = tag
        if (split(other, part, " of ") == 2) { other = part[1]; split(part[2], where, " "); from = where[1]; from_tag = where[2] }
        reference = best(from, from_tag, n, other, "time_us", 0); time = best(sample, tag, n, names, "time_us", 0)
        greatest = how ~ /^speedup/
        value = time == "" || reference == "" ? "" : greatest ? reference / time : time / reference
    }
    ok = value == "" ? "unknown" : (greatest ? value + 0 >= bar + 0 : value + 0 <= bar + 0) ? "yes" : "no"
    ++count[ok]
    printf "%-22s  %-44s  %s%6s  %9s  %-7s  %s\n", sample, $7, greatest ? ">=" : "<=", bar, value == "" ? "-" : sprintf("%.2f", value), ok, chosen
}
END { printf "\n%d bars: %d reached, %d not, %d not measured\n", NR, count["yes"], count["no"], count["unknown"] }
' "$folder/bars.txt" | tee "$folder/bars_table.txt"
exit $failed
