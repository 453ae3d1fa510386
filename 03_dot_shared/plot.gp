# plot.gp CSV EXACT.csv OUT.svg: error with its bound, and time, by variant: the sample's, and those that only the sequel
# has. An error of 0 has no place on the logarithmic axis; it stands at its left edge, as a ring over "exact".
load style
set terminal svg size 600,580 font "sans-serif,18" name "p03"
set output ARG3

# Both files as one, as csv() reads one: without the second header, and without rows whose variant has been there.
both = "< awk -F '\"' -v OFS= '{ split($3, field, \",\"); if (FNR == 1 ? NR > 1 : seen[field[5]]++) next; " . \
       "for (i = 2; i <= NF; i += 2) gsub(/,/, \"\", $i); print }' '" . ARG1 . "' '" . ARG2 . "'"

stats both using (column("n")) nooutput
stats both using (column("time_us")) name "time" nooutput
set yrange [STATS_records - 0.4:-0.6]
exact = 1e-18
set multiplot
set tmargin at screen 0.92
set bmargin at screen 0.13
set label 1 "error" at screen 0.33, screen 0.965 point pt 7 ps 1 lc rgb orange offset 1,0
set label 2 "its bound" at screen 0.48, screen 0.965 point pt 9 ps 1 lc rgb grey offset 1,0
set label 3 "time" at screen 0.72, screen 0.965 point pt 5 ps 1 lc rgb blue offset 1,0

set lmargin at screen 0.32
set rmargin at screen 0.64
set logscale x
set xrange [exact / 10:1]
set format x "10^{%T}"
set xtics ("exact" exact, "10^{-13}" 1e-13, "10^{-8}" 1e-8, "10^{-3}" 1e-3)
set xlabel "relative error"
known(name) = strlen(stringcolumn(name)) ? column(name) : NaN
above_0(x) = x > 0 ? x : NaN
only_0(x) = x == 0 ? exact : NaN
plot both using (above_0(known("error"))):0:yticlabels(stringcolumn("variant")) \
         with points pt 7 ps 1 lc rgb orange, \
     "" using (only_0(known("error"))):0 with points pt 6 ps 1 lw 2 lc rgb orange, \
     "" using (known("bound")):0 with points pt 9 ps 1 lc rgb grey

set lmargin at screen 0.71
set rmargin at screen 0.97
unset logscale
unset label
set format x "%g"
set xtics autofreq
set format y ""
set ytics 1
set xlabel "time in µs"
set xrange [0:time_max * 1.35]
plot both using (column("time_us")):0 with points pt 5 ps 1 lc rgb blue, \
     "" using (column("time_us")):0:(digits(column("time_us"))) with labels left offset 0.8,0 font ",16"
unset multiplot
