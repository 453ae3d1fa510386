#!/bin/sh
# pictures.sh BUILD [traces]: tests that the pictures of the pages are what `make pictures` draws. With `traces` it redraws all
# of them, from runs of the builds with counters. Without it, it redraws only those that are drawn from results/, and makes
# three more tests: each page shows its pictures, for light and for dark; the Chinese plots have the figures of the English
# ones and no English words; a colour with too little contrast is rejected.
# Exit status: 0 if all cases pass, 1 if not, 77 if something that it needs is not built.
. "$(dirname "$0")/lib.sh"
build=$1 traces=${2:-}
cd "$top" || exit 1
if [ "$traces" ]; then
    for program in 04_reduction_variants 05_atomics 06_shared_image; do
        [ -x "$build/counters/$program" ] || skip "there is no $build/counters/$program"
    done
    ends 0 sh common/tools/pictures.sh "$build" "$folder/drawn"
else
    ends 0 perl common/tools/pictures.pl "$folder" "$folder/drawn" 01 02
fi
for picture in "$folder"/drawn/*/pictures/*.svg; do
    name=${picture#"$folder/drawn/"}
    cmp -s "$picture" "$name" || fail "$name is out of date: type make pictures"
done
ok "$(ls "$folder"/drawn/*/pictures/*.svg | wc -l) files are compared"
[ -z "$traces" ] || finish

for home in [0-9]*_*; do
    for picture in "$home"/pictures/*.svg; do
        name=pictures/${picture##*/} page=$home/README.md
        case $name in *.zh.*) page=$home/README.zh-CN.md ;; esac
        grep -qF "\"$name\"" "$page" || fail "$page does not show $name"
    done
    for page in "$home/README.md" "$home/README.zh-CN.md"; do
        for name in $(grep -oE 'src(set)?="[^"]*"' "$page" | cut -d '"' -f 2); do
            [ -f "$home/$name" ] || fail "$page shows $name, which is not there"
        done
        awk '/<img/ && !/alt="[^"]/ { exit 1 }' "$page" || fail "$page has a picture without words for those who cannot see it"
    done
done
for plot in [0-9]*_*/results/h200.svg; do
    chinese=${plot%.svg}.zh.svg
    LC_ALL=C sed -f common/tools/plots.zh.sed "$plot" | cmp -s - "$chinese" || fail "$chinese is out of date: type make plots"
    grep -oE '<(text|title)[^>]*>.*</(text|title)>' "$chinese" | sed 's/<[^>]*>//g' |
        grep -E '[a-z]{2,} [a-z]{2,}|\b(error|elements|exact|limit|wrong|blocks?|clocks|on|of|to|no|fewer)\b' >"$folder/out" &&
        fail "$chinese has English words: common/tools/plots.zh.sed lacks them"
done
sed 's/soft => "#56616c"/soft => "#868f98"/' common/tools/pictures.pl >"$folder/pale.pl"
cmp -s "$folder/pale.pl" common/tools/pictures.pl && fail "the colour that the test makes pale is gone"
ends 255 perl "$folder/pale.pl" "$folder" "$folder/pale" 01
must "it names the contrast" says 'contrast 3\.[0-9]'
finish
