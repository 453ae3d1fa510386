# plot.gp DEFAULT.csv SIZES.csv OUT.svg: the time of each rung, a bar each, with lines for CUB and the limit; below, how
# many times the limit's time each takes, by size. Without SIZES.csv the bars alone.
load style
both = ARGC == 3
if (both) out = ARG3; else out = ARG2
if (both) set terminal svg size 600,980 font "sans-serif,18" name "p04"
if (!both) set terminal svg size 600,520 font "sans-serif,18" name "p04"
set output out
rungs = "modulo strided_index sequential first_add shuffle grid_stride vectorised last_block one_word packed"
count = words(rungs)
place(v) = sum [i=1:count] (word(rungs, i) eq v ? i : 0)
us(v) = stringcolumn("variant") eq v ? column("time_us") : NaN
# The colour is the family: trees in shared memory, a warp's registers, a grid that loops, one launch.
colours = "orange orange orange orange purple green green blue blue blue"
colour(i) = value(word(colours, i))

stats csv(ARG1) using (us("CUB")) nooutput
cub = STATS_max
stats csv(ARG1) using (us("read only")) nooutput
limit = STATS_max
stats csv(ARG1) using (place(stringcolumn("variant")) > 0 ? column("time_us") : NaN) nooutput
most = STATS_max
if (both) stats csv(ARG2) using (column("n")) nooutput; largest = STATS_max

if (both) set multiplot
set lmargin at screen 0.27
set rmargin at screen 0.95
if (both) set tmargin at screen 0.97; set bmargin at screen 0.53
if (!both) set tmargin at screen 0.94; set bmargin at screen 0.17
set yrange [count + 1.6:0.4]
set xrange [0:most * 1.15]
unset ytics
# A bar's label stands behind its end, and behind CUB's line where that would cross it.
label_at(x) = (x < cub * 1.03 && x > cub - most * 0.12 ? cub : x) + most * 0.012
set xtics 40
set grid xtics noytics
set xlabel "µs" offset 0,0.4
do for [i=1:count] { set label 100 + i word(rungs, i) at graph -0.02, first i right noenhanced font ",16" }
set arrow 1 from cub, 0.5 to cub, count + 1.3 nohead front lw 2 lc rgb ink
set label 1 sprintf("CUB %s, limit %s (dashed)", digits(cub), digits(limit)) at cub + most * 0.02, count + 1.1 left font ",16"
set style fill solid
plot for [i=1:count] csv(ARG1) using (column("time_us") / 2):(us(word(rungs, i)) > 0 ? i : NaN):(column("time_us") / 2):(0.36) \
         with boxxyerror lc rgb colour(i), \
     for [i=1:count] csv(ARG1) using (label_at(column("time_us"))):(us(word(rungs, i)) > 0 ? i : NaN):(digits(column("time_us"))) \
         with labels left font ",16", \
     [y=0.5:count + 1.3] "+" using (limit):(y) with lines lw 2 dt 2 lc rgb ink

if (!both) exit
# ---- the second panel: rows of one size stand together, its limit first
unset label
unset arrow
set tmargin at screen 0.44
set bmargin at screen 0.19
set lmargin at screen 0.14
set logscale x 2
set logscale y 2
set xrange [1024:largest * 1.1]
set yrange [0.9:24]
set xtics ("2^{12}" 2**12, "2^{16}" 2**16, "2^{20}" 2**20, "2^{24}" 2**24, "2^{28}" 2**28)
set ytics nomirror 1,2,16
set grid xtics ytics
set xlabel "elements" offset 0,0.3
set ylabel "times the limit's time" offset 1.3
set key at screen 0.5, screen 0.01 bottom center horizontal Left reverse maxcols 3 samplen 2 width -1 font ",16"
shown = "modulo sequential shuffle grid_stride last_block packed"
shown_colours = "orange orange purple green blue blue"
points = "6 5 9 7 6 5"
times(v) = stringcolumn("variant") eq v ? 100 / column("percent_of_limit") : NaN
plot csv(ARG2) using "n":(times("CUB")) with lines lw 3 lc rgb ink title "CUB", \
     for [i=1:words(shown)] csv(ARG2) using "n":(times(word(shown, i))) with linespoints lw 1.5 ps 0.7 \
         pt int(word(points, i)) lc rgb value(word(shown_colours, i)) title word(shown, i)
unset multiplot
