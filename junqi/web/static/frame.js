// What every page shares: words, questions to the server, live updates, notices, small DOM helpers.

const data = JSON.parse(document.getElementById("frame-data").textContent);

/** "zh" or "en". */
export const language = data.language;

/** A text in the language of the page; {name} in it is replaced by values.name. */
export function t(key, values = {}) {
  const text = data.words[key];
  if (text === undefined) throw new Error(`no words for ${key}`);
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** An element by its id. */
export const byId = (id) => document.getElementById(id);

/** A new element: tag, attributes (on... are listeners), children or texts. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** An answer of the server that is an error: `status`, `message`, and all that came in `answer`. */
export class Refusal extends Error {
  constructor(status, answer) {
    super(answer.error ?? `HTTP ${status}`);
    this.status = status;
    this.answer = answer;
  }
}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Refusal(0, { error: t("no_server") });
  }
  let answer = {};
  try {
    answer = await response.json();
  } catch {
    // Whatever it is, it is no answer of ours.
  }
  if (!response.ok) throw new Refusal(response.status, answer);
  return answer;
}

/** GET JSON. Throws a Refusal. */
export const get = (path) => ask(path, {});

/** POST a JSON object. Throws a Refusal. */
export const post = (path, body = {}) =>
  ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

/** POST a file. Throws a Refusal. */
export const upload = (path, file) =>
  ask(path, { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: file });

/** Listen to a feed: handle(state) now and with every change; onBroken(true|false) as it breaks and
 * comes back. Returns a function that ends it. */
export function listen(path, handle, onBroken = () => {}) {
  let source = null;
  let timer = null;
  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = null;
  };
  const open = () => {
    source = new EventSource(path);
    source.onopen = () => onBroken(false);
    source.onmessage = (event) => handle(JSON.parse(event.data));
    source.onerror = () => {
      onBroken(true);
      // A browser tries again by itself unless the answer was an error.
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, 2000);
    };
  };
  // A browser has six connections to a server for all its tabs: if those that nobody looks at kept
  // theirs, the seventh tab would hang, and every click in the others too.
  const look = () => {
    if (document.hidden) close();
    else if (source === null) open();
  };
  document.addEventListener("visibilitychange", look);
  look();
  return () => {
    document.removeEventListener("visibilitychange", look);
    close();
  };
}

/** Show a line for some seconds: kind is "error" or "info". */
export function notice(text, kind = "error") {
  const box = byId("notices");
  const line = el("div", { class: `notice ${kind}` }, el("span", {}, text));
  line.append(el("button", { type: "button", "aria-label": t("close"), onclick: () => line.remove() }, "×"));
  box.replaceChildren(line);
  setTimeout(() => line.remove(), kind === "error" ? 12000 : 5000);
}

/** Run something asynchronous; a Refusal becomes a notice. Returns undefined then. */
export async function attempt(action) {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    notice(error.message);
    return undefined;
  }
}

function keep(name, value) {
  document.cookie = `${name}=${value}; path=/; max-age=31536000; samesite=strict`;
}

byId("language").addEventListener("change", (event) => {
  keep("junqi-language", event.target.value);
  location.reload();
});

byId("theme").addEventListener("change", (event) => {
  keep("junqi-theme", event.target.value);
  document.documentElement.dataset.theme = event.target.value;
});
