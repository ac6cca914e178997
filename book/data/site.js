// What the pages of `junqi book html` do by themselves: names on the pieces, order, filter.
// Without it they show everything, by weight, with English names.

const page = document.documentElement;

function remembered(key) {
  try { return localStorage.getItem(key); } catch { return null; } // not allowed for some files
}

function remember(key, value) {
  try { localStorage.setItem(key, value); } catch { /* then not */ }
}

const names = document.querySelector("#names");
if (names) {
  const asked = new URLSearchParams(location.search).get("names");
  const first = asked ?? remembered("junqi-names") ??
    (navigator.language.startsWith("zh") ? "zh" : "en");
  names.value = ["zh", "en", "letter"].includes(first) ? first : "en";
  const show = () => { page.dataset.names = names.value; };
  names.addEventListener("change", () => { show(); remember("junqi-names", names.value); });
  show();
}

const gallery = document.querySelector(".gallery");
const sort = document.querySelector("#sort");
const find = document.querySelector("#find");
const mixture = document.querySelector("#mixture");
if (gallery && sort && find && mixture) {
  const cards = [...gallery.children];
  const text = new Map(cards.map(card => [card, card.textContent.toLowerCase()]));
  const order = {
    weight: card => -card.dataset.weight,
    score: card => card.dataset.score === "" ? 2 : -card.dataset.score,
    number: card => Number(card.dataset.number),
    name: card => card.dataset.name || "\uffff",
  };
  const compare = (a, b) => typeof a === "string" ? a.localeCompare(b) : a - b;
  const update = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const key = order[sort.value];
    cards.sort((a, b) => compare(key(a), key(b)) || a.dataset.number - b.dataset.number);
    let shown = 0;
    for (const card of cards) {
      const is_wanted = words.every(word => text.get(card).includes(word)) &&
        (!mixture.checked || card.dataset.mixture === "1");
      card.hidden = !is_wanted;
      card.style.display = is_wanted ? "" : "none";
      shown += is_wanted;
      gallery.append(card);
    }
    document.querySelector("#shown").textContent = `${shown} of ${cards.length}`;
  };
  for (const control of [sort, find, mixture]) control.addEventListener("input", update);
  update();
}
