// ---- colours, which follow the page's -------------------------------------------------------------------------------
const colour = {};
const names = ["page", "ink", "soft", "line", "now", "focus", "bad", "slow", "slow-box", "slow-ink", "idle", "shared", "shared-ink", "shared-full",
               "global", "global-ink", "global-full", "atomic", "other", "other-ink", "full-ink"];
function read_colours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of names) colour[name] = style.getPropertyValue("--" + name).trim();
}
function paper_and_ink(e) {
  if (e.kind === "atomic") return [colour.atomic, colour["full-ink"]];
  if (e.kind === "exit") return [colour.idle, colour.soft];
  if (!at_all(e)) return [colour.other, colour["other-ink"]];
  const {space} = array_of(e);
  if (space === "constant") return [colour.other, colour["other-ink"]];
  return e.kind === "store" ? [colour[space + "-full"], colour["full-ink"]] : [colour[space], colour[space + "-ink"]];
}

// ---- the timeline: only the visible part is drawn -------------------------------------------------------------------
const scroll = $("scroll"), canvas = $("canvas"), map = $("map");
const tall = 20, head = 22, mono = "px ui-monospace, Menlo, Consolas, monospace";
let now = 0, lane_now = 0, zoom = 1, left, right, cell;
function measure() {
  const wide = scroll.clientWidth;
  left = wide > 620 ? 138 : 58;
  right = wide > 620 ? 82 : 32;
  cell = Math.max(7, (wide - left - right) / lanes * zoom);
  $("room").style.width = `${left + lanes * cell + right}px`;
  $("room").style.height = `${head + steps.length * tall + 40}px`;
  canvas.style.width = `${wide}px`;
  canvas.style.height = `${scroll.clientHeight}px`;
}
// Wipes a canvas and returns its pen, which draws in CSS pixels on any screen.
function pen_for(element, wide, high) {
  const dots = window.devicePixelRatio || 1;
  const pen = element.getContext("2d"), size = [Math.round(wide * dots), Math.round(high * dots)];
  if (element.width !== size[0] || element.height !== size[1]) [element.width, element.height] = size;
  pen.setTransform(dots, 0, 0, dots, 0, 0);
  pen.clearRect(0, 0, wide, high);
  pen.textBaseline = "middle";
  return pen;
}
function box(pen, paint, x, y, wide, high) {
  pen.fillStyle = paint;
  pen.fillRect(x, y, wide, high);
}
function write(pen, paint, align, text, x, y, most) {
  pen.fillStyle = paint;
  pen.textAlign = align;
  if (most && String(text).length * 5.4 > most) pen.fillText(text, x, y, most);
  else pen.fillText(text, x, y);
}
const fit = (text, room) => (text.length > room ? text.slice(0, room - 1) + "…" : text);

function draw() {
  const wide = scroll.clientWidth, high = scroll.clientHeight, pen = pen_for(canvas, wide, high);
  const top = scroll.scrollTop - head, from = Math.max(0, Math.floor(top / tall)), to = Math.min(steps.length, Math.ceil((top + high) / tall));
  const lane_x = lane => left - scroll.scrollLeft + lane * cell;
  for (let s = from; s < to; ++s) draw_cells(pen, s, s * tall - top, lane_x, wide);
  draw_races(pen, top, lane_x, high);
  if (steps[now].e.kind !== "barrier") {
    pen.strokeStyle = colour.ink;
    pen.lineWidth = 2;
    pen.strokeRect(lane_x(lane_now) + 1, now * tall - top + 1, cell - 2, tall - 2);
  }
  box(pen, colour.page, 0, 0, left, high);
  box(pen, colour.page, wide - right, 0, right, high);
  for (let s = from; s < to; ++s) draw_sides(pen, s, s * tall - top, wide);
  box(pen, colour.page, 0, 0, wide, head);
  box(pen, colour.line, 0, head - 1, wide, 1);
  pen.font = "11" + mono;
  for (let lane = 0; lane < lanes; lane += cell >= 17 ? 1 : 4)
    if (lane_x(lane) >= left - 1 && lane_x(lane + 1) <= wide - right + 1) write(pen, colour.soft, "center", lane, lane_x(lane + 0.5), head / 2);
  write(pen, colour.soft, "right", w.cost, wide - 6, head / 2);
  draw_map(top + head, high);
}
function draw_cells(pen, s, y, lane_x, wide) {
  const step = steps[s], {e} = step, [paper, ink] = paper_and_ink(e), room = Math.floor((cell - 1) / 4.3);
  if (s && steps[s - 1].e.row !== e.row) box(pen, colour.line, left, y, wide - left - right, 1);
  if (s === now) box(pen, colour.now, left, y, wide - left - right, tall);
  if (e.kind === "barrier") return box(pen, colour.ink, lane_x(0), y + tall / 2 - 1, lanes * cell, 2);
  pen.font = "9" + mono;
  slots(step).forEach((slot, lane) => {
    const x = lane_x(lane);
    if (x < left - cell || x > wide) return;
    if (slot < 0 && lane >= column_of(e).lanes) return;
    if (slot < 0) return box(pen, colour.line, x + cell / 2 - 1, y + tall / 2 - 1, 2, 2);
    box(pen, paper, x + 0.5, y + 1, cell - 1, tall - 2);
    if (room > 2 && e.values) write(pen, ink, "center", short(e.values[slot] ?? "", room), x + cell / 2, y + tall / 2 + 0.5, cell - 2);
  });
}
// To the left of the lanes are the warp, its operation and the line; to the right is the cost. They stay when the lanes
// scroll.
const signs = {load: "←", store: "→", atomic: "⇄"};
function draw_sides(pen, s, y, wide) {
  const {e, cost} = steps[s], roomy = left > 100, middle = y + tall / 2 + 0.5;
  if (s === now) {
    box(pen, colour.now, 0, y, left, tall);
    box(pen, colour.now, wide - right, y, right, tall);
    box(pen, colour.focus, 0, y, 4, tall);
  }
  const what = signs[e.kind] ? `${signs[e.kind]} ${array_of(e).name || array_of(e).space}` : (e.what || w[e.kind]).replace(/^_+|_sync|\(\)/g, "");
  pen.font = "11" + mono;
  const barrier = e.kind === "barrier", paint = barrier ? colour.ink : colour.soft;
  write(pen, paint, "left", fit(barrier ? roomy ? w.barrier : "══" : roomy ? `${column_name(e)} ${what}` : column_name(e), roomy ? 14 : 3), 8, middle);
  if (placed(e)) write(pen, paint, "right", e.at[1], left - 6, middle);
  const unit = ["turn", "sector", "word"].find(one => cost[`${one}s`]), n = cost[`${unit}s`];
  if (!n) return;
  if (slow(cost)) {
    box(pen, colour["slow-box"], wide - right + 2, y + 2, right - 4, tall - 4);
    pen.font = "bold 11" + mono;
  }
  write(pen, slow(cost) ? colour["slow-ink"] : colour.soft, "right", roomy ? w.sides[unit](n) : n, wide - 6, middle);
}
const column_name = e => (several() ? `b${place_in(block_of(e), launch.grid)}` : `w${column_of(e).warp}`);
// A race: a curve from the earlier access to the later one.
function draw_races(pen, top, lane_x, high) {
  pen.strokeStyle = pen.fillStyle = colour.bad;
  pen.lineWidth = 2;
  for (const {a, b} of launch.races) {
    const [from, to] = [a, b].map(([event, lane]) => ({x: lane_x(lane), y: step_of[event] * tall - top}));
    if (Math.max(from.y, to.y) < 0 || Math.min(from.y, to.y) > high) continue;
    for (const p of [from, to]) pen.strokeRect(p.x + 1, p.y + 1, cell - 2, tall - 2);
    const down = to.y >= from.y ? 1 : -1, x1 = from.x + cell / 2, x2 = to.x + cell / 2, y1 = from.y + (down > 0 ? tall : 0), y2 = to.y + (down > 0 ? 0 : tall);
    const bend = Math.abs(x1 - x2) < 2 * cell && Math.abs(y2 - y1) > tall ? (x1 > lane_x(lanes / 2) ? -3 : 3) * cell : 0;
    pen.beginPath();
    pen.moveTo(x1, y1);
    pen.bezierCurveTo(x1 + bend, y1 + (y2 - y1) / 3, x2 + bend, y2 - (y2 - y1) / 3, x2, y2 - 6 * down);
    pen.stroke();
    pen.beginPath();
    pen.moveTo(x2, y2);
    pen.lineTo(x2 - 5, y2 - 9 * down);
    pen.lineTo(x2 + 5, y2 - 9 * down);
    pen.fill();
  }
}
// An overview of the launch: how many lanes work, and where the cost is. Drawn once; the frame shows the visible part.
let picture = null;
const map_step = () => Math.min(tall, map.clientHeight / steps.length);
function draw_map(top, high) {
  const wide = map.clientWidth, all = map.clientHeight, each = map_step();
  if (!picture) {
    picture = document.createElement("canvas");
    const pen = pen_for(picture, wide, all), marks = [new Set(), new Set()]; // a costly step is visible even if many share a dot
    steps.forEach(({e, cost}, s) => {
      const y = Math.floor(s * each), mark = Number(slow(cost));
      if (marks[mark].has(y) || marks[1].has(y)) return;
      marks[mark].add(y);
      const share = e.kind === "barrier" ? 1 : bits(e.mask) / lanes;
      box(pen, e.kind === "barrier" ? colour.ink : mark ? colour.slow : paper_and_ink(e)[0], 2, y, Math.max(2, share * (wide - 3)), e.kind === "barrier" ? 1 : Math.max(1, each - Number(each > 3)));
    });
  }
  const pen = pen_for(map, wide, all);
  pen.drawImage(picture, 0, 0, wide, all);
  pen.strokeStyle = colour.focus;
  pen.lineWidth = 2;
  pen.strokeRect(1, Math.min(all - 8, top / tall * each + 1), wide - 2, Math.max(6, Math.min(high / tall, steps.length) * each - 2));
}

// ---- the memory of this step: 32 banks, sectors, or register exchange -------------------------------------------------
function draw_memory() {
  const memory = $("memory"), wide = memory.clientWidth, high = memory.clientHeight, pen = pen_for(memory, wide, high);
  const step = steps[now], {turns, sectors, words} = step.cost;
  $("what").textContent = turns ? w.banks_title(turns) : sectors ? w.sectors_title(sectors) : words ? w.constants_title : step.e.from ? w.lanes_title : w.nothing;
  memory.setAttribute("aria-label", $("what").textContent);
  pen.font = "10" + mono;
  if (turns) draw_banks(pen, step, wide, high);
  if (sectors) draw_sectors(pen, step, wide, high);
  if (step.e.from) draw_registers(pen, step, wide, high);
}
function draw_banks(pen, step, wide, high) {
  const side = 34, each = (wide - side) / banks, line = Math.max(4, Math.min(22, (high - 16) / step.cost.turns)), [paper, ink] = paper_and_ink(step.e);
  write(pen, colour.soft, "left", w.bank, 0, 6);
  for (let bank = 0; bank < banks; bank += each > 15 ? 1 : 4) if (each > 15 || bank) write(pen, colour.soft, "center", bank, side + (bank + 0.5) * each, 6);
  let turn = 0;
  for (const group of groups_of(step.e)) {
    const served = bank_words(step, group), turns = Math.max(...served.map(words => words.size));
    for (let t = 0; t < turns; ++t, ++turn) {
      const y = 14 + turn * line;
      if (line >= 9 || turn % 4 === 3) write(pen, t ? colour.slow : colour.soft, "left", `${turn + 1}.`, 2, y + line / 2);
      served.forEach((words, bank) => {
        const x = side + bank * each, wanted = [...words.values()][t];
        box(pen, wanted ? t ? colour.slow : paper : colour.idle, x + 0.5, y + 0.5, each - 1, line - 1);
        if (wanted && line >= 9 && each > 12) write(pen, t ? colour["full-ink"] : ink, "center", wanted[0] + (wanted.length > 1 && each > 18 ? "+" : ""), x + each / 2, y + line / 2 + 0.5);
      });
    }
  }
}
function draw_sectors(pen, step, wide, high) {
  const touched = sector_words(step), across = 4, each = (wide - (across - 1) * 8) / across;
  const line = Math.max(6, Math.min(36, high / Math.ceil(touched.length / across))), named = line > 20, paper = paper_and_ink(step.e)[0], array = array_of(step.e);
  touched.forEach(([number, words], k) => {
    const x = k % across * (each + 8), y = Math.floor(k / across) * line;
    for (let word = 0; word < 8; ++word) box(pen, words.has(word) ? paper : colour.idle, x + word * each / 8, y + (named ? 14 : 1), each / 8 - 1, line - (named ? 20 : 2));
    if (named) write(pen, colour.soft, "left", fit(`${array.name}[${number * sector / array.element}]`, Math.floor(each / 6)), x, y + 7);
  });
}
function draw_registers(pen, step, wide, high) {
  const each = wide / lanes, bottom = Math.min(high - 16, 110);
  pen.strokeStyle = colour.soft;
  slots(step).forEach((slot, lane) => {
    const x = (lane + 0.5) * each;
    for (const y of [14, bottom]) box(pen, slot < 0 ? colour.idle : colour.other, x - each / 2 + 0.5, y - 8, each - 1, 16);
    if (slot < 0) return;
    if (each > 12) for (const y of [14, bottom]) write(pen, colour["other-ink"], "center", lane, x, y + 0.5);
    pen.beginPath();
    pen.moveTo((step.e.from[slot] + 0.5) * each, 23);
    pen.lineTo(x, bottom - 9);
    pen.stroke();
  });
}
