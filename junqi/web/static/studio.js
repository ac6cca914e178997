// The layout studio: pieces dragged about, legality as the server says, scores while games run.

import { Board } from "./board.js";
import { listBook } from "./book_choice.js";
import { attempt, byId, el, get, listen, notice, post, Refusal, t, upload } from "./frame.js";

const MEMORY = "junqi-studio";
const SESSION = "junqi-studio-session";
const TAB = "junqi-studio-tab";
const MOST_UNDONE = 200;
const MOST_EARLIER = 6;
const MOST_SWAPS = 10;
const DRAG_FROM = 5;
const CAMPS = new Set(["H1", "H3", "I2", "J1", "J3"]);
// Where each letter stands, as the server lists them.
const POINTS = [..."GHIJKL"].flatMap((row) => [..."01234"].map((column) => row + column)).filter((p) => !CAMPS.has(p));

const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)} %`;
const signed = (share) => `${share > 0 ? "+" : share < 0 ? "−" : ""}${Math.abs(100 * share).toFixed(1)}`;
const many = (number) => number.toLocaleString("en-US");
const session = sessionKey();

// What can be undone, and where we are in it.
let past = [];
let at = -1;
// The server's last word on what is on the board.
let now = null;
let asked = 0;
let chosen = null;
let drag = null;
let skipsClick = false;
// Whether the board was last used by keyboard, which needs a cursor.
let usesKeys = false;
let running = { run: 0, is_running: false };
const earlier = [];

const holder = byId("board");
const board = new Board(holder, choose);

function sessionKey() {
  const kept = sessionStorage.getItem(SESSION);
  if (kept) return kept;
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const made = Array.from(bytes, (byte) => (byte % 36).toString(36)).join("");
  sessionStorage.setItem(SESSION, made);
  return made;
}

// ---- the layout and its history

const letterAt = (point, letters = now.letters) => letters[POINTS.indexOf(point)];
const kindAt = (point, letters = now.letters) => t(`kind_${letterAt(point, letters)}`);

function swapped(letters, a, b) {
  const changed = [...letters];
  const [i, j] = [POINTS.indexOf(a), POINTS.indexOf(b)];
  [changed[i], changed[j]] = [changed[j], changed[i]];
  return changed.join("");
}

/** Put letters on the board: an edit that can be undone. Returns whether the server took them. */
async function edit(letters) {
  const answer = await check(letters);
  if (!answer) return false;
  if (past[at] !== answer.letters) {
    past = [...past.slice(0, at + 1), answer.letters].slice(-MOST_UNDONE);
    at = past.length - 1;
  }
  take(answer);
  return true;
}

/** Ask the server about letters; undefined if it refuses, or if something else was asked since. */
async function check(letters) {
  asked += 1;
  const number = asked;
  const answer = await attempt(() => post("/api/studio/check", { letters }));
  return number === asked ? answer : undefined;
}

async function walk(step) {
  const to = at + step;
  if (to < 0 || to >= past.length) return;
  const answer = await check(past[to]);
  if (!answer) return;
  at = to;
  take(answer);
}

function take(answer) {
  now = answer;
  chosen = null;
  localStorage.setItem(MEMORY, JSON.stringify({ past, at }));
  draw();
  byId("letters").value = now.letters;
  byId("save-name").value = now.known?.name ?? "";
  byId("save-tags").value = now.known?.tags.join(" ") ?? "";
  byId("saved").hidden = true;
  showButtons();
  showResults();
  frameHeat();
}

const isLegal = () => now !== null && now.problems.length === 0;

function draw() {
  board.show(now.svg);
  for (const point of now.points) board.mark(point, "bad");
  if (chosen) {
    board.mark(chosen, "chosen");
    for (const point of now.targets[chosen]) board.mark(point, "may");
  }
  if (usesKeys && board.centres.has(board.cursor)) board.mark(board.cursor, "cursor");
  showVerdict(now, chosen ? t("chosen", { one: kindAt(chosen), a: chosen }) : "");
}

/** What the server says of a layout; more is a line about what is going on. */
function showVerdict(answer, more = "") {
  const box = byId("verdict");
  const isFine = answer.problems.length === 0;
  box.className = isFine ? "fine" : "bad";
  if (!isFine) {
    box.replaceChildren(el("b", {}, `✗ ${t("illegal")}`), el("ul", {}, ...answer.problems.map((text) => el("li", {}, text))));
  } else {
    const { known } = answer;
    let where = t("not_in_book");
    if (known) where = t("in_book", { id: known.id, name: known.name }).trim();
    if (known && known.weight > 0) where += t("in_book_weight", { weight: Number(known.weight.toFixed(4)) });
    box.replaceChildren(el("b", {}, `✓ ${t("legal")}`), el("span", { class: "soft" }, ` · ${where}`));
  }
  if (more) box.append(el("div", { class: "more" }, more));
}

function showWarning(text) {
  byId("verdict").className = "bad";
  byId("verdict").replaceChildren(el("b", {}, `✗ ${text}`));
}

// ---- choosing and dragging

function choose(point) {
  if (!now) return;
  holder.focus({ preventScroll: true });
  if (CAMPS.has(point)) {
    draw();
    showWarning(t("camp_empty", { point }));
  } else if (!chosen) {
    chosen = point;
    draw();
  } else if (chosen === point) {
    chosen = null;
    draw();
  } else {
    drop(chosen, point);
  }
}

function drop(from, to) {
  if (letterAt(from) === letterAt(to)) {
    chosen = null;
    draw();
    showVerdict(now, t("same_kind"));
  } else {
    edit(swapped(now.letters, from, to));
  }
}

holder.addEventListener("keydown", () => (usesKeys = true), true);
holder.addEventListener("blur", () => (usesKeys = false));
holder.addEventListener("pointerdown", (event) => {
  usesKeys = false;
  const point = now && event.button === 0 && board.pointAt(event.clientX, event.clientY);
  if (!point || CAMPS.has(point)) return;
  drag = { point, x: event.clientX, y: event.clientY, isMoving: false, over: null };
  holder.setPointerCapture(event.pointerId);
});

holder.addEventListener("pointermove", (event) => {
  if (!drag) return;
  if (!drag.isMoving) {
    if (Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < DRAG_FROM) return;
    drag.isMoving = true;
    chosen = null;
    draw();
    drag.piece = board.svg.querySelector(`.jq-piece[data-point="${drag.point}"]`);
    drag.piece.classList.add("held");
    board.marks.after(drag.piece);
    holder.classList.add("dragging");
  }
  const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(board.svg.getScreenCTM().inverse());
  drag.piece.setAttribute("transform", `translate(${place.x} ${place.y})`);
  const over = board.pointAt(event.clientX, event.clientY);
  if (over !== drag.over) {
    drag.over = over;
    preview(drag.point, over);
  }
});

/** Say what would come of dropping one piece on another. */
async function preview(from, over) {
  board.clear();
  board.mark(from, "chosen");
  if (!over || over === from) return showVerdict(now);
  if (CAMPS.has(over)) {
    board.mark(over, "bad");
    return showWarning(t("camp_empty", { point: over }));
  }
  const isFine = now.targets[from].includes(over) || letterAt(from) === letterAt(over);
  board.mark(over, isFine ? "fine" : "bad");
  const words = { one: kindAt(from), a: from, two: kindAt(over), b: over };
  const answer = await attempt(() => post("/api/studio/check", { letters: swapped(now.letters, from, over) }));
  if (answer && drag?.over === over) showVerdict(answer, t("swap_preview", words));
}

function endDrag(isDropped) {
  if (!drag) return;
  const { point, over, isMoving } = drag;
  drag = null;
  if (!isMoving) return;
  skipsClick = isDropped;
  setTimeout(() => (skipsClick = false), 0);
  holder.classList.remove("dragging");
  // The picture is shown anew, with the piece where it was.
  board.drawing = null;
  draw();
  if (!isDropped || over === point) return;
  if (!over) showWarning(t("off_board"));
  else if (CAMPS.has(over)) showWarning(t("camp_empty", { point: over }));
  else drop(point, over);
}

holder.addEventListener("pointerup", () => endDrag(true));
holder.addEventListener("pointercancel", () => endDrag(false));
// The click that ends a drag chooses nothing.
holder.parentElement.addEventListener("click", (event) => {
  if (!skipsClick) return;
  skipsClick = false;
  event.stopPropagation();
}, true);

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.matches("input, textarea, select");
  if (event.key === "Escape" && (chosen || drag)) {
    chosen = null;
    if (drag) endDrag(false);
    draw();
  } else if ((event.ctrlKey || event.metaKey) && !isTyping && "zy".includes(event.key.toLowerCase())) {
    walk(event.key.toLowerCase() === "y" || event.shiftKey ? 1 : -1);
    event.preventDefault();
  }
});

// ---- the tools above and below the board

byId("undo").addEventListener("click", () => walk(-1));
byId("redo").addEventListener("click", () => walk(1));
byId("mirror").addEventListener("click", () => edit(now.mirror));
byId("random").addEventListener("click", () =>
  attempt(async () => edit((await post("/api/studio/random")).letters)));

byId("letters-form").addEventListener("submit", (event) => {
  event.preventDefault();
  paste(byId("letters").value);
});
byId("letters").addEventListener("change", () => paste(byId("letters").value));
byId("letters").addEventListener("paste", (event) => {
  // Whole layouts are pasted whole, in one line or in several.
  const text = event.clipboardData.getData("text").trim();
  if (text.length < 20) return;
  event.preventDefault();
  paste(text);
});

async function paste(text) {
  const letters = text.replace(/\s+/g, "");
  if (now && letters === now.letters) return;
  if (!(await edit(letters)) && now) byId("letters").value = now.letters;
}

byId("copy").addEventListener("click", async () => {
  const field = byId("letters");
  try {
    await navigator.clipboard.writeText(now.letters);
  } catch {
    // Without a secure address the clipboard is reached in the old way only.
    field.select();
    document.execCommand("copy");
  }
  notice(t("copied"), "info");
});

byId("paste").addEventListener("click", async () => {
  try {
    await paste(await navigator.clipboard.readText());
  } catch {
    byId("letters").select();
    notice(t("paste_by_hand"), "info");
  }
});

byId("from-book").addEventListener("change", (event) => {
  const letters = event.target.value;
  event.target.value = "";
  if (letters) edit(letters);
});

// ---- tabs

const tabs = [...document.querySelectorAll('[role="tab"]')];

function open(tab) {
  for (const one of tabs) {
    const isOpen = one === tab;
    one.setAttribute("aria-selected", isOpen);
    one.tabIndex = isOpen ? 0 : -1;
    byId(one.getAttribute("aria-controls")).hidden = !isOpen;
  }
  sessionStorage.setItem(TAB, tab.id);
  if (tab.id === "tab-heat") showHeat();
}

for (const tab of tabs) {
  tab.addEventListener("click", () => open(tab));
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
    open(next);
    next.focus();
  });
}

// ---- what the server computes

const start = (what, body = {}) => attempt(() => post(`/api/studio/${what}`, { session, letters: now.letters, ...body }));

byId("score").addEventListener("click", () =>
  start("score", { opponents: byId("score-opponents").value, judge: byId("score-judge").value }));
byId("attack").addEventListener("click", () => start("attack", { seconds: Number(byId("attack-seconds").value) }));
byId("swaps").addEventListener("click", () => start("swaps", { opponents: byId("swaps-opponents").value }));
for (const button of document.querySelectorAll(".stop")) {
  button.addEventListener("click", () => attempt(() => post("/api/studio/stop", { session })));
}

// The last state of each kind of computation: one that follows does not wipe out what was found.
const results = {};
const SHOW = { score: showScore, attack: showAttack, swaps: showSwaps };

listen(`/api/studio/feed?session=${session}`, (state) => {
  const last = results.score;
  if (last && (state.kind !== "score" || state.run !== last.run)) remember(last);
  running = state;
  if (state.kind) results[state.kind] = state;
  showButtons();
  if (now && state.kind) SHOW[state.kind](state);
});

function showButtons() {
  byId("undo").disabled = at <= 0;
  byId("redo").disabled = at >= past.length - 1;
  for (const id of ["score", "attack", "swaps", "save"]) byId(id).disabled = !isLegal();
  for (const button of document.querySelectorAll(".stop")) button.disabled = !running.is_running;
}

function showResults() {
  for (const [kind, state] of Object.entries(results)) SHOW[kind](state);
}

/** The line above a result: what goes on, and whether it is about what is on the board. */
function about(id, state, text) {
  const parts = [el("span", {}, state.error ?? (state.is_stopped ? `${t("stopped")} ${text}` : text))];
  if (state.letters !== now.letters && state.letters !== now.mirror) {
    parts.push(el("span", { class: "stale" }, t("other_layout")));
    parts.push(el("button", { type: "button", class: "plain", onclick: () => edit(state.letters) }, t("show_it")));
  }
  const line = byId(id);
  line.classList.toggle("problem", Boolean(state.error));
  line.classList.toggle("busy", Boolean(state.is_running));
  line.replaceChildren(...parts);
}

/** A score as a dot with its interval, on a line from 0 to 100 % with one half marked. */
function scoreRow(label, row) {
  if (!row) return el("div", { class: "score waiting" }, el("span", { class: "who" }, label), el("div", { class: "track" }), el("b", {}, "…"));
  const dot = el("i", { class: "dot" });
  const reach = el("i", { class: "reach" });
  dot.style.left = `${100 * row.score}%`;
  reach.style.left = `${100 * row.low}%`;
  reach.style.width = `${100 * (row.high - row.low)}%`;
  const kind = row.low > 0.5 ? "good" : row.high < 0.5 ? "poor" : "even";
  const half = (row.high - row.low) / 2;
  let more = t("games_count", { games: many(row.games) });
  if (row.first !== undefined) more += ` · ${t("turns", { first: percent(row.first, 0), second: percent(row.second, 0) })}`;
  return el("div", { class: `score ${kind}` },
    el("span", { class: "who" }, label), el("div", { class: "track" }, reach, dot),
    el("b", {}, `${(100 * row.score).toFixed(1)} ± ${(100 * half).toFixed(1)} %`), el("small", {}, more));
}

function showScore(state) {
  const has = Object.keys(state.rows).length > 0;
  let text = t(state.is_running ? "score_running" : "score_done", { judge: state.judge });
  if (state.is_running && !has) text = t("preparing");
  about("score-about", state, text);
  byId("score-rows").replaceChildren(...state.opponents.map((name) => scoreRow(t(`against_${name}`), state.rows[name])));
}

/** Keep a score in the list of earlier ones. */
function remember(state) {
  if (!Object.keys(state.rows).length) return;
  const same = earlier.findIndex((one) => one.letters === state.letters && one.judge === state.judge);
  if (same >= 0) earlier.splice(same, 1);
  earlier.unshift(state);
  earlier.length = Math.min(earlier.length, MOST_EARLIER);
  const line = (one) => el("li", {},
    el("button", { type: "button", class: "plain", title: t("show_it"), onclick: () => edit(one.letters) }, one.letters),
    el("span", {}, Object.entries(one.rows).map(([name, row]) => `${t(`against_${name}`)} ${percent(row.score)}`).join(" · ")),
    el("small", { class: "soft" }, one.judge));
  byId("earlier").hidden = false;
  byId("earlier").querySelector("ul").replaceChildren(...earlier.map(line));
}

let drawnCounter = null;

async function showAttack(state) {
  let text = t("attack_running");
  if (state.counter) text = t("attack_done", { attempts: state.attempts, games: many(state.games) });
  else if (state.attempts) text = t("attack_best", { attempts: state.attempts, best: percent(state.best) });
  else if (!state.is_running) text = "";
  about("attack-about", state, text);
  byId("counter").hidden = !state.counter;
  if (!state.counter) return;
  const rows = Object.entries(state.scores).map(([judge, row]) => scoreRow(t("by_judge", { judge }), row));
  byId("counter-rows").replaceChildren(...rows);
  const has = Boolean(state.record);
  byId("sample-text").textContent = has ? t(state.is_won ? "sample_won" : "sample_not_won", { plies: state.plies }) : "";
  byId("view-sample").hidden = !has || !document.querySelector('nav a[href="/viewer"]');
  byId("get-sample").hidden = !has;
  byId("get-sample").href = `/api/studio/record?session=${session}`;
  if (drawnCounter !== state.counter) {
    drawnCounter = state.counter;
    const drawn = await attempt(() => post("/api/studio/check", { letters: state.counter }));
    if (drawn && drawnCounter === drawn.letters) byId("counter-board").innerHTML = drawn.svg;
  }
}

byId("take-counter").addEventListener("click", () => edit(results.attack.counter));
byId("view-sample").addEventListener("click", () => attempt(async () => {
  const kept = await upload("/api/viewer/files", new Blob([results.attack.record]));
  location.href = `/viewer?${new URLSearchParams({ kind: kept.kind, name: kept.name, game: 1, seat: "all" })}`;
}));

let drawnSwaps = null;

function showSwaps(state) {
  let text = t("preparing");
  if (state.is_running && state.round) text = t("swaps_running", state);
  else if (state.base) text = t("swaps_done", { games: many(state.games), base: percent(state.base.score) });
  else if (!state.is_running) text = "";
  about("swaps-about", state, text);
  byId("swap-lists").hidden = state.rows.length === 0;
  // Rows that are the same stay, so that none is exchanged under a click.
  const drawn = JSON.stringify([state.run, state.games, state.letters === now.letters]);
  if (drawn === drawnSwaps) return;
  drawnSwaps = drawn;
  const gains = state.rows.filter((row) => row.gain > 0).slice(0, MOST_SWAPS);
  const costs = state.rows.filter((row) => row.gain < 0).slice(-MOST_SWAPS).reverse();
  const furthest = Math.max(0.01, ...state.rows.map((row) => Math.max(Math.abs(row.low), Math.abs(row.high))));
  const fill = (id, rows) => byId(id).replaceChildren(...rows.map((row) => el("li", {}, swapButton(row, state.letters, furthest))));
  fill("gains", gains);
  fill("costs", costs);
  if (!gains.length) byId("gains").replaceChildren(el("li", { class: "soft" }, t("no_gain")));
}

function swapButton(row, letters, furthest) {
  const [a, b] = row.points;
  const words = { one: kindAt(a, letters), a, two: kindAt(b, letters), b };
  const reach = el("i", { class: "reach" });
  const dot = el("i", { class: "dot" });
  const place = (value) => 50 + (50 * value) / furthest;
  reach.style.left = `${place(row.low)}%`;
  reach.style.width = `${place(row.high) - place(row.low)}%`;
  dot.style.left = `${place(row.gain)}%`;
  const kind = row.low > 0 ? "good" : row.high < 0 ? "poor" : "even";
  const isHere = letters === now.letters;
  const show = () => {
    if (!isHere) return;
    draw();
    board.mark(a, "fine");
    board.mark(b, "fine");
  };
  return el("button", {
    type: "button", class: `swap ${kind}`, title: t("apply", words), onclick: () => edit(row.letters),
    onpointerenter: show, onfocus: show, onpointerleave: () => isHere && draw(), onblur: () => isHere && draw(),
  },
  el("span", {}, el("b", {}, words.one), ` ${a} ⇄ `, el("b", {}, words.two), ` ${b}`),
  el("span", { class: "track" }, reach, dot),
  el("span", { class: "number" }, `${signed(row.gain)} ± ${((100 * (row.high - row.low)) / 2).toFixed(1)}`));
}

// ---- heat maps

let heat = null;

async function showHeat() {
  if (heat) return;
  const answer = await attempt(() => get("/api/studio/standing"));
  if (!answer) return;
  heat = answer;
  const deepest = Math.max(...heat.kinds.flatMap((kind) => kind.shares.flat()).filter((share) => share !== null));
  byId("heat").replaceChildren(...heat.kinds.map((kind) => {
    const cells = kind.shares.flatMap((row, line) => row.map((share, column) => {
      const point = `${"GHIJKL"[line]}${column}`;
      if (share === null) return el("i", { class: "camp" });
      const cell = el("i", { "data-point": point, title: `${point} ${percent(share)}` }, share >= 0.005 ? (100 * share).toFixed(0) : "");
      const depth = Math.sqrt(share / deepest);
      cell.style.setProperty("--depth", `${Math.round(90 * depth)}%`);
      cell.classList.toggle("deep", depth > 0.6);
      return cell;
    }));
    return el("figure", { "data-letter": kind.letter }, el("figcaption", {}, kind.name), el("div", { class: "heat" }, ...cells));
  }));
  if (now) frameHeat();
}

/** Frame where the layout on the board has each kind. */
function frameHeat() {
  if (!heat) return;
  for (const cell of byId("heat").querySelectorAll("[data-point]")) {
    const { letter } = cell.closest("figure").dataset;
    cell.classList.toggle("here", letterAt(cell.dataset.point) === letter);
  }
}

// ---- the book

let lastChange = null;

byId("save-form").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(async () => {
    const body = { letters: now.letters, name: byId("save-name").value, tags: byId("save-tags").value };
    const saved = await post("/api/studio/save", body);
    lastChange = saved.change;
    const answer = await check(now.letters);
    if (answer) take(answer);
    const words = lastChange === null ? "saved_same" : saved.is_new ? "saved_new" : "saved_known";
    byId("saved").hidden = false;
    byId("saved").querySelector("span").textContent = t(words, saved);
    byId("unsave").hidden = lastChange === null;
    listBook(byId("from-book"));
  });
});

byId("unsave").addEventListener("click", () => attempt(async () => {
  await post("/api/studio/unsave", { change: lastChange });
  const answer = await check(now.letters);
  if (answer) take(answer);
  notice(t("unsaved"), "info");
  listBook(byId("from-book"));
}));

// ---- the beginning

function recall() {
  try {
    const kept = JSON.parse(localStorage.getItem(MEMORY));
    if (Array.isArray(kept.past) && kept.past[kept.at]) return kept;
  } catch {
    // Nothing was kept, or by another version.
  }
  return { past: [], at: -1 };
}

/** Other pages hand a layout over in the address. Whether there was a good one. */
async function takeAddress() {
  const letters = location.hash.slice(1);
  if (letters) history.replaceState(null, "", location.pathname);
  return letters !== "" && edit(letters);
}

async function begin() {
  open(tabs.find((tab) => tab.id === sessionStorage.getItem(TAB)) ?? tabs[0]);
  const rows = await listBook(byId("from-book"));
  ({ past, at } = recall());
  window.addEventListener("hashchange", takeAddress);
  if (await takeAddress()) return;
  const answer = at >= 0 ? await check(past[at]) : undefined;
  if (answer) take(answer);
  else await edit(rows[0]?.letters ?? (await post("/api/studio/random")).letters);
}

attempt(begin);
