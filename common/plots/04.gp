# 04.gp SIZES.csv OUT.svg: bandwidth by size, a line a variant.
load ARG0[1:strlen(ARG0) - 5] . "style.gp"
set terminal svg size 600,760 font "sans-serif,18" name "p04"
set output ARG2

stats csv(ARG1) using (column("nominal_gb_per_s")) nooutput
nominal = STATS_max
stats csv(ARG1) using (column("n")) nooutput
most = STATS_max

rate(v) = stringcolumn("variant") eq v ? column("gb_per_s") : NaN
set logscale x 2
set xrange [1024:most * 1.1]
set yrange [0:nominal * 1.08]
set xtics ("2^{12}" 2**12, "2^{16}" 2**16, "2^{20}" 2**20, "2^{24}" 2**24, "2^{28}" 2**28)
set xlabel "elements" offset 0,0.3
set ylabel "GB/s" offset 1.5
set label sprintf("nominal bandwidth, %.0f GB/s", nominal) at 1400, nominal offset 0,-0.7 left font ",16"
set bmargin at screen 0.38
set key at screen 0.5, screen 0.01 bottom center horizontal Left reverse maxcols 3 samplen 2.5 width -2
# The colour is the family, the point is the variant.
names = "modulo strided_index sequential first_add shuffle grid_stride coop_groups vectorised last_block one_word packed all_gpus"
colours = "orange orange orange purple purple green green green blue blue blue blue"
points = "6 8 5 7 9 7 9 5 6 8 5 4"
plot nominal with lines dt 3 lw 1 lc rgb ink, \
     csv(ARG1) using "n":(rate("read only")) with lines lw 3 dt 2 lc rgb ink title "read only (limit)", \
     "" using "n":(rate("CUB")) with lines lw 3 lc rgb ink title "CUB (library)", \
     for [i=1:words(names)] "" using "n":(rate(word(names, i))) with linespoints lw 1.5 ps 0.7 \
         pt int(word(points, i)) lc rgb value(word(colours, i)) title word(names, i)
