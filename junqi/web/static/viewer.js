// The viewer: the server keeps the records; this page shows what it is told for one seat.

import { Board } from "./board.js";
import { attempt, byId, el, get, listen, post, Refusal, t, upload } from "./frame.js";

const API = "/api/viewer/files";
const SVG = "http://www.w3.org/2000/svg";
const RESULTS = ["eaten", "eats", "both", "moves_only"];
const MARKS = ["-", "+", "=", ""];
const SHOWN_ARROWS = 3;
// Of the graph: its height, and the room for its labels.
const HIGH = 150, LEFT = 38, TOP = 8, BOTTOM = 18, RIGHT = 8;

const asked = new URLSearchParams(location.search);
if (!asked.get("kind")) openLobby();
else if (!asked.get("game")) openList();
else openGame();

function address(file, more = {}) {
  return `/viewer?${new URLSearchParams({ kind: file.kind, name: file.name, ...more })}`;
}

function path(file) {
  return `${API}/${encodeURIComponent(file.kind)}/${encodeURIComponent(file.name)}`;
}

function broken(error) {
  if (!(error instanceof Refusal)) throw error;
  byId("broken").hidden = false;
  byId("broken").replaceChildren(error.message, " ", el("a", { href: "/viewer", class: "button" }, t("other_record")));
}

// ---------------------------------------------------------------- choosing a record

function openLobby() {
  byId("lobby").hidden = false;
  const drop = byId("drop");
  const take = async (file) => {
    if (!file) return;
    byId("upload-problem").textContent = "";
    try {
      location.assign(address(await upload(API, file)));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      byId("upload-problem").textContent = `${file.name}: ${error.message}`;
      byId("file").value = "";
    }
  };
  byId("file").addEventListener("change", (event) => take(event.target.files[0]));
  // A file that misses the place would be opened by the browser instead of the page.
  for (const name of ["dragover", "drop"]) addEventListener(name, (event) => event.preventDefault());
  addEventListener("dragover", () => drop.classList.add("over"));
  addEventListener("dragleave", () => drop.classList.remove("over"));
  addEventListener("drop", (event) => {
    drop.classList.remove("over");
    take(event.dataTransfer.files[0]);
  });
  attempt(async () => {
    const files = await get(API);
    byId("no-files").hidden = files.length > 0;
    byId("files").replaceChildren(...files.map((file) => el("li", {}, el("a", { href: address(file) },
      el("b", {}, file.title),
      el("small", {}, file.kind === "opened" ? t("opened_file") : file.name)))));
  });
  let next = 0;
  const addPage = async () => {
    try {
      const page = await get(`/api/viewer/book?offset=${next}`);
      byId("book-name").textContent = page.book;
      byId("no-book-games").hidden = next > 0 || page.games.length > 0;
      byId("book-games").append(...page.games.map((game) => el("li", {},
        el("a", { href: address(game, game.side ? { game: 1, seat: game.side } : { game: 1 }) },
          el("b", {}, `${game.opponent || t("unnamed")} · ${game.result}`),
          el("small", {}, [game.played, t("plies_count", game), game.source].filter(Boolean).join(" · "))))));
      next = page.next;
      byId("more").hidden = next === null;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      byId("book-problem").hidden = false;
      byId("book-problem").textContent = error.message;
    }
  };
  byId("more").addEventListener("click", addPage);
  addPage();
}

async function openList() {
  const file = { kind: asked.get("kind"), name: asked.get("name") };
  try {
    const games = await get(path(file));
    if (games.length === 1) {
      location.replace(address(file, { game: 1 }));
      return;
    }
    byId("game-list").hidden = false;
    byId("file-games").replaceChildren(...games.map((game) => {
      if (game.fault) return el("li", {}, el("b", {}, t("game_number", game)), el("small", { class: "problem" }, game.fault));
      const about = [game.date, game.event, t("plies_count", game)].filter(Boolean).join(" · ");
      return el("li", {}, el("a", { href: address(file, { game: game.number }) },
        el("b", {}, `${game.number}. ${game.red || t("red")} – ${game.black || t("black")} · ${game.result}`),
        el("small", {}, about)));
    }));
  } catch (error) {
    broken(error);
  }
}

// ---------------------------------------------------------------- one game

async function openGame() {
  const file = { kind: asked.get("kind"), name: asked.get("name") };
  const base = `${path(file)}/${encodeURIComponent(asked.get("game"))}`;
  const board = new Board(byId("board"), choosePiece);
  // The keys that walk over other boards step through the game here.
  for (const name of ["tabindex", "role", "aria-label"]) byId("board").removeAttribute(name);
  let game = null;
  let ply = 0;
  let boards = new Map(); // ply -> what the server drew for this seat
  let timer = null; // of the autoplay
  let belief = null;
  let piece = null; // the point of a hidden piece that was clicked
  let kind = 0; // whose heat map is shown
  let curves = {}; // side -> what the engine estimated
  const ends = new Map(); // side -> what ends the stream that is listened to
  let thought = null;
  const sideName = (side) => t(side);
  /** Whether the seat is to move; red moves first, and the sides take turns. */
  const isTurn = () => game.seat === "all" || game.seat === (ply % 2 === 0 ? "red" : "black");
  let wide = 640; // of the graph, in pixels of the page
  const xOf = (at) => LEFT + ((wide - LEFT - RIGHT) * at) / Math.max(1, game.plies.length);
  const isGoing = (curve) => ["waiting", "running"].includes(curve.state);
  const yOf = (chance) => TOP + (HIGH - TOP - BOTTOM) * (1 - chance);

  try {
    await take(asked.get("seat"));
  } catch (error) {
    broken(error);
    return;
  }
  byId("show").hidden = false;
  bind();
  showCurve();
  await go(Number(asked.get("ply")) || 0);

  /** Look from a seat. Nothing of what another seat saw is kept. */
  async function take(seat) {
    const fresh = await get(base + (seat ? `?seat=${seat}` : ""));
    for (const end of ends.values()) end();
    ends.clear();
    [game, boards, belief, piece, thought, curves] = [fresh, new Map(), null, null, null, {}];
    showTitle();
    showPlies();
    const sides = game.seat === "all" ? game.seats.filter((name) => name !== "all") : [game.seat];
    for (const side of sides) follow(side);
    byId("whose").hidden = sides.length < 2;
    byId("believer").value = sides[0] ?? "red";
    byId("evaluate").disabled = sides.length === 0;
    byId("tab-belief").disabled = sides.length === 0;
    showCurve();
  }

  async function go(wanted) {
    ply = Math.min(Math.max(wanted, 0), game.plies.length);
    byId("slider").value = ply;
    history.replaceState(null, "", address(file, { game: asked.get("game"), seat: game.seat, ply }));
    const [seat, now] = [game.seat, ply];
    const drawn = await attempt(() => boardAt(now));
    if (!drawn || seat !== game.seat || now !== ply) return;
    board.show(drawn.board);
    showSaid(drawn);
    markPly();
    showCursor();
    if (thought?.ply !== ply) thought = null;
    showCandidates();
    await showBelief();
    for (const near of [ply + 1, ply - 1]) {
      if (near >= 0 && near <= game.plies.length) boardAt(near).catch(() => boards.delete(near));
    }
  }

  function boardAt(wanted) {
    if (!boards.has(wanted)) boards.set(wanted, get(`${base}/board?seat=${game.seat}&ply=${wanted}`));
    return boards.get(wanted);
  }

  // ------------------------------------------------------------ controls

  function bind() {
    const steps = { first: () => go(0), previous: () => go(ply - 1), next: () => go(ply + 1), last: () => go(game.plies.length) };
    for (const [id, act] of Object.entries(steps)) {
      byId(id).addEventListener("click", () => {
        pause();
        act();
      });
    }
    byId("play").addEventListener("click", () => (timer ? pause() : play()));
    byId("speed").addEventListener("change", () => timer && play());
    byId("slider").addEventListener("input", (event) => {
      pause();
      go(Number(event.target.value));
    });
    const keys = { ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "last", " ": "play" };
    document.addEventListener("keydown", (event) => {
      const isField = event.target.matches("select, textarea, input:not([type=checkbox])");
      const isPressed = event.key === " " && event.target.matches("button, a, input");
      if (isField || isPressed || event.altKey || event.ctrlKey || event.metaKey || !(event.key in keys)) return;
      byId(keys[event.key]).click();
      event.preventDefault();
      event.stopPropagation();
    }, true); // before the board, whose own keys these are elsewhere
    addEventListener("resize", showCurve);
    byId("evaluate").addEventListener("click", evaluate);
    byId("heat").addEventListener("change", showBelief);
    byId("believer").addEventListener("change", () => {
      piece = null;
      showBelief();
    });
    byId("think").addEventListener("click", think);
    for (const name of ["belief", "candidates"]) byId(`tab-${name}`).addEventListener("click", () => openTab(name));
    openTab("belief");
    attempt(async () => {
      if ((await get(path(file))).length < 2) return;
      byId("back").textContent = t("all_games_of_file");
      byId("back").href = address(file);
    });
  }

  function play() {
    clearInterval(timer);
    if (ply === game.plies.length) go(0);
    timer = setInterval(() => (ply < game.plies.length ? go(ply + 1) : pause()), Number(byId("speed").value));
    byId("play").textContent = "⏸";
    byId("play").setAttribute("aria-label", t("pause"));
  }

  function pause() {
    clearInterval(timer);
    timer = null;
    byId("play").textContent = "▶";
    byId("play").setAttribute("aria-label", t("play"));
  }

  function openTab(name) {
    for (const tab of ["belief", "candidates"]) {
      byId(tab).hidden = tab !== name;
      byId(`tab-${tab}`).setAttribute("aria-selected", tab === name);
    }
    showMarks();
    showBelief();
  }

  // ------------------------------------------------------------ showing

  function showTitle() {
    byId("red-name").textContent = game.red || t("red");
    byId("black-name").textContent = game.black || t("black");
    document.title = `${game.red || t("red")} – ${game.black || t("black")}`;
    byId("result").textContent = game.result;
    const end = { red: "red_won", black: "black_won", nobody: "drawn" }[game.winner] ?? "no_end";
    const reason = game.reason && t(`reason_${game.reason.replace("-", "_")}`);
    byId("about").textContent = [t(end) + (reason ? ` (${reason})` : ""), game.event, game.date].filter(Boolean).join(" · ");
    byId("seats").replaceChildren(...["red", "black", "all"].map((seat) => el("button", {
      type: "button", "data-seat": seat, "aria-pressed": String(seat === game.seat), disabled: !game.seats.includes(seat),
      onclick: () => attempt(async () => {
        await take(seat);
        await go(ply);
      }),
    }, t(`seat_${seat}`))));
    byId("slider").max = game.plies.length;
  }

  function showPlies() {
    const rows = [];
    game.plies.forEach((each, index) => {
      const button = el("button", {
        type: "button", class: `plain ${each.side}`, "data-ply": index + 1, title: [...each.flags.map((point) => t("flag_told", { point })), each.comment].filter(Boolean).join(" · ") || null,
        onclick: () => {
          pause();
          go(index + 1);
        },
      }, `${each.move}${MARKS[each.result]}${each.flags.length ? "⚑" : ""}${each.comment ? "✎" : ""}`);
      if (index % 2 === 0) rows.push(el("li", {}, button));
      else rows.at(-1).append(button);
    });
    byId("plies").replaceChildren(...rows);
  }

  function markPly() {
    byId("plies").querySelector("[aria-current]")?.removeAttribute("aria-current");
    const now = byId("plies").querySelector(`[data-ply="${ply}"]`);
    now?.setAttribute("aria-current", "true");
    const box = byId("plies").parentElement;
    if (!now) box.scrollTop = 0;
    else if (box.scrollHeight > box.clientHeight) box.scrollTop = now.offsetTop - box.clientHeight / 2;
  }

  function showSaid(drawn) {
    const last = game.plies[ply - 1];
    const parts = [t("ply_of", { ply, plies: game.plies.length })];
    if (last) {
      parts.push(`${sideName(last.side)} ${last.move} ${t(RESULTS[last.result])}`);
      parts.push(...last.flags.map((point) => t("flag_told", { point })));
      if (last.seconds !== null) parts.push(`${last.seconds} s`);
    }
    parts.push(t("quiet_of", { quiet: drawn.quiet, steps: game.steps }), t("lost_counts", drawn.lost));
    if (last?.comment) parts.push(last.comment);
    byId("said").textContent = parts.join(" · ");
  }

  /** Marks on the board: a heat map or the candidates, whichever is open. */
  function showMarks() {
    if (!board.marks) return;
    board.clear();
    if (!byId("belief").hidden) showHeat();
    else if (thought) thought.candidates.slice(0, SHOWN_ARROWS).forEach((each, index) =>
      board.arrow(each.move.slice(0, 2), each.move.slice(2), `rank-${index + 1}`));
  }

  // ------------------------------------------------------------ beliefs

  async function showBelief() {
    const [seat, now, side] = [game.seat, ply, byId("believer").value];
    if (byId("tab-belief").disabled || byId("belief").hidden) return;
    const fresh = await attempt(() => get(`${base}/belief?seat=${seat}&side=${seat === "all" ? side : seat}&ply=${now}`));
    if (!fresh || seat !== game.seat || now !== ply) return;
    belief = fresh;
    if (!belief.pieces.some((each) => each.point === piece)) piece = null;
    byId("kinds").replaceChildren(...belief.kinds.map((each, index) => {
      const expected = belief.pieces.reduce((sum, one) => sum + one.chances[index], 0);
      return el("button", {
        type: "button", "aria-pressed": String(index === kind && byId("heat").checked),
        title: t("expected_left", { number: expected.toFixed(1) }),
        onclick: () => {
          byId("heat").checked = !(kind === index && byId("heat").checked);
          kind = index;
          showBelief();
        },
      }, each.name, el("small", {}, expected.toFixed(1).replace(/\.0$/, "")));
    }));
    showPiece();
    showMarks();
  }

  function showHeat() {
    if (!belief) return;
    if (byId("heat").checked) {
      for (const each of belief.pieces) heatTile(each.point, each.chances[kind]);
    }
    if (piece) board.mark(piece, "chosen");
  }

  function heatTile(point, chance) {
    const [x, y] = board.centres.get(point);
    const tile = document.createElementNS(SVG, "rect");
    for (const [name, value] of Object.entries({ x: x - 36, y: y - 24, width: 72, height: 48, rx: 8 })) tile.setAttribute(name, value);
    tile.setAttribute("class", "heat");
    tile.style.fillOpacity = Math.min(1, 0.08 + 0.92 * Math.sqrt(chance));
    board.marks.append(tile);
    if (chance < 0.005) return;
    const text = document.createElementNS(SVG, "text");
    text.setAttribute("x", x);
    text.setAttribute("y", y);
    text.setAttribute("dy", ".36em");
    text.setAttribute("class", chance > 0.2 ? "heat-text strong" : "heat-text");
    text.textContent = `${Math.round(100 * chance)}%`;
    board.marks.append(text);
  }

  function choosePiece(point) {
    if (byId("belief").hidden || !belief) return;
    piece = piece !== point && belief.pieces.some((each) => each.point === point) ? point : null;
    showPiece();
    showMarks();
  }

  function showPiece() {
    const box = byId("piece-kinds");
    const found = belief.pieces.find((each) => each.point === piece);
    if (!found) {
      box.replaceChildren(el("p", { class: "soft small" }, t("belief_hint")));
      return;
    }
    const bars = belief.kinds.map((each, index) => [each.name, found.chances[index]]).filter(([, chance]) => chance > 0.0005);
    bars.sort((a, b) => b[1] - a[1]);
    box.replaceChildren(el("p", {}, t("piece_at", found)), el("div", { class: "bars" }, ...bars.flatMap(([name, chance]) => {
      const bar = el("i", {});
      bar.style.width = `${100 * chance}%`;
      return [el("span", {}, name), el("span", { class: "bar" }, bar), el("span", { class: "number" }, percent(chance))];
    })));
  }

  // ------------------------------------------------------------ candidates

  function showCandidates() {
    const isOwn = isTurn();
    byId("think").disabled = !isOwn;
    byId("think-state").textContent = isOwn ? "" : t("not_own_turn", { side: sideName(game.seat) });
    byId("candidate-table").hidden = !thought;
    byId("candidate-note").textContent = thought
      ? t("candidate_note", { side: sideName(thought.side), worlds: game.worlds[1] }) : "";
    if (thought) {
      byId("candidate-table").tBodies[0].replaceChildren(...thought.candidates.map((each) => el("tr", { class: each.is_played ? "played" : null },
        el("td", { class: each.rank <= SHOWN_ARROWS ? `rank rank-${each.rank}` : "rank" }, String(each.rank)),
        el("td", {}, el("b", {}, each.move)),
        el("td", {}, each.piece),
        el("td", { class: "number" }, `${percent(each.win)} ±${(100 * each.error).toFixed(1)}`),
        el("td", {}, each.is_played ? t("was_played") : ""))));
    }
    showMarks();
  }

  async function think() {
    const [seat, now] = [game.seat, ply];
    byId("think").disabled = true;
    byId("think-state").textContent = t("thinking");
    const found = await attempt(() => post(`${base}/candidates`, { seat, ply: now }));
    if (seat === game.seat && now === ply) thought = found ?? null;
    showCandidates();
  }

  // ------------------------------------------------------------ the curve

  /** Hear of a curve as long as it is worked out; a browser has only a few streams for all its tabs. */
  function follow(side) {
    ends.get(side)?.();
    ends.set(side, listen(`${base}/estimate?seat=${game.seat}&side=${side}`, (curve) => {
      curves[side] = curve;
      if (!isGoing(curve)) ends.get(side)();
      showCurve();
    }));
  }

  async function evaluate() {
    const go = !Object.values(curves).some(isGoing);
    for (const side of Object.keys(curves)) {
      if (await attempt(() => post(`${base}/estimate`, { seat: game.seat, side, go }))) follow(side);
    }
  }

  function showCurve() {
    const sides = Object.keys(curves).sort().reverse();
    const each = Object.values(curves);
    const isBusy = each.some(isGoing);
    const sum = (of) => each.reduce((total, curve) => total + of(curve), 0);
    const done = sum((curve) => curve.values.length);
    const failed = each.find((curve) => curve.state === "failed");
    byId("evaluate").textContent = t(isBusy ? "stop" : "evaluate");
    byId("evaluate").hidden = each.length > 0 && each.every((curve) => curve.state === "done");
    byId("curve-state").textContent = failed ? t("curve_failed", failed)
      : isBusy ? (done ? t("curve_running", { done, total: sum((curve) => curve.total) }) : t("curve_waiting")) : "";
    byId("curve-note").textContent = game.seat === "all" ? t("curve_all", { worlds: game.worlds[0] })
      : t("curve_own", { side: sideName(game.seat), worlds: game.worlds[0] });
    drawGraph(sides);
  }

  function svg(tag, attributes, ...children) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  function drawGraph(sides) {
    wide = byId("graph").clientWidth || wide;
    const shapes = [];
    for (const chance of [0, 0.5, 1]) {
      shapes.push(svg("line", { x1: LEFT, x2: wide - RIGHT, y1: yOf(chance), y2: yOf(chance), class: chance === 0.5 ? "even" : "rule" }));
      shapes.push(svg("text", { x: LEFT - 5, y: yOf(chance), dy: ".35em", class: "axis end" }, `${100 * chance}%`));
    }
    const step = [5, 10, 20, 50, 100, 200, 500].find((size) => game.plies.length / size <= wide / 60) ?? 1000;
    for (let at = 0; at <= game.plies.length; at += step) {
      shapes.push(svg("text", { x: xOf(at), y: HIGH - 4, class: "axis" }, String(at)));
    }
    game.plies.forEach((each, index) => {
      if (each.result !== 3) shapes.push(svg("line", { x1: xOf(index + 1), x2: xOf(index + 1), y1: yOf(0), y2: yOf(0) - 4, class: "contact" }));
    });
    for (const side of sides) {
      const turned = game.seat === "all" && side === "black";
      const points = curves[side].values.map(([at, chance]) => [xOf(at), yOf(turned ? 1 - chance : chance)]);
      if (!points.length) continue;
      shapes.push(svg("polyline", { points: points.map((xy) => xy.map((n) => n.toFixed(1)).join(",")).join(" "), class: `line ${side}` }));
      if (points.length < 2) shapes.push(svg("circle", { cx: points[0][0], cy: points[0][1], r: 3, class: `dot ${side}` }));
    }
    shapes.push(svg("line", { id: "graph-cursor", y1: TOP, y2: yOf(0), class: "cursor" }));
    const picture = svg("svg", { viewBox: `0 0 ${wide} ${HIGH}`, role: "img", "aria-label": t("estimate") }, ...shapes);
    picture.addEventListener("click", (event) => {
      const spot = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
      pause();
      go(Math.round(((spot.x - LEFT) / (wide - LEFT - RIGHT)) * game.plies.length));
    });
    byId("graph").replaceChildren(picture);
    showCursor();
  }

  function showCursor() {
    const line = byId("graph-cursor");
    line?.setAttribute("x1", xOf(ply));
    line?.setAttribute("x2", xOf(ply));
  }

  function percent(chance) {
    return `${(100 * chance).toFixed(chance < 0.1 ? 1 : 0)}%`;
  }
}
