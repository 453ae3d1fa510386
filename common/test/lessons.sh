#!/bin/sh
# lessons.sh: tests that the pages teach what the exercises need. Each CUDA function and intrinsic in the first right answer of
# an exercise must appear in code, fenced or inline. The code must be in the section that ends with the exercise's link,
# earlier on that page, or on a page before it in the order common/first, 01, ... 06. This holds in English and in Chinese.
# Exit status: 0 if so, 1 if not; the script then lists the functions that are missing.
. "$(dirname "$0")/lib.sh"
unset LC_ALL LC_MESSAGES
export LANG=C.UTF-8 LC_COLLATE=C
. "$top/common/tools/folder.sh"
build=$top/build program=$folder/program
. "$top/common/tools/exercises.sh"
cd "$top" || exit 1

# calls: prints the CUDA functions that the code on stdin calls, each once
calls() {
    sed 's,//.*,,' | perl -ne '
        print "$_\n" for grep { !/^__(global|device|host|shared|launch_bounds|align|restrict)__$/ }
            /\b((?:cuda[A-Z]|__[a-z]|atomic[A-Z])\w*|clock64|clock|this_grid|this_thread_block|tiled_partition|coalesced_threads)(?=\s*(?:<[^<>]*>)?\s*\()/g,
            map { "$_()" } /[\w)]\.(sync|shfl\w*|ballot|any|all|thread_rank|group_index|block_rank|num_blocks|num_threads|barrier_arrive|barrier_wait)(?=\s*\()/g' |
        sort -u
}
for file in $(exercises); do
    [ -f "${file%%/*}/README.md" ] || continue # skip a teacher's own folder
    committed "$file" "$program.committed" >/dev/null || continue
    names=$(model "$file" "$program.committed" | calls)
    [ -z "$names" ] || echo "$(number_of "$file") $file $(echo $names)"
done >"$folder/needs"
must "the answers need CUDA functions" grep -q ' __shfl_' "$folder/needs"

for page in README.md README.zh-CN.md; do
    perl -CSD -e '
        my ($page, $needs) = @ARGV;
        # The sections in reading order, each with its page, heading, links and the words in its code.
        my @sections;
        for my $file ("common/first/$page", map { "$_$page" } sort glob "[0-9][0-9]_*/") {
            open my $in, "<", $file or next;
            my $code = 0;
            push @sections, {page => $file, heading => "", links => "", words => {}};
            while (<$in>) {
                if (/^\s*(```|~~~)/) { $code = !$code; next }
                if (!$code && /^#+ +(.*)/) { push @sections, {page => $file, heading => $1, links => "", words => {}} }
                my $section = $sections[-1];
                $section->{links} .= $_ if !$code;
                for my $text ($code ? $_ : /`([^`]+)`/g) { $section->{words}{$_} = 1 for $text =~ /\w+/g }
            }
        }
        open my $in, "<", $needs or die;
        while (<$in>) {
            my ($number, $file, @names) = split;
            my ($folder, $link) = $file =~ m{^([^/]+)/(.*)};
            my ($last) = grep { $sections[$_]{page} eq "$folder/$page" && index($sections[$_]{links}, "[`$number`]($link)") >= 0 } 0 .. $#sections;
            if (!defined $last) { print "$number: no section of $folder/$page has its link\n"; next }
            my @missing = grep { my $name = s/\(\)$//r; !grep { $_->{words}{$name} } @sections[0 .. $last] } @names;
            print "$number: @missing (up to \"$sections[$last]{heading}\" in $folder/$page)\n" if @missing;
        }' "$page" "$folder/needs" >"$folder/missing"
    while IFS= read -r line; do fail "$line"; done <"$folder/missing"
    [ -s "$folder/missing" ] || ok "$page: each function is taught before it is needed"
done
finish
