# plot.gp DEFAULT.csv SIZES.csv OUT.svg: the time of each rung, a bar each, with lines for CUB and the limit; below, how
# many times the limit's time each takes, by size. Without SIZES.csv the bars alone.
load style
both = ARGC == 3
if (both) out = ARG3; else out = ARG2
if (both) set terminal svg size 600,980 font "sans-serif,18" name "p04"
if (!both) set terminal svg size 600,520 font "sans-serif,18" name "p04"
set output out
rungs = "modulo strided_index sequential first_add shuffle grid_stride coop_groups vectorised last_block one_word packed"
count = words(rungs)
place(v) = sum [i=1:count] (word(rungs, i) eq v ? i : 0)
us(v) = stringcolumn("variant") eq v ? column("time_us") : NaN
# The colour is the family: trees in shared memory, a warp's registers, a grid that loops, one launch.
colours = "orange orange orange purple purple green green green blue blue blue"
colour(i) = value(word(colours, i))

stats csv(ARG1) using (us("CUB")) nooutput
cub = STATS_max
stats csv(ARG1) using (us("read only")) nooutput
limit = STATS_max
stats csv(ARG1) using (place(stringcolumn("variant")) > 0 ? column("time_us") : NaN) nooutput
most = STATS_max

if (both) set multiplot
set lmargin at screen 0.24
set rmargin at screen 0.95
if (both) set tmargin at screen 0.97; set bmargin at screen 0.53
if (!both) set tmargin at screen 0.94; set bmargin at screen 0.17
set yrange [count + 1.6:0.4]
set xrange [0:most * 1.15]
unset ytics
set xtics autofreq
set grid xtics noytics
set xlabel "µs" offset 0,0.4
do for [i=1:count] { set label 100 + i word(rungs, i) at graph -0.02, first i right noenhanced }
set arrow 1 from cub, 0.5 to cub, count + 1.3 nohead lw 2 lc rgb ink
set arrow 2 from limit, 0.5 to limit, count + 1.3 nohead lw 2 dt 2 lc rgb ink
set label 1 sprintf("CUB %s, limit %s (dashed)", digits(cub), digits(limit)) at cub + most * 0.02, count + 1.1 left font ",16"
set style fill solid
plot for [i=1:count] csv(ARG1) using (column("time_us") / 2):(us(word(rungs, i)) > 0 ? i : NaN):(column("time_us") / 2):(0.36) \
         with boxxyerror lc rgb colour(i), \
     for [i=1:count] csv(ARG1) using (column("time_us") + most * 0.01):(us(word(rungs, i)) > 0 ? i : NaN):(digits(column("time_us"))) \
         with labels left font ",16"
