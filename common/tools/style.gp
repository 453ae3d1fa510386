# Settings of all plots. Black means the text colour of the page that shows the plot. The colours are told apart by
# colour-blind people; draw.sh gives each a light and a dark page's, with a contrast of 4.5:1 or more.
ink = "black"
blue = "#1f83c4"
orange = "#d55e00" # the library
green = "#00906a"  # the limit
purple = "#b8648f"
grey = "#7f7f7f"

set datafile separator comma
set datafile columnheaders
set datafile missing NaN
set border 3 linewidth 1
set tics nomirror scale 0.5
set ytics noenhanced
set grid linecolor rgb grey linewidth 0.4 dashtype 3
set key noautotitle noenhanced
set encoding utf8

# A CSV file as gnuplot can read it: without the commas within quotes, where stringcolumn() would end. So 1,024 is 1024.
csv(file) = "< awk -F '\"' -v OFS= '{ for (i = 2; i <= NF; i += 2) gsub(/,/, \"\", $i); print }' '" . file . "'"
# "NVIDIA H200: compute capability 9.0 132 SMs ..." -> 132
last_word(s) = word(s, words(s))
sms_of(device) = strstrt(device, " SMs") ? real(last_word(device[1:strstrt(device, " SMs") - 1])) : NaN
# Microseconds for people: three digits, in ms from 1000 on.
digits(x) = sprintf(x < 10 ? "%.2f" : x < 100 ? "%.1f" : "%.0f", x)
time_text(us) = us < 1000 ? digits(us) . " µs" : digits(us / 1000) . " ms"
with_commas(n) = n < 1000 ? sprintf("%d", n) : with_commas(floor(n / 1000.0)) . sprintf(",%03d", int(n) % 1000)
# The text that a plot shows under the pointer: plot ... using X:Y:"words" @hover
hover = 'with labels hypertext point pt 7 ps 2 lc rgb "#ff000000"'
set macros
