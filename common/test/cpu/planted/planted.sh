#!/bin/sh
# planted.sh CUDACPU FILE.cu: tests that the advice of the hazard build removes the error that it reports. Each program of the file
# has one planted mistake. The script runs it, carries out the advice literally (cure.awk), and runs it again: the program must
# then be clean. "ADVICE=words" after a PLANT() gives the advice that must be printed if no recipe exists; "ONE REPORT" means
# that there must be exactly one report. Exit status: 0 if all cases pass, 1 if not.
. "$(dirname "$0")/../../lib.sh"
cudacpu=$(realpath "$1") file=$(realpath "$2")
cp "$here/planted.cuh" "$folder"
cp "$file" "$folder/planted.cu"
cd "$folder" || exit 3
"$cudacpu" planted.cu --hazards -o planted || fail "$file does not compile"
for name in $(./planted); do
    timeout 60 ./planted "$name" >"$name.said" 2>&1 && ! grep -q '^cudacpu: note: race' "$name.said" &&
        fail "$name: nothing is found"
    words=$(sed -n "s/^PLANT($name).*ADVICE=//p" planted.cu)
    [ -z "$words" ] || tr -s '\n ' ' ' <"$name.said" | grep -qE "$words" || fail "$name: not advised: $words"
    ! grep -q "^PLANT($name).*ONE REPORT" planted.cu || test "$(grep -c '^cudacpu: hazard: ' "$name.said")" = 1 ||
        fail "$name: more than one report"
done
cat *.said >all.said
awk -f "$here/cure.awk" all.said planted.cu >cured.cu
"$cudacpu" cured.cu -DCURED --hazards -o cured || fail "what is advised for $file does not compile"
for name in $(./planted); do
    timeout 60 ./cured "$name" >"$name.then" 2>&1 && ! grep -q '^cudacpu: [^n]' "$name.then" ||
        fail "$name: not mended
$(cat "$name.said")
then
$(cat "$name.then")"
done
finish
