#!/bin/sh
# checks.sh BINARY: tests a sample's checks by fault injection. The script runs small inputs on the CPU device. In each run it
# changes one copy from the device to the host (LAB_FLIP=COPY:WHAT). The changes are: the lowest bit of the first word; the
# lowest and the two highest bits of the last word, one at a time; all bits, which makes floats NaN; the first and the last word
# exchanged. The sample must report each change. Its excused.txt lists the exceptions:
#     unchecked WORD REASON          memory allocated in a line that contains this word is not a result
#     unseen VARIANT WHAT REASON     after this change, the result of this variant is still right
#     seen VARIANT WHAT REASON       an additional change, which the sample must report
#     seen VARIANT COPY:WHAT REASON  the same, in this copy only
# If a sample's table has the columns `error` and `bound`, a row must be wrong exactly when its error exceeds its bound.
# A `seen` line without a copy then applies to the first copy. It makes a change just above the bound, which a larger bound
# would miss.
# Exit status: 0 if all cases pass, 1 if not, 77 if the sample copies nothing.
. "$(dirname "$0")/lib.sh"
sample "$1"
rows=$folder/rows.csv seen=0 excused=0
by_bound() { # succeeds if the verdict of each row follows from its error and bound
    sed 's/"[^"]*"/text/g' "$rows" | awk -F, '
        NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
        { error = $column["error"]; bound = $column["bound"]; verdict = $column["verdict"] }
        error == bound { next } # equal to the printed precision, so undecided
        { within = error ~ /^[0-9.e+-]+$/ && error + 0 < bound + 0 }
        verdict ~ /WRONG/ ? within : !within { bad = 1 }
        END { exit bad }'
}
need_not() { # succeeds if excused.txt says why the sample need not report this change
    excused unseen "$variant $what" && return
    place=$(sed -n 's|.*[ /]\([^ /]*\):\([0-9]*\)$|\1 \2|p' "$folder/err" | tail -1)
    line=$(sed -n "${place#* }p" "$home/${place% *}" 2>/dev/null)
    for word in $(sed -n 's/^unchecked \([^ ]*\).*/\1/p' "$home/excused.txt" 2>/dev/null); do
        case $line in *"$word"*) return ;; esac
    done
    return 1
}
has_bounds() { # succeeds if the table has the columns error and bound
    read -r columns <"$rows"
    case $columns in *,error,bound,*) ;; *) false ;; esac
}
falsified() { # runs the variant with one copy changed; fails if there is no such copy
    rm -f "$rows"
    LAB_FLIP=$copy:$what
    export LAB_FLIP
    run "$binary" $small --repeats 1 --csv "$rows" --only "$variant"
    change=$(sed -n "s/^cudacpu: LAB_FLIP=$LAB_FLIP: //p" "$folder/err")
    case $change in "") return 1 ;; *"stay the same"*) return ;; esac
    if has_bounds; then
        by_bound || fail "LAB_FLIP=$LAB_FLIP --only $variant: $change, and the verdict does not follow"
        if [ $status = 0 ] && { excused seen "$variant $copy:$what" || { [ $copy = 1 ] && excused seen "$variant $what"; }; }; then
            fail "LAB_FLIP=$LAB_FLIP --only $variant: $change, within the bound; excused.txt says it is not"
        fi
    elif [ $status = 0 ] && need_not; then
        excused=$((excused + 1))
    elif [ $status != 1 ]; then
        fail "LAB_FLIP=$LAB_FLIP --only $variant: $change, and the status is $status"
    fi
    seen=$((seen + 1))
}
for variant in $(words variant); do
    copy=1
    while what=0 && falsified; do
        more=$(sed -nE "s/^seen $variant ($copy:)?([^ :]*) .*/\2/p" "$home/excused.txt" 2>/dev/null)
        for what in -32 -2 -1 ones swap $more; do falsified; done
        copy=$((copy + 1))
    done
done
[ $seen != 0 ] || skip "this sample copies nothing from the device to the host"
must "$seen copies are falsified, and each is seen, but for $excused that need not be" test $failed = 0
finish
