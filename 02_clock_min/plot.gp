# plot.gp BLOCKS.csv TIMELINE.csv OUT.svg: clocks by the number of blocks (02_resident_blocks), and where and when they ran (--timeline).
load style
set terminal svg size 600,850 font "sans-serif,18" name "p02"
set output ARG3

is_count(v) = v[strlen(v) - 5:] eq " block" || v[strlen(v) - 6:] eq " blocks"
number_of_blocks(v) = is_count(v) ? real(word(v, 1)) : NaN
timeline(count) = stringcolumn("variant") eq "timeline" && column("blocks") == count
stats csv(ARG1) using (device = stringcolumn("device"), sms_of(device)) nooutput
sms = STATS_max
gpu = device[1:strstrt(device, ":") - 1]
stats csv(ARG2) using (stringcolumn("variant") eq "timeline" ? column("resident") : NaN) nooutput
resident = STATS_max
on_sm = int(resident / sms)
# Two waves: as many blocks again as are resident, or else the most blocks that the file has, but no more.
few(n) = n <= 2 * resident ? n : NaN
stats csv(ARG2) using (stringcolumn("variant") eq "timeline" ? few(column("blocks")) : NaN) nooutput
shown = STATS_max
shown_sms = sms < 4 ? sms : 4
of_shown(x) = timeline(shown) && column("sm") < shown_sms ? x : NaN
stats csv(ARG2) using (of_shown(column("end_ns") / 1000)) nooutput
last = STATS_max

said(name) = sprintf("%s: %s %s", stringcolumn("variant"), name, stringcolumn(name))
ran(x) = sprintf("block %d on SM %d: %.2f to %.2f µs", column("block"), column("sm"), column("begin_ns") / 1000.0, column("end_ns") / 1000.0)

set multiplot
set lmargin at screen 0.15
set rmargin at screen 0.97

set tmargin at screen 0.95
set bmargin at screen 0.605
set logscale x 2
set logscale y
set xrange [0.8:6000]
set yrange [1000:40000]
set xtics ("1" 1, "8" 8, "32" 32, "4,224" 4224)
set xtics add (sprintf("%d", sms) sms)
set xtics add (with_commas(resident) resident)
set ytics ("1,000" 1000, "2,000" 2000, "5,000" 5000, "10,000" 10000, "20,000" 20000, "40,000" 40000)
set xlabel "blocks of 256 threads" offset 0,0.4
set title "Clocks of one block" offset 0,-0.5
set arrow from sms, 1000 to sms, 40000 nohead lc rgb ink lw 1.5 dashtype 2
set arrow from resident, 1000 to resident, 40000 nohead lc rgb ink lw 1.5 dashtype 2
set label sprintf("%d:\none on\neach SM", sms) at sms * 1.1, 32000 left font ",17"
set label sprintf("%s:\nfull, %d\non each", with_commas(resident), on_sm) at resident * 1.1, 32000 left font ",17"
set key at screen 0.16, screen 0.945 left top Left reverse samplen 2
plot csv(ARG1) using (number_of_blocks(stringcolumn("variant"))):(column("G80 clocks")) with linespoints pt 9 ps 1.1 lw 2 dt 2 lc rgb orange title "G80 of 2006, 16 SMs", \
     "" using (number_of_blocks(stringcolumn("variant"))):(column("clocks p95")) with linespoints pt 6 ps 0.7 lw 1 dt 3 lc rgb blue title gpu . ", p95", \
     "" using (number_of_blocks(stringcolumn("variant"))):(column("clocks mean")) with linespoints pt 7 ps 0.9 lw 2 lc rgb blue title gpu . ", mean", \
     "" using (number_of_blocks(stringcolumn("variant"))):(column("clocks mean")):(said("clocks mean")) @hover, \
     "" using (number_of_blocks(stringcolumn("variant"))):(column("G80 clocks")):(said("G80 clocks")) @hover
unset arrow
unset label
unset logscale

# Each SM has as many lanes as it has resident blocks. A block takes the first lane whose block has ended; one that
# comes after another in its lane is of a later wave, and orange.
array free[4 * on_sm]
do for [i = 1:4 * on_sm] { free[i] = -1 }
first_free(sm, k, begin) = k == on_sm ? k - 1 : free[sm * on_sm + k + 1] <= begin ? k : first_free(sm, k + 1, begin)
array place[shown]
colour = 0
take(block, sm, begin, end) = (lane = sm * on_sm + first_free(sm, 0, begin), colour = free[lane + 1] < 0 ? 0x1f83c4 : 0xD55E00, \
                        free[lane + 1] = end, place[block + 1] = sm * (on_sm + 1) + lane - sm * on_sm)
set tmargin at screen 0.445
set bmargin at screen 0.085
set xrange [0:last * 1.02]
set yrange [shown_sms * (on_sm + 1) - 1:-0.8]
set xtics autofreq
set ytics ()
do for [sm = 0:shown_sms - 1] { set ytics add (sprintf("SM %d", sm) sm * (on_sm + 1) + (on_sm - 1) / 2.0) }
set title sprintf("%s blocks, the first %d SMs, %d blocks at a time on each", with_commas(shown), shown_sms, on_sm) offset 0,-0.3
set xlabel "µs since the first block began (orange: had to wait)" offset 0,0.4
sorted(file) = csv(file) . sprintf(" | awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == \"begin_ns\") at = i; print; next } { print $at \",\" $0 | \"sort -s -n -t, -k1,1 | cut -d, -f2-\" }'")
plot sorted(ARG2) using (of_shown(column("begin_ns") / 1000)): \
         (of_shown(1) == 1 ? take(int(column("block")), int(column("sm")), column("begin_ns"), column("end_ns")) : NaN): \
         ((column("end_ns") - column("begin_ns")) / 1000):(0):(colour) with vectors nohead lw 6 lc rgb variable, \
     for [part=1:3] csv(ARG2) using (of_shown((column("begin_ns") * (4 - part) + column("end_ns") * part) / 4000)): \
         (of_shown(1) == 1 ? place[int(column("block")) + 1] : NaN):(ran(0)) @hover
unset multiplot
