# sizes.gp: a panel of % of the limit by size, its lines named at their ends. The plot has set the margins, and
#   sizes    the data, as csv() gives them     shown    the variants, in words; the library's is `library`
set autoscale
unset logscale
array end_of[words(shown)]
is_of(name) = stringcolumn("variant") eq name
stats sizes using (column("n")) name "n" nooutput
do for [i=1:words(shown)] {
    stats sizes using (is_of(word(shown, i)) && column("n") == n_max ? column("percent_of_limit") : NaN) name "last" nooutput
    end_of[i] = exists("last_max") ? last_max : NaN  # a GPU without the library
}
# Names that are nearer than a line push each other away.
gap = 9.5
do for [pass=1:60] { do for [i=1:words(shown)] { do for [j=1:words(shown)] {
    near = gap - (end_of[i] - end_of[j])
    if (i != j && near > 0 && near <= gap && (near < gap || i < j)) {
        end_of[i] = end_of[i] + near / 2
        end_of[j] = end_of[j] - near / 2
    }
} } }
do for [i=1:words(shown)] {
    if (end_of[i] >= 0 || end_of[i] < 0) {
        set label 200 + i word(shown, i) at n_max, end_of[i] left offset 0.6,0 noenhanced font ",17" \
            textcolor rgb word(shown, i) eq library ? orange : blue
    }
}
set label 200 "limit" at sqrt(n_min * n_max), 104 center textcolor rgb green font ",17"
set logscale x 2
set xrange [n_min * 0.999:n_max * 1.001]
set yrange [0:112]
set xtics ()
do for [k=8:32:2] { set xtics add (sprintf("2^{%d}", k) 2**k) }
set ytics nomirror 0,25,100
set grid xtics ytics
set format y "%g %%"
set xlabel "elements" offset 0,0.3
said(name) = sprintf("%s, %s elements: %.1f %% of the limit", name, with_commas(column("n")), column("percent_of_limit"))
of(name) = is_of(name) ? column("percent_of_limit") : NaN
plot [] [] 100 with lines lw 2 lc rgb green, \
     for [i=1:words(shown)] sizes using "n":(of(word(shown, i))) with linespoints pt 7 ps 0.5 \
         lw (word(shown, i) eq library ? 3 : 1.5) lc rgb (word(shown, i) eq library ? orange : blue), \
     for [i=1:words(shown)] sizes using "n":(of(word(shown, i))):(said(word(shown, i))) @hover
