// The contest console: what the server says of a game is shown; what the operator does is sent.

import { Board } from "./board.js";
import { listBook } from "./book_choice.js";
import { attempt, byId, el, get, listen, notice, post, Refusal, t } from "./frame.js";

const API = "/api/console";
const EATEN = 0, EATS = 1, BOTH = 2, MOVES = 3;
const MARK = { [EATEN]: "eaten", [EATS]: "eats", [BOTH]: "both", [MOVES]: "moves_only" };
const REASONS = ["aborted", "time", "illegal-move", "no-moves", "flag", "steps", "crash", "no-answer", "unknown"];
const MOVE = /^[A-L][0-4][A-L][0-4]$/;

const asked = new URLSearchParams(location.search);
const key = asked.get("game");
// Whether our pieces are covered stands in the address: a page that is loaded again must not show them.
const cover = byId(key === null ? "cover-layout" : "cover");
cover.checked = asked.get("cover") === "1";
cover.addEventListener("change", () => history.replaceState(null, "", address(key)));

/** The page of a game, or of all games, with our pieces covered as they are here. */
function address(game) {
  const query = new URLSearchParams({ ...(game && { game }), ...(cover.checked && { cover: 1 }) });
  return `/console?${query}`;
}

if (key === null) openLobby();
else openTable();

// ---------------------------------------------------------------- the list of games, and a new one

function openLobby() {
  byId("lobby").hidden = false;
  const form = byId("new-game");
  const fields = form.elements;
  const preview = new Board(byId("layout-board"));
  const isFirst = () => fields.first.value === "yes";

  let question = 0; // answers to earlier ones, and those after typing has begun, come too late

  async function showLayout(text) {
    const mine = (question += 1);
    byId("layout-problem").textContent = "";
    try {
      const answer = await post(`${API}/layout`, { layout: text, first: isFirst() });
      if (mine !== question) return;
      fields.layout.value = answer.layout;
      preview.show(answer.board);
      byId("layout-problem").textContent = answer.notes.join(" ");
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (mine === question) byId("layout-problem").textContent = error.message;
    }
  }

  const showCover = () => {
    fields.layout.type = cover.checked ? "password" : "text";
    byId("layout-board").classList.toggle("covered", cover.checked);
    for (const link of byId("games").querySelectorAll("a")) link.href = address(link.dataset.key);
  };
  cover.addEventListener("change", showCover);
  showCover();
  byId("draw").addEventListener("click", () => showLayout(""));
  byId("from-book").addEventListener("change", (event) => {
    showLayout(event.target.value);
    event.target.value = "";
  });
  for (const kind of ["focus", "input"]) fields.layout.addEventListener(kind, () => { question += 1; });
  fields.layout.addEventListener("change", () => showLayout(fields.layout.value));
  fields.first.addEventListener("change", () => showLayout(fields.layout.value));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(async () => {
      const { key: opened } = await post(`${API}/games`, {
        own: fields.own.value,
        enemy: fields.enemy.value,
        event: fields.event.value,
        first: isFirst(),
        time: Number(fields.minutes.value) * 60,
        steps: Number(fields.steps.value),
        steps_loser: fields.steps_loser.value,
        movetime: Number(fields.movetime.value),
        turned: fields.turned.value === "yes",
        layout: fields.layout.value,
      });
      location.assign(address(opened));
    });
  });
  showLayout("");
  listBook(byId("from-book"));
  attempt(async () => {
    const games = await get(`${API}/games`);
    showGames(games);
    const last = games.find((game) => !game.error);
    if (last) fillIn(fields, last);
  });
}

/** What was agreed for the last game is mostly agreed for the next; what was typed already stays. */
function fillIn(fields, last) {
  const terms = {
    own: last.own, event: last.event, minutes: last.time / 60, steps: last.steps,
    steps_loser: last.steps_loser, movetime: last.movetime ?? "", turned: last.turned ? "yes" : "no",
  };
  for (const [name, value] of Object.entries(terms)) {
    const field = fields[name];
    const untouched = field.options ? field.options[0].value : field.defaultValue;
    if (field.value === untouched) field.value = value;
  }
}

function showGames(games) {
  byId("no-games").hidden = games.length > 0;
  byId("games").replaceChildren(...games.map((game) => {
    if (game.error) return el("li", {}, el("b", {}, game.key), el("span", { class: "problem" }, game.error));
    const names = `${game.own || t("unnamed_own")} – ${game.enemy || t("unnamed_enemy")}`;
    const state = game.is_over ? endText(game.end) : t("unfinished");
    const about = [game.date, game.event, t("plies_count", game), state].filter(Boolean).join(" · ");
    return el("li", {},
      el("i", { class: game.side }),
      el("span", {}, el("b", {}, names), el("small", {}, about)),
      el("a", { class: "button", "data-key": game.key, href: address(game.key) }, t(game.is_over ? "look" : "go_on")));
  }));
}

function endText(end) {
  if (end === null) return t("no_result").replace(/[（(].*/, "").trim();
  const who = { own: "we_won", enemy: "they_won", nobody: "draw" }[end.whose];
  return `${t(who)} · ${t(`reason_${end.reason.replace("-", "_")}`)}`;
}

// ---------------------------------------------------------------- one game

function openTable() {
  const board = new Board(byId("board"), choosePoint);
  const path = `${API}/games/${encodeURIComponent(key)}`;
  let state = null;
  let received = 0; // when the state came, by the clock of the page
  let chosen = null; // the first of two points
  let pending = null; // {question, result}: a contact about which something is still to be said
  let isOther = false; // whether the operator enters an own move instead of the engine's
  const covered = () => (cover.checked ? "?cover=1" : "");

  byId("record").href = `${path}/record`;
  byId("view").href = `/viewer?${new URLSearchParams({ kind: "folder", name: `${key}.junqi`, game: 1 })}`;
  byId("end-dialog").querySelector("[name=reason]").append(
    ...REASONS.map((reason) => el("option", { value: reason }, t(`reason_${reason.replace("-", "_")}`))));

  async function refresh() {
    const fresh = await attempt(() => get(path + covered()));
    if (fresh) take(fresh);
    return Boolean(fresh);
  }

  function take(fresh) {
    if (state && fresh.serial < state.serial) return; // overtaken on its way
    if (state && fresh.version !== state.version) {
      // Clocks that start or stop do not take the first of two clicks back.
      if (isOther || fresh.board !== state.board) chosen = null;
      pending = null;
      isOther = false;
    }
    state = fresh;
    received = performance.now();
    if (state.question && !pending && !isOther) pending = { question: state.question };
    show();
  }

  let queue = Promise.resolve();
  let failures = 0;

  /** Do something on the server, after what was begun before; what is posted may be a function of
   * the state that this left. If that failed, nothing more is done: it was meant for another state. */
  function act(name, body = () => ({})) {
    const seen = failures;
    const result = queue.then(() => (seen === failures ? send(name, body()) : null));
    queue = result.catch(() => {});
    return result;
  }

  /** An old tab is told so, and shows how the game stands. */
  async function send(name, body) {
    try {
      const answer = await post(`${path}/${name}${covered()}`, body);
      take(answer.state);
      return answer;
    } catch (error) {
      failures += 1;
      if (!(error instanceof Refusal)) throw error;
      if (error.answer.state) take(error.answer.state);
      notice(error.message);
      return null;
    }
  }

  async function enter(move, more = {}) {
    chosen = null;
    const answer = await act("move", () => ({ version: state.version, move, ...more }));
    // The opponent's contact is in the state too, and may have been answered already.
    if (answer?.asked && !pending) {
      pending = { question: answer.asked };
      show();
    }
  }

  // ------------------------------------------------------------ entering a move

  const canEnter = () => state && !state.is_over && !pending && (!state.is_own_turn || isOther);

  function choosePoint(point) {
    if (!canEnter()) return;
    const targets = state.moves[chosen] ?? [];
    if (point === chosen) chosen = null;
    else if (state.moves[point] && !targets.includes(point)) chosen = point;
    // What cannot be is sent too: the server knows why, and says so.
    else if (chosen === null) enter(point + neighbour(point));
    else enter(chosen + point);
    showMarks();
  }

  byId("entry").addEventListener("submit", (event) => {
    event.preventDefault();
    const field = byId("entry-text");
    const typed = field.value.toUpperCase().replace(/[^A-Z0-9]/g, "");
    if (!MOVE.test(typed)) {
      notice(t("no_such_move", { move: field.value }));
      return;
    }
    field.value = "";
    enter(state.turned && !state.is_own_turn ? turned(typed) : typed);
  });

  document.addEventListener("keydown", (event) => {
    if (event.target.matches("input, select, textarea") || document.querySelector("dialog[open]")) return;
    if (event.ctrlKey || event.metaKey) {
      const button = { z: "undo", y: "redo" }[event.key.toLowerCase()];
      if (button) byId(button).click();
      return;
    }
    const answer = byId("answers").querySelector(`[data-key="${CSS.escape(event.key.toUpperCase())}"]`);
    if (answer) {
      // A key that is held down answers once, and not the next question too.
      if (!event.repeat) answer.click();
      event.preventDefault();
    } else if (canEnter() && /^[a-lA-L]$/.test(event.key) && !event.altKey) {
      byId("entry-text").focus();
    }
  });

  // ------------------------------------------------------------ showing

  /** What the page waits for. */
  function phase() {
    if (state.is_over) return "over";
    if (pending) return pending.result === undefined ? "result" : "flag";
    if (state.is_thinking) return "thinking";
    return canEnter() ? "move" : "start";
  }

  function show() {
    byId("table").hidden = false; // not before there is something to act on
    Object.assign(byId("table").dataset, { phase: phase(), version: state.version });
    document.title = `${state.own || t("unnamed_own")} – ${state.enemy || t("unnamed_enemy")}`;
    board.show(state.board);
    showMarks();
    showStage();
    showAnswers();
    showControls();
    showPlies();
    showNames();
    showClocks();
  }

  function showMarks() {
    board.clear();
    if (pending) board.arrow(pending.question.move.slice(0, 2), pending.question.move.slice(2), "announced");
    else if (state.announced && !isOther) board.arrow(state.announced.slice(0, 2), state.announced.slice(2), "announced");
    if (chosen === null) return;
    board.mark(chosen, "chosen");
    for (const target of state.moves[chosen] ?? []) board.mark(target, "target");
  }

  function showStage() {
    const last = state.plies.at(-1);
    let head = "", move = "", kind = "", under = "";
    if (state.is_over) {
      head = `${t("over")} · ${t("saved")}`;
      move = endText(state.end);
      kind = "end";
    } else if (pending) {
      const isOurs = state.is_own_turn;
      head = t(isOurs ? "our_move" : "their_move");
      move = pending.question.move;
      kind = isOurs ? "own" : "enemy";
      under = t(pending.result !== undefined ? "flag_told"
        : isOurs && state.announced === move ? "say_and_ask" : isOurs ? "result_of_ours" : "result_of_theirs");
      if (isOurs && pending.result === undefined) head += ` · ${t("as_they_see", { move: turned(move) })}`;
    } else if (state.is_thinking) {
      head = t("thinking");
      [move, kind] = last ? [last.move, "enemy dim"] : ["", "dim"];
      under = last ? plyText(last) : "";
    } else if (state.is_own_turn) {
      head = t(state.plies.length ? "paused" : "press_start");
      [move, kind] = last ? [last.move, "enemy dim"] : ["", "dim"];
      under = last ? plyText(last) : "";
    } else {
      head = last ? t("our_move") : t("wait_enemy");
      [move, kind] = last ? [last.move, "own"] : ["", "dim"];
      under = last ? t(MARK[last.result]) : "";
      if (last) head += ` · ${t("as_they_see", { move: turned(last.move) })}`;
      if (!state.is_running) head += ` · ${t(state.plies.length ? "paused" : "press_start")}`;
    }
    if (state.was_interrupted) under = t("interrupted");
    if (state.trouble) under = state.trouble;
    byId("headline").textContent = head;
    byId("move").className = kind;
    byId("move").replaceChildren(...(MOVE.test(move)
      ? [el("span", {}, move.slice(0, 2)), el("span", {}, move.slice(2))] : [move]));
    byId("under").textContent = under;
    byId("under").className = state.trouble || state.was_interrupted ? "problem" : "";
    byId("tell").hidden = state.is_over || !last?.shows_own_flag;
    byId("tell").textContent = t("tell_own_flag", { place: state.own_flag, theirs: turned(state.own_flag ?? "") });
    byId("stage").classList.toggle("thinking", state.is_thinking);
    byId("entry").hidden = !canEnter();
    byId("entry-label").textContent = t(
      state.is_own_turn ? "enter_ours" : state.turned ? "enter_theirs_turned" : "enter_theirs");
  }

  function plyText(ply) {
    return `${t(ply.own ? "our_move" : "their_move")} · ${t(ply.taken ? "takes_flag" : MARK[ply.result])}`;
  }

  /** The buttons that answer what is to be asked about a contact. */
  function showAnswers() {
    const box = byId("answers");
    box.replaceChildren();
    if (!pending) return;
    // What is typed next is an answer, not a part of the move.
    if (document.activeElement === byId("entry-text")) byId("entry-text").blur();
    const { question, result } = pending;
    const send = (more) => enter(question.move, more);
    const button = (hot, label, small, act, dim = false) => {
      const attributes = { type: "button", class: dim ? "answer dim" : "answer", "data-key": hot, onclick: act };
      box.append(el("button", attributes, el("kbd", {}, hot), el("b", {}, label), el("small", {}, small)));
    };
    if (result !== undefined) {
      button("0", t("flag_not_told"), "", () => send({ result, flag: "" }));
      for (const place of question.flag_places) {
        button(place[1], t("flag_at", { place }), "", () => send({ result, flag: place }));
      }
      button("B", t("back"), "", () => { pending = { question }; show(); }, true);
      return;
    }
    const isOurs = state.is_own_turn;
    const gone = { [EATS]: isOurs ? "theirs_gone" : "ours_gone", [EATEN]: isOurs ? "ours_gone" : "theirs_gone", [BOTH]: "both_gone" };
    for (const code of [EATS, EATEN, BOTH]) {
      if (question.sure_results.includes(code)) continue; // the flag is known to stand there
      const isExpected = question.expected.includes(code);
      const small = t(isExpected ? gone[code] : "unexpected");
      button(String(code), t(MARK[code]), small, () => {
        if (question.flag_results.includes(code)) {
          pending = { question, result: code };
          show();
        } else {
          send({ result: code, flag: "" });
        }
      }, !isExpected);
    }
    for (const code of question.taken_results.slice(0, 1)) {
      button("F", t("takes_flag"), t("flag_gone"), () => send({ result: code, flag: "", taken: true }));
    }
    if (!isOurs) button("B", t("back"), "", retract, true);
  }

  function showControls() {
    const run = byId("run");
    run.textContent = t(state.is_running ? "pause" : state.plies.length || state.version ? "resume" : "start");
    run.classList.toggle("main", !state.is_running);
    run.hidden = state.is_over;
    byId("now").hidden = !state.is_thinking;
    byId("undo").disabled = state.plies.length === 0 && !isTheirsAsked();
    byId("redo").disabled = state.undone === 0;
    byId("other").hidden = state.is_over || !state.is_own_turn || cover.checked;
    byId("other").textContent = t(isOther ? "other_stop" : "other_move");
    byId("end-game").hidden = state.is_over;
    byId("set-clocks").hidden = state.is_over;
    byId("view").hidden = !state.is_over;
  }

  function showPlies() {
    const facts = state.is_loading && !state.is_over ? [t("engine_loading")] : [];
    facts.push(t("quiet", state));
    if (state.enemy_flag) facts.push(t("enemy_flag_known", { place: state.enemy_flag }));
    if (state.own_flag) facts.push(t("own_flag_told", { place: state.own_flag }));
    byId("facts").textContent = facts.join("\n");
    byId("facts").className = state.is_loading || state.steps - state.quiet <= 6 ? "urgent" : "soft";
    const list = byId("plies");
    list.replaceChildren(...state.plies.map((ply, index) => el("li", { class: ply.own ? "own" : "enemy" },
      el("button", { type: "button", class: "plain", onclick: () => goBack(index + 1) },
        `${ply.move}${{ [EATEN]: "−", [EATS]: "+", [BOTH]: "=", [MOVES]: "" }[ply.result]}${ply.flag ? `@${ply.flag}` : ""}`))));
    list.scrollTop = list.scrollHeight;
  }

  function showNames() {
    for (const whose of ["own", "enemy"]) {
      const box = byId(`clock-${whose}`);
      const side = (whose === "own") === (state.side === "red") ? "red" : "black";
      box.querySelector("i").className = side;
      box.querySelector("b").textContent = state[whose] || t(`unnamed_${whose}`);
    }
  }

  function showClocks() {
    if (!state) return;
    const since = (performance.now() - received) / 1000;
    for (const whose of ["own", "enemy"]) {
      const isRunning = state.clocks.running === whose;
      const left = state.clocks.time - state.clocks[whose] - (isRunning ? since : 0);
      const box = byId(`clock-${whose}`);
      box.classList.toggle("running", isRunning);
      box.classList.toggle("short", left < 60);
      const time = box.querySelector(".time");
      const text = clockText(left);
      if (time.textContent !== text) time.textContent = text;
    }
  }

  // ------------------------------------------------------------ controls

  /** Whether the last thing that was entered is a move of the opponent that awaits its result. */
  const isTheirsAsked = () => Boolean(state.announced) && !state.is_own_turn;
  const retract = () => act("retract", () => ({ version: state.version }));

  byId("run").addEventListener("click", () => act(state.is_running ? "pause" : "resume"));
  byId("now").addEventListener("click", () => act("now"));
  byId("undo").addEventListener("click", () => {
    if (isTheirsAsked()) retract();
    else act("undo", () => ({ version: state.version, plies: 1 }));
  });
  byId("redo").addEventListener("click", () => act("redo", () => ({ version: state.version, plies: 1 })));
  cover.addEventListener("change", refresh);
  byId("other").addEventListener("click", async () => {
    // The engine must not move while the operator looks for the points.
    if (!isOther && state.is_thinking) await act("pause");
    isOther = !isOther && state.is_own_turn;
    chosen = null;
    pending = !isOther && state.question ? { question: state.question } : null;
    show();
  });

  async function goBack(ply) {
    const plies = state.plies.length - ply;
    if (plies === 0) return;
    byId("back-text").textContent = t("back_to", { ply, plies });
    const version = state.version;
    if (await answered(byId("back-dialog"))) act("undo", () => ({ version, plies }));
  }

  byId("set-clocks").addEventListener("click", async () => {
    const dialog = byId("clock-dialog");
    const fields = dialog.querySelector("form").elements;
    const { time } = state.clocks;
    fields.own.value = clockText(time - state.clocks.own).split(".")[0];
    fields.enemy.value = clockText(time - state.clocks.enemy).split(".")[0];
    const version = state.version;
    if (await answered(dialog)) {
      const used = (field) => Math.max(0, time - seconds(field.value));
      act("clock", () => ({ version, own: used(fields.own), enemy: used(fields.enemy) }));
    }
  });

  byId("end-game").addEventListener("click", async () => {
    const dialog = byId("end-dialog");
    const fields = dialog.querySelector("form").elements;
    const version = state.version;
    if (await answered(dialog)) {
      act("end", () => ({ version, winner: fields.winner.value, reason: fields.reason.value }));
    }
  });

  listen(`${path}/feed`, (news) => {
    if (state === null || news.serial > state.serial) refresh();
  }, (isBroken) => {
    byId("broken").hidden = !isBroken;
  });
  setInterval(showClocks, 200);
  // A game that is not there, or is broken: the reason is told, with the list of the others.
  refresh().then((isThere) => { if (!isThere && state === null) openLobby(); });
}

// ---------------------------------------------------------------- small things

/** Open a dialog; whether it was closed by its main button. */
function answered(dialog) {
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "ok"), { once: true });
  });
}

/** Points one after the other, as they are called on the opponent's board. */
function turned(points) {
  const rows = "ABCDEFGHIJKL";
  return points.replace(/(\w)(\d)/g, (_, row, column) => rows[11 - rows.indexOf(row)] + (4 - Number(column)));
}

function neighbour(point) {
  const rows = "ABCDEFGHIJKL";
  const row = rows.indexOf(point[0]);
  return rows[row < 11 ? row + 1 : row - 1] + point[1];
}

function seconds(text) {
  const [minutes, rest = "0"] = text.split(":");
  return Number(minutes) * 60 + Number(rest);
}

function clockText(left) {
  const whole = Math.floor(Math.abs(left));
  const text = `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
  if (left <= 0) return whole === 0 ? "0:00" : `−${text}`;
  return left < 20 ? `${text}.${Math.floor((left % 1) * 10)}` : text;
}
