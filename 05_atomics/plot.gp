# plot.gp CSV OUT.svg: the time of each sum in one word as a bar, with the limit and the library.
load style
set terminal svg size 600,400 font "sans-serif,18" name "p05"
set output ARG2

rungs = "race_sum atomic_sum local_sum block_sum vector_sum"
place(v) = sum [i=1:words(rungs)] (v eq word(rungs, i) ? i : 0)
row(v) = place(v) ? place(v) : NaN
of(name) = stringcolumn("variant") eq name ? column("time_us") : NaN
stats csv(ARG1) using (of("read only")) name "limit" nooutput
stats csv(ARG1) using (of("CUB")) name "library" nooutput

set logscale x
set xrange [8:2000]
set yrange [words(rungs) + 0.6:0.4]
set xtics ("10 µs" 10, "100 µs" 100, "1 ms" 1000)
set xlabel "time, cold L2"
set ytics ()
do for [i=1:words(rungs)] { set ytics add (word(rungs, i) i) }
set lmargin at screen 0.22
set tmargin at screen 0.86
set arrow 1 from limit_max, graph 0 to limit_max, graph 1 nohead lw 1 lc rgb ink front
set arrow 2 from library_max, graph 0 to library_max, graph 1 nohead lw 2 lc rgb orange front
set label 1 "read only" at limit_max, graph 1 offset 0,1.6 right font ",16"
set label 2 "CUB" at library_max, graph 1 offset 0,0.7 left font ",16" textcolor rgb orange
colour(v) = v eq "race_sum" ? 0x7f7f7f : 0x1f83c4
plot csv(ARG1) using (8):(row(stringcolumn("variant"))):(8):(column("time_us")):(row(stringcolumn("variant")) - 0.32): \
         (row(stringcolumn("variant")) + 0.32):(colour(stringcolumn("variant"))) with boxxyerror fs solid noborder lc rgb variable, \
     "" using (column("time_us")):(row(stringcolumn("variant"))): \
         (stringcolumn("variant") eq "race_sum" ? time_text(column("time_us")) . ", wrong" : time_text(column("time_us"))) \
         with labels left offset 0.6,0 font ",16"
