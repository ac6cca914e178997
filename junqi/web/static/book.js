// The book: its layouts as drawn boards, what is known of them, and changes that go into the file.

import { attempt, byId, el, get, notice, post, Refusal, t } from "./frame.js";

const API = "/api/book";
const COLOURS = 8; // of the parts of the mixture, told apart by their classes

let about = null;
let shown = []; // the layouts of this page
let page = 0;
let open = null; // the layout whose details are shown
const given = {}; // what the fields of that layout were given, or have sent
let seenNote = ""; // the note that the book had when its field was given it
let questions = 0; // for pages of layouts, so far
const chosen = new Set();
const boards = new Map(); // letters -> the picture, or its promise

// ---------------------------------------------------------------- asking

/** Show what an error says instead of the room; the book is as it was. */
async function orProblem(action) {
  try {
    await action();
    byId("problem").hidden = true;
    byId("room").hidden = false;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    byId("problem-text").textContent = error.message;
    byId("problem").hidden = false;
    byId("room").hidden = true;
  }
}

const loadAll = () => orProblem(async () => {
  takeAbout(await get(`${API}/about`));
  await loadPage();
});

async function loadPage() {
  const number = ++questions;
  const fields = new FormData(byId("filter"));
  for (const name of ["min_score", "max_score"]) {
    if (fields.get(name)) fields.set(name, Number(fields.get(name)) / 100);
  }
  const answer = await get(`${API}/layouts?${new URLSearchParams([...fields, ["page", page]])}`);
  if (number !== questions) return; // another question came later, and its answer sooner
  page = answer.page;
  shown = answer.layouts;
  byId("count").textContent = t("count", answer);
  byId("page").textContent = t("page_of", { page: page + 1, pages: answer.pages });
  byId("before").disabled = page === 0;
  byId("after").disabled = page + 1 >= answer.pages;
  byId("nothing").hidden = shown.length > 0;
  showGallery();
}

/** Change layouts; the page then shows what the book holds. */
async function change(action, ids, value, more = {}) {
  const answer = await post(`${API}/change`, { action, ids, ...(value === undefined ? {} : { value }), ...more });
  takeAbout(answer.about);
  await loadPage();
  if (open && ids.includes(open.id)) await openLayout(open.id);
  if (answer.is_changed) notice(t("changed", answer), "info");
}

async function step(name) {
  const answer = await post(`${API}/${name}`, { change: about[name].id });
  takeAbout(answer.about);
  await loadPage();
  if (open) await openLayout(open.id);
  notice(t(name === "undo" ? "undone" : "redone", answer), "info");
}

/** What was refused may be because the page is old: it is told, and shown anew. */
const tryTo = (action) => attempt(async () => {
  try {
    await action();
  } catch (error) {
    if (error instanceof Refusal) await attempt(async () => takeAbout(await get(`${API}/about`)));
    throw error;
  }
});

// ---------------------------------------------------------------- the head of the page

function takeAbout(fresh) {
  about = fresh;
  byId("path").textContent = about.path;
  byId("numbers").textContent = t("numbers", { ...about, games: about.evidence_games.toLocaleString() });
  for (const name of ["undo", "redo"]) {
    byId(name).disabled = about[name] === null;
    byId(name).title = about[name] ? t(`${name}_what`, about[name]) : "";
  }
  const fill = (select, words) => {
    const last = select.value;
    select.replaceChildren(select.options[0], ...words.map((word) => el("option", { value: word }, word)));
    select.value = words.includes(last) ? last : "";
  };
  fill(byId("filter").elements.tags, Object.keys(about.tags));
  fill(byId("filter").elements.judge, about.judges);
  byId("all-tags").replaceChildren(...Object.keys(about.tags).map((word) => el("option", { value: word })));
  byId("log").replaceChildren(...about.log.map((entry) => el("li", { class: entry.is_undone ? "undone" : null },
    el("b", {}, entry.what), el("small", {}, `${entry.made.replace("T", " ").replace("Z", "")} · ${entry.summary}`))));
  showMixture();
}

const share = (weight) => (about.total_weight ? weight / about.total_weight : 0);
const percent = (number, digits = 1) => `${(100 * number).toFixed(digits)}%`;

function showMixture() {
  let rest = 1;
  const parts = about.mixture.map((part, index) => {
    const size = share(part.weight);
    rest -= size;
    const made = el("button", {
      type: "button", class: `part part-${index % COLOURS}`, title: `#${part.id} ${part.name} · ${percent(size)}`,
      onclick: () => tryTo(() => openLayout(part.id)),
    }, size > 0.05 ? percent(size, 0) : "");
    made.style.flexGrow = size;
    return made;
  });
  const others = about.in_mixture - about.mixture.length;
  if (others > 0) {
    const made = el("span", { class: "part rest", title: t("mixture_rest", { number: others }) });
    made.style.flexGrow = Math.max(rest, 0);
    parts.push(made);
  }
  byId("mixture").replaceChildren(...parts);
}

// ---------------------------------------------------------------- the gallery

const inSight = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    inSight.unobserve(entry.target);
    drawBoard(entry.target, entry.target.dataset.letters);
  }
}, { rootMargin: "300px" });

async function drawBoard(holder, letters) {
  if (!boards.has(letters)) boards.set(letters, get(`${API}/boards/${letters}`));
  try {
    holder.innerHTML = (await boards.get(letters)).board;
  } catch {
    boards.delete(letters);
  }
}

function showGallery() {
  inSight.disconnect();
  const heaviest = Math.max(...about.mixture.map((part) => part.weight), 0);
  byId("gallery").replaceChildren(...shown.map((layout) => card(layout, heaviest)));
  for (const holder of byId("gallery").querySelectorAll(".board")) inSight.observe(holder);
  showChosen();
}

function card(layout, heaviest) {
  const bar = el("i", {});
  bar.style.width = `${heaviest && layout.in_mixture ? (100 * layout.weight) / heaviest : 0}%`;
  const box = el("input", {
    type: "checkbox", "aria-label": `${t("choose")} #${layout.id}`, checked: chosen.has(layout.id),
    onchange: (event) => {
      if (event.target.checked) chosen.add(layout.id);
      else chosen.delete(layout.id);
      showChosen();
    },
  });
  return el("li", { class: layout.enabled ? "card" : "card off", "data-id": layout.id, "aria-current": open?.id === layout.id ? "true" : null },
    el("div", { class: "card-head" }, box,
      el("button", { type: "button", class: "plain title", onclick: () => tryTo(() => openLayout(layout.id)) }, el("small", {}, `#${layout.id}`), ` ${layout.name}`),
      layout.enabled ? "" : el("em", {}, t("is_disabled"))),
    el("div", { class: "board", "data-letters": layout.layout, onclick: () => tryTo(() => openLayout(layout.id)) }),
    el("div", { class: "weight", title: t("weight") }, el("span", { class: "bar" }, bar), el("b", {}, layout.in_mixture ? percent(share(layout.weight)) : "–")),
    scoreLine(layout),
    el("div", { class: "chips" }, el("span", { class: "chip origin" }, t(`origin_${layout.origin}`)), ...layout.tags.map((tag) => el("span", { class: "chip" }, tag))));
}

/** A score as a dot with its error on a line from 0 to 100 %. */
function scoreLine(row) {
  if (row.score === null) return el("div", { class: "score none" }, el("span", { class: "line" }), el("b", {}, "–"));
  const error = row.error ?? 0;
  const [low, high] = [Math.max(0, row.score - 2 * error), Math.min(1, row.score + 2 * error)];
  const [whisker, dot] = [el("i", { class: "whisker" }), el("i", { class: "dot" })];
  whisker.style.left = `${100 * low}%`;
  whisker.style.width = `${100 * (high - low)}%`;
  dot.style.left = `${100 * row.score}%`;
  return el("div", { class: "score", title: `${t("score")} ${percent(row.score)} ± ${percent(error)} · ${t("games_count", { games: row.games.toLocaleString() })}` },
    el("span", { class: "line" }, whisker, dot), el("b", {}, percent(row.score)));
}

function showChosen() {
  byId("bulk").hidden = chosen.size === 0;
  byId("bulk-count").textContent = t("chosen_count", { number: chosen.size });
}

// ---------------------------------------------------------------- one layout

async function openLayout(id) {
  const isSame = open?.id === id;
  open = await get(`${API}/layouts/${id}`);
  // What was typed meanwhile is not overwritten.
  const set = (field, value) => {
    if (isSame && byId(field).value !== given[field]) return;
    byId(field).value = value;
    given[field] = byId(field).value;
    if (field === "note") seenNote = value;
  };
  byId("detail").hidden = false;
  byId("room").classList.add("with-detail");
  byId("detail-title").textContent = `#${open.id} ${open.name}`;
  byId("detail-board").innerHTML = open.board;
  byId("letters").replaceChildren(el("b", {}, open.layout), el("a", { href: `/studio#${open.layout}` }, t("in_studio")));
  byId("enabled").checked = open.enabled;
  set("weight", open.weight);
  byId("share").textContent = open.in_mixture ? t("share_of", { share: percent(share(open.weight)) }) : t("not_in_mixture");
  set("name", open.name);
  set("note", open.notes);
  byId("detail-about").textContent = t("made", {
    created: open.created.slice(0, 10), origin: t(`origin_${open.origin}`), role: t(`role_${open.role}`) }) + (open.run ? ` · ${open.run}` : "");
  byId("tags").replaceChildren(...open.tags.map((tag) => el("span", { class: "chip" }, tag,
    el("button", { type: "button", class: "plain", "aria-label": t("remove_tag", { tag }), onclick: () => tryTo(() => change("untag", [open.id], tag)) }, "×"))));
  showEvidence();
  showTree();
  for (const each of byId("gallery").children) each.toggleAttribute("aria-current", Number(each.dataset.id) === open.id);
}

function closeDetail() {
  open = null;
  byId("detail").hidden = true;
  byId("room").classList.remove("with-detail");
  byId("gallery").querySelector("[aria-current]")?.removeAttribute("aria-current");
}

function showEvidence() {
  const rows = open.evidence.map((row) => el("div", { class: `evidence ${row.kind}` },
    el("span", {}, t("against", row), " ", el("small", {}, `${t(`kind_${row.kind}`)} · ${t("games_count", { games: row.games.toLocaleString() })}`)), scoreLine(row)));
  const payoffs = open.payoffs.map((row) => el("div", { class: "evidence" },
    el("span", {}, row.name || el("code", {}, row.opponent), " ", el("small", {}, `${row.judge} · ${t("games_count", row)}`)), scoreLine(row)));
  byId("evidence").replaceChildren(
    ...(rows.length ? rows : [el("p", { class: "soft" }, t("no_evidence"))]),
    ...(payoffs.length ? [el("details", {}, el("summary", {}, t("payoffs", { number: payoffs.length + open.more_payoffs })), ...payoffs,
      open.more_payoffs ? el("p", { class: "soft" }, t("more_rows", { number: open.more_payoffs })) : "")] : []));
}

function showTree() {
  const tree = open.openings;
  byId("opening-board").hidden = true;
  if (!tree.total) {
    byId("tree").replaceChildren(el("p", { class: "soft" }, t("no_openings")));
    return;
  }
  const parts = ["first", "second", "others"].filter((name) => tree[name].length).flatMap((name) =>
    [el("h4", {}, t(`tree_${name}`)), ...branches(tree[name])]);
  byId("tree").replaceChildren(el("p", { class: "soft small" }, t("tree_total", tree)), ...parts);
}

/** The rows of the tree: a position is named above its moves, once. */
function branches(rows) {
  const named = new Set();
  return rows.flatMap((row) => {
    const made = [];
    if (!named.has(row.key)) {
      const head = el("p", { class: "key" }, row.key === "start" ? t("start") : row.key);
      head.style.marginLeft = `${0.9 * (row.depth ?? 0)}rem`;
      made.push(head);
    }
    named.add(row.key);
    const bar = el("i", {});
    bar.style.width = `${100 * Math.min(1, row.weight)}%`;
    const line = el("button", { type: "button", class: row.enabled ? "plain move" : "plain move off", title: row.notes || null, onclick: () => showOpening(row, line) },
      el("b", {}, row.move), el("span", { class: "bar" }, bar),
      el("span", {}, percent(row.weight, 0)),
      el("small", { title: t("visits", row) }, `${row.score === null ? "" : percent(row.score)} ×${row.visits.toLocaleString()}`));
    line.style.marginLeft = `${0.9 * (row.depth ?? 0)}rem`;
    return [...made, line];
  });
}

async function showOpening(row, line) {
  const answer = await attempt(() => get(`${API}/layouts/${open.id}/opening?${new URLSearchParams({ key: row.key, move: row.move })}`));
  byId("tree").querySelector("[aria-current]")?.removeAttribute("aria-current");
  line.setAttribute("aria-current", "true");
  byId("opening-board").hidden = !answer;
  if (answer) byId("opening-board").innerHTML = answer.board;
}

// ---------------------------------------------------------------- what the user does

function askFor(title, label, type) {
  const dialog = byId("ask-dialog");
  const field = byId("ask-value");
  byId("ask-title").textContent = title;
  byId("ask-label").textContent = label;
  field.type = type;
  field.step = "any";
  field.min = type === "number" ? 0 : "";
  field.value = "";
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "ok" ? field.value : null), { once: true });
  });
}

async function bulk(action) {
  const ids = [...chosen];
  let value;
  if (action === "weight" || action === "tag") {
    const typed = await askFor(t("chosen_count", { number: ids.length }), t(action), action === "weight" ? "number" : "text");
    if (!typed) return;
    value = action === "weight" ? Number(typed) : typed;
  }
  await change(action, ids, value);
  chosen.clear();
  showGallery();
}

for (const button of document.querySelectorAll("[data-bulk]")) {
  button.addEventListener("click", () => tryTo(() => bulk(button.dataset.bulk)));
}
byId("bulk-none").addEventListener("click", () => {
  chosen.clear();
  showGallery();
});
byId("retry").addEventListener("click", loadAll);
byId("undo").addEventListener("click", () => tryTo(() => step("undo")));
byId("redo").addEventListener("click", () => tryTo(() => step("redo")));
byId("log-open").addEventListener("click", () => byId("log-dialog").showModal());
byId("before").addEventListener("click", () => turn(-1));
byId("after").addEventListener("click", () => turn(1));
byId("filter").addEventListener("submit", (event) => event.preventDefault());
byId("filter").addEventListener("change", () => turn(0));
byId("filter").elements.name.addEventListener("input", () => turn(0));
byId("detail-close").addEventListener("click", closeDetail);
byId("enabled").addEventListener("change", (event) =>
  edit(() => change(event.target.checked ? "enable" : "disable", [open.id])));
byId("weight").addEventListener("change", (event) =>
  edit(() => change("weight", [open.id], Number(event.target.value)), event.target));
byId("name").addEventListener("change", (event) =>
  edit(() => change("name", [open.id], event.target.value), event.target));
byId("note").addEventListener("change", (event) =>
  edit(() => change("note", [open.id], event.target.value, { before: seenNote }), event.target));
byId("tag-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const tag = byId("new-tag").value.trim();
  if (!tag) return;
  edit(async () => {
    await change("tag", [open.id], tag);
    byId("new-tag").value = "";
  });
});
document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, select, textarea") || document.querySelector("dialog[open]")) return;
  const name = (event.ctrlKey || event.metaKey) && { z: "undo", y: "redo" }[event.key.toLowerCase()];
  if (name) byId(name).click();
  else if (event.key === "Escape" && open) closeDetail();
});

// A tab that is closed does not leave its fields: what stands in them would be gone.
addEventListener("beforeunload", (event) => {
  const isUnsent = open && Object.keys(given).some((field) => byId(field).value !== given[field]);
  if (isUnsent) event.preventDefault();
});

/** A change from a field of a layout: if it is refused, the field shows again what the book holds. */
const edit = (action, field = null) => tryTo(async () => {
  const { id } = open;
  const typed = field?.value;
  if (field) given[field.id] = typed;
  try {
    await action();
  } catch (error) {
    if (error instanceof Refusal) await attempt(() => openLayout(id));
    // But a note may be long: it stays to be read, and to be sent again.
    if (field?.id === "note") field.value = typed;
    throw error;
  }
});

function turn(by) {
  page = by === 0 ? 0 : page + by;
  tryTo(loadPage);
}

const asked = new URLSearchParams(location.search).get("layout");
await loadAll();
if (asked && about) await tryTo(() => openLayout(Number(asked)));
