"use strict";
// The CPU device's data; record.hpp describes the fields.
const trace = JSON.parse(document.getElementById("trace").textContent);
const lanes = 32, banks = 32, sector = 32;
const $ = id => document.getElementById(id);

// ---- words, in English and Chinese ------------------------------------------------------------------------------
const chinese = /^zh/.test(navigator.language);
const many = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
const w = chinese ? {
  title: "一步一步看核函数", time: "时间自上而下，线程束的各通道自左向右", source: "源代码", player: "播放", choose: "第几次启动",
  first: "第一步（Home）", back: "上一步（↑ 或 k）", play: "播放或暂停（空格）", next: "下一步（↓ 或 j）", last: "最后一步（End）", slider: "步",
  costly: "下一处代价高的步（c）", costs: "下一处 ⚠", narrow: "格子变窄", broad: "格子变宽", speed: "速度", at: (i, n) => `第 ${i} 步，共 ${n} 步`,
  active: n => `平均有 <b>${n}</b> / 32 个通道在工作`, turns: (t, l) => `bank 访问 <b>${t}</b> 轮${t > l ? `，无冲突只需 ${l} 轮` : "，没有冲突"}`,
  sectors: (n, p) => `<b>${n}</b> 个扇区，用到 ${p} %`, barriers: n => `同步 <b>${n}</b> 次`, races: n => `数据竞争 ${n} 处：看看（r）`, cut: s => `未画出：${s}`,
  told: [[/^(\d+) more warps? of block (\d+)$/, "线程块 $2 的另外 $1 个线程束"], [/^(\d+) more warps? of each block$/, "每块的另外 $1 个线程束"], [/^(\d+) more blocks?$/, "另外 $1 个线程块"],
    [/^what comes after row (\d+)/, "第 $1 行以后"], [/^race on element (\d+) of (.*?)(?=, by |$)/, "$2 的元素 $1 上的数据竞争"], [/, by warp (\d+) of block (.*) and warp (\d+) of block (.*)/, "：线程块 $2 的线程束 $1，线程块 $4 的线程束 $3"]],
  other: (who, line, lane) => `，另一方是${who}通道 ${lane}${line}。`, number: "行", cost_title: "各步的轮数、扇区数与字数之和",
  block: n => `线程块 ${n}，`, warp: n => `线程束 ${n}`, line: n => `第 ${n} 行`, cost: "代价", lane: (l, t) => `通道 ${l}（线程 ${t}）：`, idle: "不工作", was: "原为", bank: "bank",
  load: "读取", store: "写入", atomic: "原子地修改", shuffle: "交换寄存器：", vote: "表决：", syncwarp: "互相等待：", exit: "结束", barrier: "同步",
  does: (who, n, what, where) => `${who}：${n} 个通道${what} ${where}。`, sides: { turn: n => `${n} 轮`, sector: n => `${n} 扇区`, word: n => `${n} 字` },
  even: "每个 bank 只需给出一个字：一轮。", conflict: (t, l, b, n) => `bank 要给 ${t} 轮，本来 ${l} 轮就够：bank ${b} 要依次给出 ${n} 个不同的字。`,
  fetched: (s, p) => `取 ${s} 个扇区（各 32 字节），用到其中 ${p} %。`, at_barrier: (what, line) => `${line}：${what}。`, waits: "块内的线程都到了，才往下走。", queue: n => `${n} 个通道要改同一个字，只能排队。`,
  constants: n => (n > 1 ? `常量内存一次只给一个字：${n} 个不同的字要依次取。` : "常量内存：所有通道读同一个字，一次就够。"), constants_title: "常量内存",
  banks_title: t => `共享内存：32 个 bank，${t} 轮`, sectors_title: n => `全局内存：${n} 个扇区，每个 32 字节`, lanes_title: "寄存器从一个通道到另一个通道", nothing: "这一步不访问内存", empty: "没有记录到任何访问。",
  key: ["共享内存", "全局内存", "原子操作", "要多等的", "浅色：读取，深色：写入"],
} : {
  title: "a kernel, step by step", time: "Time goes down, the lanes of a warp go across", source: "Source", player: "Player", choose: "Launch",
  first: "First step (Home)", back: "One step back (up or k)", play: "Play or pause (space)", next: "Next step (down or j)", last: "Last step (End)", slider: "Step",
  costly: "Next costly step (c)", costs: "next ⚠", narrow: "Narrower cells", broad: "Wider cells", speed: "Speed", at: (i, n) => `step ${i} of ${n}`,
  active: n => `<b>${n}</b> of 32 lanes at work`, turns: (t, l) => `<b>${t}</b> ${t === 1 ? "turn" : "turns"} at the banks${t > l ? `, ${l} without conflicts` : ", no conflict"}`,
  sectors: (n, p) => `<b>${n}</b> sectors, ${p} % used`, barriers: n => `<b>${n}</b> ${n === 1 ? "barrier" : "barriers"}`, races: n => `${many(n, "race")}: show (r)`, cut: s => `not drawn: ${s}`,
  told: [], other: (who, line, lane) => `, with ${who}lane ${lane}${line}.`, number: "line", cost_title: "turns, sectors and words of all steps, added up",
  block: n => `block ${n}, `, warp: n => `warp ${n}`, line: n => `line ${n}`, cost: "cost", lane: (l, t) => `lane ${l} (thread ${t}): `, idle: "idle", was: "was", bank: "bank",
  load: "load", store: "store to", atomic: "change, by an atomic,", shuffle: "hand on registers:", vote: "vote:", syncwarp: "wait for each other:", exit: "end", barrier: "barrier",
  does: (who, n, what, where) => `${who}: ${many(n, "lane")} ${what} ${where}. `, sides: { turn: n => many(n, "turn"), sector: n => many(n, "sector"), word: n => many(n, "word") },
  even: "Each bank serves one word: one turn.", conflict: (t, l, b, n) => `${many(t, "turn")} at the banks where ${l} would do: bank ${b} serves ${n} different words, one after the other.`,
  fetched: (s, p) => `${many(s, "sector")} of 32 bytes come or go, ${p} % used.`, at_barrier: (what, line) => `${line}: ${what}. `, waits: "No thread of the block goes on until all have come.", queue: n => `${n} lanes change one word: they queue.`,
  constants: n => (n > 1 ? `Constant memory gives one word at a time: ${n} different words come one after the other.` : "All lanes read one word of constant memory: it comes at once."), constants_title: "Constant memory",
  banks_title: t => `Shared memory: 32 banks, ${many(t, "turn")}`, sectors_title: n => `Global memory: ${many(n, "sector")} of 32 bytes`, lanes_title: "Registers go from lane to lane", nothing: "No memory is touched in this step", empty: "No access of this launch was recorded.",
  key: ["shared", "global", "atomic", "what costs more", "pale: loads, full: stores"],
};

// The sentences that the writer has in English.
const words_of = text => w.told.reduce((all, [from, to]) => all.replace(from, to), text);

// ---- steps: one for each event, except that a barrier is one step for all warps of a block --------------------------
let launch, events, steps, step_of; // step_of[event]
function take(number) {
  launch = trace.launches[number] || {kernel: trace.program, grid: [0], block: [0], columns: [], arrays: [], events: [], races: []};
  events = launch.events;
  if (!events.length) { // a kernel without any recorded event, or no kernel
    launch.columns[0] = launch.columns[0] || {block: 0, warp: 0, lanes};
    events.push({row: 0, column: 0, kind: "exit", mask: 0});
  }
  steps = [];
  step_of = new Int32Array(events.length);
  events.forEach((e, i) => {
    const before = steps[steps.length - 1];
    const merged = e.kind === "barrier" && before && before.e.kind === "barrier" && before.e.row === e.row && block_of(before.e) === block_of(e);
    if (!merged) steps.push({e, cost: cost_of(e), slots: null});
    step_of[i] = steps.length - 1;
  });
}
const column_of = e => launch.columns[e.column];
const block_of = e => column_of(e).block;
const array_of = e => launch.arrays[e.array];
const placed = e => e.at && e.at[0] >= 0; // its line is known
// "5", or "(5,0)" in two dimensions, for the number of a thread or block.
function place_in(number, [x, y, z]) {
  if (y === undefined || y * z === 1) return String(number);
  const all = [number % x, Math.floor(number / x) % y, Math.floor(number / x / y)];
  return `(${all.slice(0, z > 1 ? 3 : 2).join(",")})`;
}
const at_all = e => e.array !== undefined;
const bits = mask => { let n = 0; for (mask >>>= 0; mask; mask &= mask - 1) ++n; return n; };
// The index of each lane's entry in the event's lists, or -1.
function slots(step) {
  if (step.slots) return step.slots;
  step.slots = new Int8Array(lanes).fill(-1);
  for (let lane = 0, n = 0; lane < lanes; ++lane) if (step.e.mask >>> lane & 1) step.slots[lane] = n++;
  return step.slots;
}
const first_byte = (e, slot) => (array_of(e).offset || 0) + e.elements[slot] * array_of(e).element;

// The cost of an event: rounds of bank accesses (least: without conflicts), sectors and the bytes of them that are used, or
// words of constant memory, which are read one after the other.
function cost_of(e) {
  if (!at_all(e)) return {};
  const queue = e.kind === "atomic" ? most_alike(e.elements) : 0;
  if (array_of(e).space === "shared") {
    const least = Math.ceil(e.elements.length / Math.min(lanes, 128 / e.bytes));
    return {least, turns: least + (e.conflicts || 0), queue};
  }
  if (array_of(e).space === "constant") return {words: new Set(e.elements).size};
  return {sectors: e.sectors, used: Math.min(e.sectors * sector, new Set(e.elements).size * e.bytes), queue};
}
// Accesses of 8 bytes are served half a warp at a time, of 16 bytes a quarter.
function groups_of(e) {
  const parts = Math.max(1, e.bytes / 4), share = lanes / parts;
  return Array.from({length: parts}, (_, k) => (parts === 1 ? ~0 : (1 << share) - 1 << k * share));
}
function most_alike(elements) {
  const seen = new Map();
  for (const element of elements) seen.set(element, (seen.get(element) || 0) + 1);
  return Math.max(...seen.values());
}
const slow = cost => cost.turns > cost.least || cost.words > 1 || cost.queue > 7 || (cost.sectors > 1 && cost.used < cost.sectors * sector / 2);

// For each bank the words that a group of lanes needs from it: word -> lanes.
function bank_words(step, group) {
  const served = Array.from({length: banks}, () => new Map());
  slots(step).forEach((slot, lane) => {
    if (slot < 0 || !(group >>> lane & 1)) return;
    const from = first_byte(step.e, slot);
    for (let word = from >> 2; word <= from + step.e.bytes - 1 >> 2; ++word) {
      const words = served[word % banks];
      if (!words.has(word)) words.set(word, []);
      words.get(word).push(lane);
    }
  });
  return served;
}
// The sectors that an event touches, in order of address: number -> its words that are used.
function sector_words(step) {
  const touched = new Map();
  for (const slot of slots(step)) {
    if (slot < 0) continue;
    const from = first_byte(step.e, slot);
    for (let word = from >> 2; word <= from + step.e.bytes - 1 >> 2; ++word) {
      const number = word >> 3;
      if (!touched.has(number)) touched.set(number, new Set());
      touched.get(number).add(word & 7);
    }
  }
  return [...touched].sort((a, b) => a[0] - b[0]);
}

// ---- a value, short enough for a cell -------------------------------------------------------------------------------
const minus = text => text.replace("-", "−");
function short(value, room) {
  const whole = minus(String(value));
  if (whole.length <= room) return whole;
  if (typeof value !== "number") return whole.includes(" ") ? short(whole.split(" ")[0], room - 1) + "…" : "…";
  for (const [size, unit] of [[1, ""], [1e3, "k"], [1e6, "M"], [1e9, "G"]]) {
    for (let digits = 3; digits > 0; --digits) {
      const number = Number((value / size).toPrecision(digits)), text = minus(String(number).replace(/^(-?)0\./, "$1.")) + unit;
      if (number && text.length <= room && !text.includes("e")) return text;
    }
  }
  return "…";
}
