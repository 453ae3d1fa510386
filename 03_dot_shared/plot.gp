# plot.gp CSV EXACT.csv SIZE.csv... OUT.svg: error with its bound, and time, by variant: the sample's, and those that only
# the sequel has. A row without an error is left of the logarithmic axis. Below, % of the limit by size, where more sizes
# than the first CSV's are given.
load style
both = ARGC > 3
set terminal svg size 600, (both ? 830 : 480) font "sans-serif,18" name "p03"
set output value(sprintf("ARG%d", ARGC))

# Both files as one, as csv() reads one: without the second header, and without rows whose variant has been there.
rows = "< awk -F '\"' -v OFS= '{ split($3, field, \",\"); if (FNR == 1 ? NR > 1 : seen[field[5]]++) next; " . \
       "for (i = 2; i <= NF; i += 2) gsub(/,/, \"\", $i); print }' '" . ARG1 . "' '" . ARG2 . "' | sed '/^[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,read only,/d'"
stats rows using (column("n")) nooutput
exact = 1e-18
known(name) = strlen(stringcolumn(name)) ? column(name) : NaN
above_0(x) = x > 0 ? x : NaN
only_0(x) = x == 0 ? exact : NaN
said(name) = sprintf("%s: %s %s", stringcolumn("variant"), name, stringcolumn(name))

set multiplot
set tmargin at screen (both ? 0.945 : 0.92)
set bmargin at screen (both ? 0.515 : 0.16)
set lmargin at screen 0.3
set rmargin at screen 0.97
set label 1 "error" at graph 0.02, graph 1.05 point pt 7 ps 1 lc rgb orange offset 1,0
set label 2 "its bound" at graph 0.27, graph 1.05 point pt 9 ps 1 lc rgb grey offset 1,0
set label 3 "time, µs" at graph 1, graph 1.05 right
set arrow 1 from exact * 50, graph 0 to exact * 50, graph 1 nohead lc rgb grey lw 1
set yrange [STATS_records - 0.4:-0.6]
set logscale x
set xrange [exact / 50:1e5]
set xtics ("0" exact, "10^{-15}" 1e-15, "10^{-12}" 1e-12, "10^{-9}" 1e-9, "10^{-6}" 1e-6, "10^{-3}" 1e-3)
set xlabel "relative error" offset 0,0.3
plot rows using (known("bound")):0:yticlabels(stringcolumn("variant")) with points pt 9 ps 1 lc rgb grey, \
     "" using (above_0(known("error"))):0 with points pt 7 ps 1 lc rgb orange, \
     "" using (only_0(known("error"))):0 with points pt 7 ps 1 lc rgb orange, \
     "" using (5e4):0:(strlen(stringcolumn("time_us")) ? digits(column("time_us")) : "–") with labels right font ",17", \
     "" using (known("bound")):0:(said("bound")) @hover, \
     "" using (above_0(known("error"))):0:(said("error")) @hover
if (!both) exit

unset label
unset arrow
unset key
set tmargin at screen 0.43
set bmargin at screen 0.085
set lmargin at screen 0.13
set rmargin at screen 0.76
files = ARG1
do for [i=3:ARGC - 1] { files = files . "' '" . value(sprintf("ARG%d", i)) }
sizes = csv(files) . " | awk 'NR == 1 || !/^sample,/'"
shown = "tutorial last_block shuffle vectorised warp_atomics cublasSdot"
library = "cublasSdot"
load style[:strlen(style) - 8] . "sizes.gp"
unset multiplot
