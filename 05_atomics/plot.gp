# plot.gp CSV OUT.svg: the time of each sum in one word as a bar, with lines for CUB and the limit.
load style
set terminal svg size 600,330 font "sans-serif,18" name "p05"
set output ARG2

rungs = "race_sum atomic_sum local_sum block_sum vector_sum"
count = words(rungs)
place(v) = sum [i=1:count] (v eq word(rungs, i) ? i : 0)
row(v) = place(v) ? place(v) : NaN
of(name) = stringcolumn("variant") eq name ? column("time_us") : NaN
stats csv(ARG1) using (of("read only")) name "limit" nooutput
stats csv(ARG1) using (of("CUB")) name "library" nooutput
stats csv(ARG1) using (place(stringcolumn("variant")) > 0 ? column("time_us") : NaN) name "rung" nooutput

set tmargin at screen 0.985
set bmargin at screen 0.22
set xrange [0:rung_max * 1.3]
set yrange [count + 0.6:0.4]
set grid xtics noytics
set xlabel "µs for 16 million numbers, cold L2" offset 0,0.4
set ytics ()
do for [i=1:count] { set ytics add (word(rungs, i) i) }
set lmargin at screen 0.23
set rmargin at screen 0.98
set key at graph 1, graph 0.06 right bottom Left reverse samplen 1.5
# A label is right of its bar's end, and right of CUB's line where that would cross it.
label_at(x) = (x < library_max ? library_max : x) + rung_max * 0.015
colour(v) = v eq "race_sum" ? 0x7f7f7f : 0x1f83c4
words_for(v, us) = v eq "race_sum" ? digits(us) . ", wrong" : digits(us)
said(v) = v . sprintf(": %s µs, %.1f %% of the limit", digits(column("time_us")), column("percent_of_limit"))
plot csv(ARG1) using (column("time_us") / 2):(row(stringcolumn("variant"))):(column("time_us") / 2):(0.32): \
         (colour(stringcolumn("variant"))) with boxxyerror fs solid noborder lc rgb variable, \
     [y=0.4:count + 0.6] "+" using (library_max):(y) with lines lw 2 lc rgb orange title sprintf("CUB, %s µs", digits(library_max)), \
     [y=0.4:count + 0.6] "+" using (limit_max):(y) with lines lw 2 lc rgb green title sprintf("limit, %s µs", digits(limit_max)), \
     csv(ARG1) using (label_at(column("time_us"))):(row(stringcolumn("variant"))): \
         (words_for(stringcolumn("variant"), column("time_us"))) with labels left font ",17", \
     "" using "time_us":(row(stringcolumn("variant"))):(said(stringcolumn("variant"))) @hover
