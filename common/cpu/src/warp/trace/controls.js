// ---- this step in words -----------------------------------------------------------------------------------------------
const several = () => launch.columns.some(c => c.block !== launch.columns[0].block);
const who_does = e => (several() ? w.block(place_in(block_of(e), launch.grid)) : "") + w.warp(column_of(e).warp);
// Returns [what is done, what it costs].
function says({e, cost}, served) {
  const line = placed(e) ? w.line(e.at[1]) : "";
  if (!e.mask) return [w.empty, ""];
  if (e.kind === "barrier") return [w.at_barrier(e.what || w.barrier, line), w.waits];
  const who = [who_does(e), line].filter(Boolean).join(chinese ? "，" : ", ");
  const does = w.does(who, bits(e.mask), w[e.kind], at_all(e) ? array_of(e).name || array_of(e).space : e.what || "").replace(/ ([.。])/, "$1");
  const {turns, least, sectors, used, queue, words} = cost;
  const costs = [];
  if (turns === 1) costs.push(w.even);
  if (turns > least) {
    const sizes = groups_of(e).map(group => bank_words(steps[now], group).map(words => words.size)).reduce((a, b) => (Math.max(...a) >= Math.max(...b) ? a : b));
    const most = Math.max(...sizes);
    costs.push(w.conflict(turns, least, sizes.indexOf(most), most));
  }
  if (sectors) costs.push(w.fetched(sectors, Math.round(100 * used / sectors / sector)));
  if (words) costs.push(w.constants(words));
  if (queue > 1) costs.push(w.queue(queue));
  return [does, costs.join(" ")];
}
function lane_says() {
  const {e} = steps[now], slot = slots(steps[now])[lane_now];
  if (e.kind === "barrier") return "";
  const who = w.lane(lane_now, place_in(column_of(e).warp * lanes + lane_now, launch.block));
  if (slot < 0) return who + w.idle;
  const value = e.values ? minus(String(e.values[slot] ?? "?")) : e.what || w[e.kind].replace(/[:：]$/, ""), old = e.olds ? `  (${w.was} ${minus(String(e.olds[slot]))})` : "";
  return who + (at_all(e) ? `${array_of(e).name}[${e.elements[slot]}] = ` : "") + value + old;
}

// ---- the source, and what each line costs -----------------------------------------------------------------------------
let line_rows, marked;
function build_source() {
  const costs = new Map(), table = document.createElement("table"), used = new Set(events.filter(placed).map(e => e.at[0]));
  for (const {e, cost} of steps) {
    const key = String(e.at), sum = costs.get(key) || {n: 0, slow: false};
    sum.n += cost.turns || cost.sectors || cost.words || 0;
    sum.slow = sum.slow || slow(cost);
    costs.set(key, sum);
  }
  line_rows = new Map();
  marked = null;
  trace.files.forEach((file, number) => {
    if (!used.has(number)) return;
    const head = table.insertRow();
    for (const [text, title] of [[w.number, ""], [w.cost, w.cost_title], [file.name, ""]]) head.append(Object.assign(document.createElement("th"), {scope: "col", textContent: text, title}));
    file.lines.forEach((line, k) => {
      const key = `${number},${k + 1}`, sum = costs.get(key), row = table.insertRow(), note = line.indexOf("//");
      for (const [name, text] of [["number", k + 1], [sum && sum.slow ? "cost slow" : "cost", sum && sum.n ? sum.n : ""], ["", note < 0 ? line : line.slice(0, note)]])
        Object.assign(row.insertCell(), {className: name, textContent: text});
      row.lastChild.title = line.trim();
      if (note >= 0) row.lastChild.append(Object.assign(document.createElement("span"), {className: "note", textContent: line.slice(note)}));
      line_rows.set(key, row);
    });
  });
  $("source").replaceChildren(table);
}
function mark_source() {
  const row = line_rows.get(String(steps[now].e.at)), view = $("source");
  if (marked) {
    marked.className = "";
    marked.removeAttribute("aria-current");
  }
  marked = row;
  if (!row) return;
  row.className = "now";
  row.setAttribute("aria-current", "true");
  if (row.offsetTop < view.scrollTop + 20 || row.offsetTop + 40 > view.scrollTop + view.clientHeight) view.scrollTop = row.offsetTop - Math.max(20, view.clientHeight / 2 - 60);
}

// ---- moving between steps ---------------------------------------------------------------------------------------------
let drawing = false, timer = 0;
function redraw() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    draw();
  });
}
function go(to, follow = true) {
  now = Math.max(0, Math.min(steps.length - 1, to));
  const y = now * tall, seen = scroll.clientHeight - head;
  if (follow && (y < scroll.scrollTop + tall || y + 2 * tall > scroll.scrollTop + seen)) scroll.scrollTop = y - seen / 3;
  $("slider").value = now;
  $("at").textContent = `${now + 1} / ${steps.length}`;
  $("slider").setAttribute("aria-valuetext", w.at(now + 1, steps.length));
  const [does, costs] = says(steps[now]);
  $("says").replaceChildren(does, Object.assign(document.createElement(slow(steps[now].cost) ? "strong" : "span"), {textContent: costs}));
  mark_source();
  draw_memory();
  tabulate();
  lane_to(lane_now);
}
function lane_to(lane) {
  lane_now = Math.max(0, Math.min(lanes - 1, lane));
  const x = lane_now * cell, seen = scroll.clientWidth - left - right;
  if (x < scroll.scrollLeft || x + cell > scroll.scrollLeft + seen + 1) scroll.scrollLeft = x - seen / 2;
  $("lane").textContent = lane_says();
  redraw();
}
// Describes the canvas for users of screen readers.
function tabulate() {
  const {e} = steps[now];
  $("caption").textContent = w.at(now + 1, steps.length);
  $("values").replaceChildren();
  if (!e.values) return;
  slots(steps[now]).forEach((slot, lane) => {
    if (slot < 0) return;
    const row = $("values").insertRow();
    for (const text of [lane, at_all(e) ? `${array_of(e).name}[${e.elements[slot]}]` : e.what, e.values[slot]]) row.insertCell().textContent = text;
  });
}
function next_costly() {
  const after = steps.findIndex((step, s) => s > now && slow(step.cost));
  const any = after < 0 ? steps.findIndex(step => slow(step.cost)) : after;
  if (any >= 0) go(any);
}
function play(on) {
  clearInterval(timer);
  timer = 0;
  if (on) {
    if (now === steps.length - 1) go(0);
    timer = setInterval(() => (now === steps.length - 1 ? play(false) : go(now + 1)), Number($("speed").value));
  }
  $("play").querySelector("path").setAttribute("d", on ? "M3 1h4v14h-4zM9 1h4v14h-4z" : "M3 1l12 7l-12 7z");
  $("play").setAttribute("aria-pressed", String(on));
}
let race = -1;
function next_race() {
  if (!launch.races.length) return;
  race = (race + 1) % launch.races.length;
  const {a, b, text} = launch.races[race], far = Math.abs(step_of[a[0]] - step_of[b[0]]) * tall > scroll.clientHeight / 2;
  lane_now = b[1];
  go(step_of[a[0]]);
  go(step_of[b[0]], far);
  const e = events[a[0]], line = placed(e) ? (chinese ? "，" : ", ") + w.line(e.at[1]) : "";
  $("says").append(Object.assign(document.createElement("strong"), {textContent: ` ${words_of(text)}${w.other(`${who_does(e)}${chinese ? " 的" : ", "}`, line, a[1])}`}));
}

// ---- facts, and initialization ----------------------------------------------------------------------------------------
function facts() {
  const sum = {turns: 0, least: 0, sectors: 0, used: 0, active: 0, working: 0, barriers: 0};
  for (const {e, cost} of steps) {
    for (const name of ["turns", "least", "sectors", "used"]) sum[name] += cost[name] || 0;
    if (e.kind === "barrier") ++sum.barriers;
    else if (e.kind !== "exit") {
      ++sum.working;
      sum.active += bits(e.mask);
    }
  }
  $("facts").replaceChildren();
  const add = (html, name = "") => {
    $("facts").append(Object.assign(document.createElement("li"), {innerHTML: html, className: name}));
    return $("facts").lastChild;
  };
  if (launch.races.length) {
    add("", "slow").append(Object.assign(document.createElement("button"), {textContent: w.races(launch.races.length), onclick: next_race}));
  }
  add(w.active((sum.active / (sum.working || 1)).toFixed(1)));
  if (sum.turns) add(w.turns(sum.turns, sum.least), sum.turns > sum.least ? "slow" : "");
  const share = Math.round(100 * sum.used / (sum.sectors || 1) / sector);
  if (sum.sectors) add(w.sectors(sum.sectors, share), share < 50 ? "slow" : "");
  if (sum.barriers) add(w.barriers(sum.barriers));
  for (const text of launch.cut || []) add("").textContent = w.cut(words_of(text));
}
function show(number) {
  play(false);
  take(number);
  const size = x => x.filter((n, k) => k === 0 || n > 1).join(" × ");
  document.title = `${launch.kernel}: ${w.title}`;
  $("kernel").textContent = launch.kernel;
  $("launch").replaceChildren(`<<<${size(launch.grid)}, ${size(launch.block)}>>> `, Object.assign(document.createElement("span"), {textContent: `· ${trace.program}`}));
  picture = null;
  race = -1;
  facts();
  build_source();
  $("slider").max = steps.length - 1;
  measure();
  scroll.scrollTop = 0;
}
document.documentElement.lang = chinese ? "zh-CN" : "en";
for (const element of document.querySelectorAll("[data-label]")) {
  element.setAttribute("aria-label", w[element.dataset.label]);
  if (element.tagName === "BUTTON") element.title = w[element.dataset.label];
}
$("costly").textContent = w.costs;
["shared-full", "global-full", "atomic", "slow", ""].forEach((name, k) => {
  const item = document.createElement("li");
  if (name) item.append(Object.assign(document.createElement("i"), {style: `background: var(--${name})`}));
  item.append(w.key[k]);
  $("key").append(item);
});
if (trace.launches.length > 1) {
  const choice = document.createElement("select");
  trace.launches.forEach((one, k) => choice.add(new Option(`${one.kernel} (${one.launch})`, k)));
  choice.setAttribute("aria-label", w.choose);
  choice.addEventListener("change", () => {
    show(Number(choice.value));
    go(0);
  });
  document.querySelector(".title").append(choice);
}
const actions = {
  ArrowDown: () => go(now + 1), ArrowUp: () => go(now - 1), j: () => go(now + 1), k: () => go(now - 1), ArrowRight: () => lane_to(lane_now + 1), ArrowLeft: () => lane_to(lane_now - 1),
  PageDown: () => go(now + 20), PageUp: () => go(now - 20), Home: () => go(0), End: () => go(steps.length - 1), " ": () => play(!timer), c: next_costly, r: () => next_race(),
};
// Leaves keys to the focused element if it uses them.
const own_keys = [["#slider, #source", /^(Arrow|Page|Home|End)/], ["button", /^( |Enter)$/], ["select", /^/]];
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || !actions[event.key]) return;
  if (own_keys.some(([where, keys]) => event.target.closest(where) && keys.test(event.key))) return;
  event.preventDefault();
  actions[event.key]();
});
canvas.addEventListener("click", event => {
  const s = Math.floor((event.offsetY - head + scroll.scrollTop) / tall), lane = Math.floor((event.offsetX - left + scroll.scrollLeft) / cell);
  if (event.offsetY < head || s >= steps.length) return;
  play(false);
  if (event.offsetX >= left && event.offsetX < scroll.clientWidth - right && lane < lanes) lane_now = lane;
  go(s, false);
});
map.addEventListener("click", event => go(Math.floor(event.offsetY / map_step())));
const zoom_by = factor => {
  zoom = Math.max(1, Math.min(4, zoom * factor));
  measure();
  redraw();
};
const presses = {first: actions.Home, back: actions.k, play: actions[" "], next: actions.j, last: actions.End, costly: next_costly, narrow: () => zoom_by(0.8), broad: () => zoom_by(1.25)};
for (const [id, action] of Object.entries(presses)) $(id).addEventListener("click", action);
$("slider").addEventListener("input", () => {
  play(false);
  go(Number($("slider").value));
});
$("speed").addEventListener("change", () => { if (timer) play(true); });
scroll.addEventListener("scroll", redraw, {passive: true});
const afresh = () => {
  picture = null;
  read_colours();
  measure();
  draw_memory();
  draw();
};
read_colours();
show(0);
go(Number(location.hash.slice(1)) - 1 || 0); // page.html#12 opens at step 12
new ResizeObserver(afresh).observe(scroll);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", afresh);
