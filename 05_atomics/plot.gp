# plot.gp CSV OUT.svg: the time of each sum in one word as a bar, with the limit and the library.
load style
set terminal svg size 600,400 font "sans-serif,18" name "p05"
set output ARG2

rungs = "race_sum atomic_sum local_sum block_sum vector_sum"
count = words(rungs)
place(v) = sum [i=1:count] (v eq word(rungs, i) ? i : 0)
row(v) = place(v) ? place(v) : NaN
of(name) = stringcolumn("variant") eq name ? column("time_us") : NaN
stats csv(ARG1) using (of("read only")) name "limit" nooutput
stats csv(ARG1) using (of("CUB")) name "library" nooutput
stats csv(ARG1) using (place(stringcolumn("variant")) > 0 ? column("time_us") : NaN) name "rung" nooutput

set xrange [0:rung_max * 1.3]
set yrange [count + 1.5:0.4]
set grid xtics noytics
set xlabel "time in µs, cold L2"
set ytics ()
do for [i=1:count] { set ytics add (word(rungs, i) i) }
set lmargin at screen 0.22
set arrow 1 from library_max, 0.5 to library_max, count + 1.2 nohead lw 2 lc rgb ink front
set label 1 sprintf("CUB %s, limit %s (dashed)", digits(library_max), digits(limit_max)) \
    at library_max + rung_max * 0.02, count + 1 left font ",16"
# A label stands behind its bar's end, and behind CUB's line where that would cross it.
label_at(x) = (x < library_max ? library_max : x) + rung_max * 0.015
colour(v) = v eq "race_sum" ? 0x7f7f7f : 0x1f83c4
words_for(v, us) = v eq "race_sum" ? digits(us) . ", wrong" : digits(us)
plot csv(ARG1) using (column("time_us") / 2):(row(stringcolumn("variant"))):(column("time_us") / 2):(0.32): \
         (colour(stringcolumn("variant"))) with boxxyerror fs solid noborder lc rgb variable, \
     "" using (label_at(column("time_us"))):(row(stringcolumn("variant"))): \
         (words_for(stringcolumn("variant"), column("time_us"))) with labels left font ",16", \
     [y=0.5:count + 1.2] "+" using (limit_max):(y) with lines lw 2 dt 2 lc rgb ink
