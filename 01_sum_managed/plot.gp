# plot.gp CSV OUT.svg: time by kind of memory, for the tutorial's kernel and for the best.
load style
set terminal svg size 600,660 font "sans-serif,18" name "p01"
set output ARG2

modes = "page_faults pageable prefetched zero_copy overlapped pinned resident"
mode_of(v) = sum [i=1:words(modes)] (v eq word(modes, i) ? i : 0)
row_of(v) = mode_of(v) ? 12 - mode_of(v) : \
            v eq "pinned copy only" ? 4 : v eq "CPU 1 thread" ? 3 : v[1:4] eq "CPU " ? 2 : NaN
row(up) = row_of(stringcolumn("variant")) + up
# Of which kernel is the point: 0 none, 1 the tutorial's, 2 the best
kernel(v, k) = mode_of(v) ? (k eq "tutorial" ? 1 : 2) : 0
t(k) = kernel(stringcolumn("variant"), stringcolumn("kernel")) == k ? column("time_us") : NaN
label(t) = t > 0 ? time_text(t) : ""

set logscale x
set xrange [8:40000]
set yrange [1.3:11.7]
set xtics ("10 µs" 10, "100 µs" 100, "1 ms" 1000, "10 ms" 10000)
set xlabel "time for all ints"
set ytics ("CPU, all threads" 2, "CPU, 1 thread" 3, "copy alone" 4)
do for [i=1:words(modes)] { set ytics add (sprintf("%s", word(modes, i)) 12 - i) }
set tmargin at screen 0.90
set key at screen 0.6, screen 0.995 center top vertical Left reverse samplen 0.5
array up[3] = [0, 0.18, -0.18]
array points[3] = [13, 7, 5]
names = "'' 'the tutorial’s kernel' 'the best kernel'"
colours = "grey orange blue"
plot for [k=0:2] csv(ARG1) using (t(k)):(row(up[k + 1])) \
         with points pt points[k + 1] ps 1.1 lc rgb value(word(colours, k + 1)) title word(names, k + 1), \
     for [k=0:2] "" using (t(k)):(row(up[k + 1])):(label(t(k))) with labels left offset 1,0 font ",16"
