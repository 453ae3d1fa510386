#!/bin/sh
# trace_page.sh BUILD: tests the page that --trace writes. It opens the page in Chromium, 390 and 1280 px wide, in English and in
# Chinese, with 100,000 events, presses its keys, reads its text and times its frames.
# Exit status: 0 if all cases pass, 1 if not, 77 if Chromium is missing.
. "$(dirname "$0")/lib.sh"
page=${1:?trace_page.sh BUILD}/common/cpu/trace.html
[ "$(grep -c '@trace@' "$page")" = 1 ] && ok "one place for the trace" || fail "one place for the trace"
grep -nE '(https?:)?//[a-z]+\.|<link|<script src|@import|url\(' "$page" >"$folder/out" && fail "the page needs no network" || ok "the page needs no network"
for browser in chromium chromium-browser google-chrome ""; do
    command -v "$browser" >/dev/null 2>&1 && break
done
[ "$browser" ] || skip "there is no chromium; type: apt-get install chromium"

# Four warps of a block load words 16 apart from shared memory and one sector in eight from global memory, then wait. Also a race.
perl -e '
    my @events;
    my $lanes = join ",", 0 .. 31;
    for my $row (0 .. 24_999) {
        for my $column (0 .. 3) {
            my $at = "\"row\":$row,\"column\":$column,\"mask\":4294967295,\"at\":[0," . (1 + $row % 5) . "]";
            my $apart = join ",", map { 16 * $_ } 0 .. 31;
            my $far = join ",", map { 8 * $_ } 0 .. 31;
            push @events, $row % 5 == 4 ? "{$at,\"kind\":\"barrier\",\"what\":\"__syncthreads()\"}"
                : $row % 5 == 3 ? "{$at,\"kind\":\"shuffle\",\"what\":\"__shfl_xor_sync()\",\"values\":[$lanes],\"from\":[" . join(",", map { $_ ^ 1 } 0 .. 31) . "]}"
                : $row % 5 == 2 ? "{$at,\"kind\":\"load\",\"array\":0,\"bytes\":4,\"elements\":[$far],\"values\":[$lanes],\"sectors\":32}"
                : $row % 5 == 1 ? "{$at,\"kind\":\"store\",\"array\":1,\"bytes\":4,\"elements\":[$lanes],\"values\":[$lanes],\"olds\":[$lanes],\"conflicts\":0}"
                : "{$at,\"kind\":\"load\",\"array\":1,\"bytes\":4,\"elements\":[$apart],\"values\":[$lanes],\"conflicts\":15}";
        }
    }
    print "{\"format\":1,\"program\":\"test\",\"build\":\"hazards\",\"files\":[{\"name\":\"test.cu\",\"lines\":[\"one\",\"two // note\",\"three\",\"four\",\"five\"]}],",
        "\"launches\":[{\"kernel\":\"apart\\u003cint>\",\"launch\":1,\"at\":[0,1],\"grid\":[2,1,1],\"block\":[128,1,1],",
        "\"columns\":[", join(",", map { "{\"block\":0,\"warp\":$_,\"lanes\":32}" } 0 .. 3), "],\"cut\":[\"4 more warps of block 0\",\"1 more block\"],\"rows\":25000,",
        "\"arrays\":[{\"name\":\"in\",\"space\":\"global\",\"bytes\":1024,\"element\":4,\"type\":\"int\",\"offset\":0},",
        "{\"name\":\"tile\",\"space\":\"shared\",\"bytes\":2048,\"element\":4,\"type\":\"int\",\"offset\":0}],",
        "\"events\":[", join(",", @events), "],\"races\":[{\"a\":[0,3],\"b\":[5,7],\"text\":\"race on element 48 of tile\"}]}]}";
' >"$folder/trace.json"
cat >"$folder/checks.js" <<'END'
const told = [];
const hold = (what, is) => told.push((is ? "ok    " : "FAIL  ") + innerWidth + " px: " + what);
const press = key => document.body.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
const seen = id => $(id).textContent;
hold("100,000 events, and the four barriers of a row are one step", events.length === 100000 && steps.length === 85000);
press("End");
hold("End goes to the last step", now === steps.length - 1);
press("Home");
hold("Home goes to the first", now === 0);
hold("the sixteen turns of a bank are told", seen("says").includes(chinese ? "16 轮" : "16 turns at the banks where 1 would do") && seen("what").includes("16"));
press("j");
press("ArrowDown");
press("k");
hold("j, k and the arrows go from step to step", now === 1);
press("ArrowRight");
press("ArrowRight");
hold("a lane says its value", /2.*tile\[32\] = 2$/.test(seen("lane")));
go(4);
hold("a store without conflicts is one turn", seen("what").includes(chinese ? "1 轮" : "1 turn") && steps[now].cost.turns === 1);
press("c");
hold("c finds the next costly step: 32 sectors, an eighth used", now === 8 && steps[now].cost.sectors === 32 && /13 %/.test(seen("says")));
hold("the line is marked in the source", document.querySelectorAll(".now").length === 1 && document.querySelector(".now").textContent.includes("three"));
press(" ");
hold("space plays", timer !== 0 && $("play").getAttribute("aria-pressed") === "true");
press(" ");
hold("and pauses", timer === 0);
$("slider").value = 500;
$("slider").dispatchEvent(new Event("input"));
hold("the slider moves", now === 500 && seen("at").includes("501"));
$("facts").querySelector("button").click();
hold("the race is shown, with both sides", now === step_of[5] && lane_now === 7 &&
     seen("says").endsWith(chinese ? "tile 的元素 48 上的数据竞争，另一方是线程束 0 的通道 3，第 1 行。" : " race on element 48 of tile, with warp 0, lane 3, line 1."));
hold("what was cut is told", seen("facts").endsWith(chinese ? "未画出：线程块 0 的另外 4 个线程束未画出：另外 1 个线程块" : "not drawn: 4 more warps of block 0not drawn: 1 more block"));
hold("no header of the table is empty", [...document.querySelectorAll("th")].every(x => x.textContent));
hold("one h1, and the player, within main", document.querySelectorAll("h1").length === 1 && !!document.querySelector("main h1") && !!document.querySelector("main [role=toolbar]"));
hold("the kernel has its name", seen("kernel") === "apart<int>");
const wide = [...document.querySelectorAll("body *")].filter(x => x.getBoundingClientRect().right > innerWidth + 1 && !x.closest(".facts, #scroll, .hidden, #source"));
hold("it fits the screen: " + wide.map(x => x.tagName + " " + x.id), document.documentElement.scrollWidth <= innerWidth && !wide.length);
hold("buttons have names and are large enough", [...document.querySelectorAll("button, input, select")].every(x => x.closest(".facts") || getComputedStyle(x).display === "none" || (x.getAttribute("aria-label") && (x.offsetHeight >= 26))));
// The contrast of ink on paper, as the Web Content Accessibility Guidelines 2.1 define it, on light pages and on dark ones.
const luminance = hex => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16) / 255).map(x => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4).reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
const pale = [];
for (const block of document.querySelector("style").textContent.match(/:root \{[^}]*\}/g)) {
  const paints = Object.fromEntries([...block.matchAll(/--([\w-]+): (#\w{6})/g)].map(m => [m[1], m[2]]));
  for (const pair of ["ink page", "ink box", "ink now", "soft page", "soft box", "soft now", "soft idle", "bad page", "bad box", "slow page", "slow box", "slow now", "slow-ink slow-box", "page focus", "shared-ink shared",
                      "full-ink shared-full", "global-ink global", "full-ink global-full", "full-ink atomic", "full-ink slow", "other-ink other"]) {
    const [low, high] = pair.split(" ").map(name => luminance(paints[name])).sort((a, b) => a - b);
    if (!((high + 0.05) / (low + 0.05) >= 4.5)) pale.push(`${pair} ${((high + 0.05) / (low + 0.05)).toFixed(2)}`);
  }
}
hold("every ink has a contrast of 4.5: " + pale.join(", "), pale.length === 0);
hold("the lanes stand in a table for those who hear the page", $("values").rows.length === 32);
const shortened = [[80.28, "80.3"], [0.2512, ".251"], [-0.25, "−.25"], [7, "7"], [-960608618, "−1G"], [250000, "250k"], [-25000, "−25k"], [1.25e-9, "…"], ["1.5 2.25", "1.5…"], ["nan", "nan"]];
hold("values are shortened and keep their size: " + shortened.filter(([value, text]) => short(value, 4) !== text).map(([value]) => short(value, 4)), shortened.every(([value, text]) => short(value, 4) === text));
hold("the language is the browser's", document.documentElement.lang === (location.hash.includes("zh") ? "zh-CN" : "en"));
const times = [];
for (let k = 0; k < 200; ++k) {
  scroll.scrollTop = k * 7919 * tall % (steps.length * tall - 1000);
  const begin = performance.now();
  draw();
  times.push(performance.now() - begin);
}
times.sort((a, b) => a - b);
hold(`a frame is drawn in less than 50 ms: half of them in ${times[100].toFixed(1)}, 95 of 100 in ${times[190].toFixed(1)}, 99 of 100 in ${times[198].toFixed(1)}`, times[100] < 50);
parent.document.querySelector("pre").append(told.join("\n") + "\n"); // before the pages are loaded, and so dumped
END
perl -e '
    my ($page, $trace, $checks) = map { open my $in, "<", $_ or die "$_: $!"; local $/; <$in> } @ARGV;
    $page =~ s/\@trace\@/$trace/;
    $page =~ s/<\/script>\s*<\/body>/$checks<\/script><\/body>/;
    print $page;' "$page" "$folder/trace.json" "$folder/checks.js" >"$folder/page.html"
for language in en zh; do
    cat >"$folder/$language.html" <<END
<body><pre></pre>
<iframe src="page.html#1$language" width="390" height="844"></iframe><iframe src="page.html#1$language" width="1280" height="800"></iframe>
END
    run env LANGUAGE=$language "$browser" --headless --no-sandbox --disable-gpu --allow-file-access-from-files --user-data-dir="$folder/user" \
        --accept-lang=$language --lang=$language --timeout=20000 --dump-dom "file://$folder/$language.html"
    sed -n 's/.*\(\(ok\|FAIL\)  *[0-9]* px: .*\)/\1/p' "$folder/out" | sed "s/px:/px, $language:/; s/&gt;/>/g; s/&lt;/</g" >"$folder/told"
    cat "$folder/told"
    : >"$folder/err" # without a desktop, Chromium prints many warnings
    [ "$(grep -c '^ok' "$folder/told")" = 48 ] || fail "$language: all checks are told, and hold"
done
finish
