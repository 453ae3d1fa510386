# plot.gp CSV HOST.csv OUT.svg: time by kind of memory. From the first file, managed memory with the tutorial's kernel
# and with the best; from 01_host_data's, the other ways, the copy alone and the CPU.
load style
set terminal svg size 600,640 font "sans-serif,18" name "p01"
set output ARG3
stats csv(ARG1) using (column("n")) nooutput

modes = "page_faults pageable prefetched zero_copy overlapped pinned resident"
mode_of(v) = sum [i=1:words(modes)] (v eq word(modes, i) ? i : 0)
row_of(v) = mode_of(v) ? 12 - mode_of(v) : \
            v eq "pinned copy only" ? 4 : v eq "CPU 1 thread" ? 3 : v[1:4] eq "CPU " ? 2 : NaN
managed(v) = v eq "page_faults" || v eq "prefetched" || v eq "resident"
row(up) = row_of(stringcolumn("variant")) + up
only(yes) = yes ? column("time_us") : NaN
with_kernel(k) = only(managed(stringcolumn("variant")) && (stringcolumn("kernel") eq k))
other_way(x) = only(mode_of(stringcolumn("variant")) > 0 && !managed(stringcolumn("variant")))
no_kernel(x) = only(mode_of(stringcolumn("variant")) == 0)
label(t) = t > 0 ? time_text(t) : ""
said(x) = stringcolumn("variant") . sprintf(": %s, %.1f GB/s", time_text(column("time_us")), column("gb_per_s"))

set logscale x
set xrange [8:40000]
set yrange [1.3:11.7]
set xtics ("10 µs" 10, "100 µs" 100, "1 ms" 1000, "10 ms" 10000)
set xlabel "time for " . with_commas(STATS_max) . " ints" offset 0,0.4
set ytics ("CPU, all threads" 2, "CPU, 1 thread" 3, "copy alone" 4)
do for [i=1:words(modes)] { set ytics add (sprintf("%s", word(modes, i)) 12 - i) }
set tmargin at screen 0.86
set key at screen 0.6, screen 0.995 center top vertical Left reverse samplen 0.5
plot csv(ARG1) using (with_kernel("tutorial")):(row(0.18)) with points pt 7 ps 1.1 lc rgb orange title "the tutorial’s kernel", \
     "" using (with_kernel("two_sums")):(row(-0.18)) with points pt 5 ps 1.1 lc rgb blue title "the best kernel", \
     "" using (with_kernel("tutorial")):(row(0.18)):(label(with_kernel("tutorial"))) with labels left offset 1,0 font ",17", \
     "" using (with_kernel("two_sums")):(row(-0.18)):(label(with_kernel("two_sums"))) with labels left offset 1,0 font ",17", \
     csv(ARG2) using (other_way(0)):(row(0)) with points pt 9 ps 1.1 lc rgb purple title "a simple kernel", \
     "" using (other_way(0)):(row(0)):(label(other_way(0))) with labels left offset 1,0 font ",17", \
     "" using (no_kernel(0)):(row(0)) with points pt 13 ps 1.1 lc rgb grey, \
     "" using (no_kernel(0)):(row(0)):(label(no_kernel(0))) with labels left offset 1,0 font ",17", \
     "" using "time_us":(row(0)):(said(0)) @hover, \
     csv(ARG1) using (with_kernel("tutorial")):(row(0.18)):(said(0)) @hover, \
     "" using (with_kernel("two_sums")):(row(-0.18)):(said(0)) @hover
