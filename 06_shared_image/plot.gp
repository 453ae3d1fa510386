# plot.gp CSV LARGE.csv OUT.svg: time by variant, for a small picture and for a large one.
load style
set terminal svg size 600,340 font "sans-serif,18" name "p06"
set output ARG3

array file[2] = [ARG1, ARG2]
set multiplot
set format y ""
set ytics 1
set tmargin at screen 0.91
set bmargin at screen 0.15
unset xtics
unset grid
label(t) = t > 0 ? digits(t) : ""
bar(x) = stringcolumn("variant") eq "memset" ? NaN : column("time_us")
said(x) = stringcolumn("variant") . sprintf(": %s µs, %.1f %% of the limit", digits(column("time_us")), column("percent_of_limit"))
do for [i=1:2] {
    set autoscale
    stats csv(file[i]) using (column("time_us")) name "t" nooutput
    stats csv(file[i]) using (column("n")) name "n" nooutput
    stats csv(file[i]) using (stringcolumn("variant") eq "memset" ? column("time_us") : NaN) name "limit" nooutput
    set yrange [t_records - 0.5:0.4]
    set xrange [0:t_max * 1.5]
    set lmargin at screen (i == 1 ? 0.27 : 0.67)
    set rmargin at screen (i == 1 ? 0.62 : 0.98)
    set xlabel sprintf("µs, %.0f² pixels", sqrt(n_max)) offset 0,0.4 font ",17"
    set label 1 sprintf("memset, %s µs", digits(limit_max)) at limit_max, graph 1.04 left offset -1,0 textcolor rgb green font ",17"
    plot csv(file[i]) using (bar(1) / 2):0:(bar(1) / 2):(0.3) with boxxyerror fs solid noborder lc rgb blue, \
         [y=0.4:t_records - 0.5] "+" using (limit_max):(y) with lines lw 2 lc rgb green, \
         csv(file[i]) using (bar(1)):0:(label(bar(1))) with labels left offset 0.5,0 font ",17", \
         "" using (bar(1)):0:(said(1)) @hover, \
         "" using (0):0:(i == 1 && bar(1) > 0 ? stringcolumn("variant") : "") with labels right offset -1,0 noenhanced font ",17"
}
unset multiplot
