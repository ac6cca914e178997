// A board that the server has drawn, made to be clicked, walked over with the keyboard and marked.

import { t } from "./frame.js";

const SVG = "http://www.w3.org/2000/svg";
const ROWS = "ABCDEFGHIJKL";
const STEP = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

export class Board {
  /** A board within an element; onPoint(name) is told of each point that is chosen. */
  constructor(holder, onPoint = () => {}) {
    this.holder = holder;
    this.onPoint = onPoint;
    this.cursor = null;
    this.centres = new Map();
    this.marks = null;
    this.drawing = null;
    holder.tabIndex = 0;
    holder.setAttribute("role", "application");
    holder.setAttribute("aria-label", t("board_keys"));
    holder.addEventListener("click", (event) => this.#click(event));
    holder.addEventListener("keydown", (event) => this.#key(event));
    holder.addEventListener("blur", () => this.#showCursor(null));
  }

  /** Show a picture, the text of an SVG that the server has made. Marks are gone. */
  show(svg) {
    if (svg !== this.drawing) {
      this.drawing = svg;
      this.holder.innerHTML = svg;
      this.centres.clear();
      for (const place of this.svg.querySelectorAll(".jq-point")) {
        const box = place.getBBox();
        this.centres.set(place.dataset.point, [box.x + box.width / 2, box.y + box.height / 2]);
      }
      this.marks = this.svg.appendChild(document.createElementNS(SVG, "g"));
      this.marks.setAttribute("class", "marks");
    }
    this.clear();
  }

  get svg() {
    return this.holder.querySelector("svg");
  }

  /** Remove all marks. */
  clear() {
    this.marks?.replaceChildren();
  }

  /** Frame a point; kinds have their looks in the style: "chosen", "target", "cursor". */
  mark(point, kind) {
    const [x, y] = this.centres.get(point);
    const shape = document.createElementNS(SVG, kind === "target" ? "circle" : "rect");
    const at = kind === "target"
      ? { cx: x, cy: y, r: 11 }
      : { x: x - 42, y: y - 29, width: 84, height: 58, rx: 11 };
    for (const [name, value] of Object.entries(at)) shape.setAttribute(name, value);
    shape.setAttribute("class", `mark ${kind}`);
    this.marks.append(shape);
  }

  /** Draw an arrow from point to point; kind is a class for its looks. */
  arrow(from, to, kind) {
    const [x, y] = this.centres.get(from);
    const [toX, toY] = this.centres.get(to);
    const length = Math.hypot(toX - x, toY - y);
    // It goes from rim to rim of the tiles, so that what stands there can be read, if they are not
    // too near.
    const [right, down] = [Math.abs(toX - x) / length, Math.abs(toY - y) / length];
    const rim = Math.min(right ? 36 / right : Infinity, down ? 23 / down : Infinity);
    const tip = length - rim;
    const start = Math.max(0, Math.min(rim, tip - 44));
    const shape = document.createElementNS(SVG, "path");
    shape.setAttribute("d", `M${start}-6H${tip - 24}v-13L${tip} 0L${tip - 24} 19v-13H${start}Z`);
    const angle = (Math.atan2(toY - y, toX - x) * 180) / Math.PI;
    shape.setAttribute("transform", `translate(${x} ${y}) rotate(${angle})`);
    shape.setAttribute("class", `mark arrow ${kind}`);
    this.marks.append(shape);
  }

  /** The point at a place of the screen, null if none is near. */
  pointAt(clientX, clientY) {
    const place = new DOMPoint(clientX, clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    let best = null;
    let least = Infinity;
    for (const [name, [x, y]] of this.centres) {
      const distance = Math.hypot((place.x - x) * 0.75, place.y - y);
      if (distance < least) [best, least] = [name, distance];
    }
    return least < 34 ? best : null;
  }

  #click(event) {
    const point = this.svg && this.pointAt(event.clientX, event.clientY);
    if (point) {
      this.cursor = point;
      this.onPoint(point);
    }
  }

  #key(event) {
    if (event.key in STEP && !event.altKey && !event.ctrlKey && !event.metaKey) {
      const [down, right] = STEP[event.key];
      const last = this.cursor ?? "F2";
      const row = Math.min(11, Math.max(0, ROWS.indexOf(last[0]) + down));
      const column = Math.min(4, Math.max(0, Number(last[1]) + right));
      const next = `${ROWS[row]}${column}`;
      this.#showCursor(this.centres.has(next) ? next : last);
    } else if ((event.key === "Enter" || event.key === " ") && this.cursor) {
      this.onPoint(this.cursor);
    } else {
      return;
    }
    event.preventDefault();
  }

  #showCursor(point) {
    this.cursor = point ?? this.cursor;
    this.marks?.querySelector(".cursor")?.remove();
    if (point && this.centres.has(point)) this.mark(point, "cursor");
  }
}
