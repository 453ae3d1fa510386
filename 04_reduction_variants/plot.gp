# plot.gp DEFAULT.csv SIZES.csv OUT.svg: the time of each rung, a bar each, and what it has no more; lines for CUB and the
# limit. Below, % of the limit by size. Without SIZES.csv the bars alone.
load style
both = ARGC == 3
set terminal svg size 600, (both ? 800 : 450) font "sans-serif,18" name "p04"
set output both ? ARG3 : ARG2
names = "modulo masked strided_index sequential first_add shuffle grid_stride vectorised last_block atomic_add"
array without[10] = ["", "no remainder", "fewer warps", "no bank conflicts", "no idle threads", "fewer barriers", \
                     "fewer blocks", "no 4-byte loads", "no second launch", "no fence, no ticket"]
measured = ""  # of these
stats csv(ARG1) using (measured = measured . " " . stringcolumn("variant") . " ", 1) name "rows" nooutput
rungs = ""
do for [i=1:words(names)] { if (strstrt(measured, " " . word(names, i) . " ")) { rungs = rungs . word(names, i) . " " } }
count = words(rungs)
lacks(i) = without[sum [k=1:words(names)] (word(names, k) eq word(rungs, i) ? k : 0)]
of(name) = stringcolumn("variant") eq name ? column("time_us") : NaN
stats csv(ARG1) using (of("CUB")) name "cub" nooutput
stats csv(ARG1) using (of("read only")) name "limit" nooutput
stats csv(ARG1) using (of("modulo")) name "first" nooutput

set multiplot
set lmargin at screen 0.235
set rmargin at screen 0.98
set tmargin at screen 0.985
set bmargin at screen (both ? 0.545 : 0.19)
set yrange [count + 0.6:0.4]
set xrange [0:first_max * 1.15]
unset ytics
set grid xtics noytics
set xlabel "µs for ten million elements" offset 0,0.4
set key at graph 1.09, graph 0.47 right top Left reverse samplen 1.5
# A bar's label is right of its end, and right of CUB's line where that would cross it.
label_at(x) = (x < cub_max * 1.03 ? cub_max : x) + first_max * 0.015
words_for(i) = digits(column("time_us")) . "   " . lacks(i)
said(i) = word(rungs, i) . sprintf(": %s µs, %.1f %% of the limit", digits(column("time_us")), column("percent_of_limit"))
do for [i=1:count] { set label 100 + i word(rungs, i) at graph -0.015, first i right noenhanced font ",17" }
set style fill solid noborder
plot for [i=1:count] csv(ARG1) using (column("time_us") / 2):(of(word(rungs, i)) > 0 ? i : NaN):(column("time_us") / 2):(0.36) \
         with boxxyerror lc rgb blue, \
     [y=0.4:count + 0.6] "+" using (cub_max):(y) with lines lw 2 lc rgb orange title sprintf("CUB, %s µs", digits(cub_max)), \
     [y=0.4:count + 0.6] "+" using (limit_max):(y) with lines lw 2 lc rgb green title sprintf("limit, %s µs", digits(limit_max)), \
     for [i=1:count] csv(ARG1) using (label_at(column("time_us"))):(of(word(rungs, i)) > 0 ? i : NaN):(words_for(i)) \
         with labels left font ",17", \
     for [i=1:count] csv(ARG1) using "time_us":(of(word(rungs, i)) > 0 ? i : NaN):(said(i)) @hover
if (!both) exit

unset label
unset key
set tmargin at screen 0.45
set bmargin at screen 0.09
set lmargin at screen 0.13
set rmargin at screen 0.78
sizes = csv(ARG2)
shown = "modulo sequential shuffle grid_stride last_block atomic_add CUB"
library = "CUB"
load style[:strlen(style) - 8] . "sizes.gp"
unset multiplot
