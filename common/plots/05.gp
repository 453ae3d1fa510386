# 05.gp ADDRESSES.csv OUT.svg: increments a nanosecond by the number of words that they are spread over.
load ARG0[1:strlen(ARG0) - 5] . "style.gp"
set terminal svg size 600,560 font "sans-serif,18" name "p05"
set output ARG2

variants = "spread spread_match spread_shared"
names = "'one atomic a thread' 'a warp folds equal words first' 'a table in shared memory first'"
colours = "orange green blue"
of(i) = stringcolumn("variant") eq word(variants, i)
set logscale xy
set logscale x 2
set xrange [0.8:2**20 * 3]
set yrange [1:1000]
set xtics ("1" 1, "32" 32, "1,024" 1024, "32,768" 32768, "1,048,576" 2**20)
set xlabel "words that 16,777,216 increments are spread over"
set ylabel "increments in a nanosecond" offset 1
set bmargin at screen 0.36
set key at screen 0.5, screen 0.01 center bottom vertical Left reverse samplen 3
plot for [i=1:3] csv(ARG1) using (of(i) ? column("words") : NaN):(of(i) ? column("per ns") : NaN) \
    with linespoints lw 2 pt 5 + 2 * (i - 1) ps 0.9 lc rgb value(word(colours, i)) title word(names, i)
