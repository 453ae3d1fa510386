# plot.gp CSV LARGE.csv OUT.svg: time by variant, for a small picture and for a large one.
load style
set terminal svg size 600,420 font "sans-serif,18" name "p06"
set output ARG3

array file[2] = [ARG1, ARG2]
set multiplot
set format y ""
set ytics 1
set tmargin at screen 0.9
set bmargin at screen 0.2
unset xtics
set xlabel "time in µs"
unset grid
label(t) = t > 0 ? digits(t) : ""
do for [i=1:2] {
    set autoscale
    stats csv(file[i]) using (column("time_us")) name "t" nooutput
    stats csv(file[i]) using (column("n")) name "n" nooutput
    set yrange [t_records - 0.5:-0.5]
    set xrange [0:t_max * 1.5]
    set lmargin at screen (i == 1 ? 0.27 : 0.67)
    set rmargin at screen (i == 1 ? 0.62 : 0.98)
    set title sprintf("%.0f × %.0f pixels", sqrt(n_max), sqrt(n_max)) offset 0,-0.5
    plot csv(file[i]) using (column("time_us") / 2):0:(column("time_us") / 2):(0.3) \
             with boxxyerror fs solid noborder lc rgb blue, \
         "" using (column("time_us")):0:(label(column("time_us"))) with labels left offset 0.5,0 font ",16", \
         "" using (0):0:(i == 1 ? stringcolumn("variant") : "") with labels right offset -1,0 noenhanced
}
unset multiplot
set format y ""
set ytics 1
