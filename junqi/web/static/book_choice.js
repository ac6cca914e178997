// The layouts of the book, to choose one from.

import { el, get, Refusal, t } from "./frame.js";

/** Fill a select, whose first option says what it is for; those of the mixture come first. If the
 * book cannot be read it is disabled, and says why. Returns the layouts. */
export async function listBook(select) {
  let rows = [];
  try {
    rows = (await get("/api/studio/book")).layouts;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    select.disabled = true;
    select.title = error.message;
  }
  const group = (label, part) => el("optgroup", { label }, ...part.map((row) => el("option", { value: row.letters }, line(row))));
  const groups = [
    [t("book_mixture"), rows.filter((row) => row.weight > 0)],
    [t("book_others"), rows.filter((row) => !(row.weight > 0))],
  ].filter(([, part]) => part.length);
  select.replaceChildren(select.options[0], ...groups.map(([label, part]) => group(label, part)));
  return rows;
}

function line(row) {
  const weight = row.weight > 0 ? ` · ${Number(row.weight.toFixed(4))}` : "";
  return `#${row.id} ${row.name || row.letters}${weight}`;
}
