# 02.gp CSV TIMELINE.csv OUT.svg: clocks against the number of blocks, and where and when blocks ran (--timeline).
load ARG0[1:strlen(ARG0) - 5] . "style.gp"
set terminal svg size 600,1000 font "sans-serif,18" name "p02"
set output ARG3

is_count(v) = v[strlen(v) - 5:] eq " block" || v[strlen(v) - 6:] eq " blocks"
blocks(v) = is_count(v) ? real(word(v, 1)) : NaN
timeline(count) = stringcolumn("variant") eq "timeline" && column("blocks") == count
number_of_blocks(x) = blocks(stringcolumn("variant"))
stats csv(ARG1) using (device = stringcolumn("device"), sms_of(device)) nooutput
sms = STATS_max
gpu = device[1:strstrt(device, ":") - 1]
# The timeline of the most blocks, but of no more than 16 for an SM.
few(n) = n <= 16 * sms ? n : NaN
stats csv(ARG2) using (stringcolumn("variant") eq "timeline" ? few(column("blocks")) : NaN) nooutput
shown = STATS_max
stats csv(ARG2) using (timeline(shown) ? column("end_ns") / 1000 : NaN) nooutput
last = STATS_max

set multiplot
set lmargin at screen 0.15
set rmargin at screen 0.97

set tmargin at screen 0.955
set bmargin at screen 0.60
set logscale x 2
set logscale y
set xrange [0.8:6000]
set yrange [1000:40000]
set xtics ("1" 1, "8" 8, "32" 32, "1,056" 1056, "4,224" 4224)
set xtics add (sprintf("%d", sms) sms)
set ytics ("1,000" 1000, "2,000" 2000, "5,000" 5000, "10,000" 10000, "20,000" 20000, "40,000" 40000)
set xlabel "blocks of 256 threads"
set title "Clocks of one block" offset 0,-0.3
set arrow from sms, 1000 to sms, 40000 nohead lc rgb ink dashtype 2
set label sprintf("%d SMs: one\nblock on each", sms) at sms * 1.15, 30000 left font ",16"
set key at screen 0.16, screen 0.945 left top Left reverse samplen 2
plot csv(ARG1) using (number_of_blocks(0)):(column("G80 clocks")) with linespoints pt 9 ps 1.1 lw 2 dt 2 lc rgb orange title "G80 of 2006 (16 SMs)", \
     "" using (number_of_blocks(0)):(column("clocks p95")) with linespoints pt 6 ps 0.7 lw 1 dt 3 lc rgb blue title gpu . ", p95", \
     "" using (number_of_blocks(0)):(column("clocks mean")) with linespoints pt 7 ps 0.9 lw 2 lc rgb blue title gpu . ", mean"
unset arrow
unset label
unset logscale

array seen[1024]
do for [i=1:1024] { seen[i] = 0 }
rows = 32
set tmargin at screen 0.46
set bmargin at screen 0.08
set xrange [0:last * 1.02]
set yrange [rows:-0.3]
set xtics autofreq
set ytics autofreq 0,4
set title sprintf("%d blocks, the first %d SMs: a line a block", shown, rows) offset 0,-0.3
set xlabel "µs since the first block began"
set ylabel "SM" offset 1.5
per_sm = ceil(shown / sms)
wanted(x) = timeline(shown) && column("sm") < rows ? x : NaN
place(sm) = (seen[sm + 1] = seen[sm + 1] + 1, sm + 0.8 * (seen[sm + 1] - 1) / per_sm)
plot csv(ARG2) using (wanted(column("begin_ns") / 1000)):(wanted(1) == 1 ? place(int(column("sm"))) : NaN): \
         ((column("end_ns") - column("begin_ns")) / 1000):(0) with vectors nohead lw 1.4 lc rgb blue
unset multiplot
