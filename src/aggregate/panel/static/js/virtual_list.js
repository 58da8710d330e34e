// A list of rows of one height, of which only those in sight exist: a million lines cost as much as forty.

const MOST_PIXELS = 15_000_000; // browsers clip elements beyond 16 to 33 million pixels: above this, scrolling is scaled
const SPARE_ROWS = 8; // drawn above and below what is in sight, so that a scrolled row is there before it is seen
let madeLists = 0;

/**
 * Rows in a scrolling box, with a cursor that the keyboard moves. The box takes the focus, and names the
 * row under the cursor by aria-activedescendant.
 */
export class VirtualList {
  /**
   * @param {HTMLElement} box scrolls; has a fixed height by its layout
   * @param {Object} options
   * @param {number} options.rowHeight in pixels
   * @param {(row: HTMLElement, index: number) => void} options.draw fills a row; called again whenever it may have changed
   * @param {(index: number, how: {shift: boolean, key: boolean}) => void} [options.onCursor] the cursor was moved by the user
   * @param {() => void} [options.onScroll]
   * @param {number} [options.headerHeight] pixels of the box that a sticky header covers
   */
  constructor(box, { rowHeight, draw, onCursor = () => {}, onScroll = () => {}, headerHeight = 0 }) {
    this.box = box;
    this.rowHeight = rowHeight;
    this.headerHeight = headerHeight;
    this.draw = draw;
    this.onCursor = onCursor;
    this.count = 0;
    this.cursor = -1;
    this.rows = new Map();
    this.spares = [];
    this.prefix = `list${++madeLists}-`;
    this.spacer = document.createElement("div");
    this.spacer.className = "rows";
    this.spacer.setAttribute("role", "rowgroup");
    box.append(this.spacer);
    box.addEventListener("scroll", () => (this.place(), onScroll()), { passive: true });
    box.addEventListener("keydown", (event) => this.#key(event));
    new ResizeObserver(() => this.place()).observe(box);
  }

  /** Show this many rows from now on, and draw those in sight anew. */
  setCount(count) {
    this.count = count;
    this.spacer.style.height = `${this.#height()}px`;
    this.box.setAttribute("aria-rowcount", String(count));
    if (this.cursor >= count) this.cursor = count - 1;
    this.refresh();
  }

  /** Draw the rows in sight anew. */
  refresh() {
    for (const [index, row] of this.rows) if (index < this.count) this.#fill(row, index);
    this.place();
  }

  /** Draw one row anew if it is in sight. */
  refreshRow(index) {
    const row = this.rows.get(index);
    if (row) this.#fill(row, index);
  }

  /** Rows that are at least partly in sight: [first, last], last exclusive. */
  range() {
    const top = this.#virtualTop();
    const first = Math.max(0, Math.floor(top / this.rowHeight));
    const last = Math.min(this.count, Math.ceil((top + this.#room()) / this.rowHeight));
    return [first, last];
  }

  /** Scroll so that the row is in sight: not at all if it is, else to the middle (or the top, `align: "start"`). */
  reveal(index, { align = "middle" } = {}) {
    if (index < 0 || index >= this.count) return;
    const [first, last] = this.range();
    const top = this.#virtualTop();
    const inSight = index * this.rowHeight >= top && (index + 1) * this.rowHeight <= top + this.#room();
    if (inSight && align !== "start" && last > first) return;
    const height = this.#room();
    this.scrollTo(align === "start" ? index * this.rowHeight : index * this.rowHeight - (height - this.rowHeight) / 2);
  }

  /** Scroll to a distance in pixels from the first row's top, as if scrolling were not scaled. */
  scrollTo(distance) {
    const most = Math.max(0, this.count * this.rowHeight - this.#room());
    const bounded = Math.max(0, Math.min(most, distance));
    this.box.scrollTop = this.#isScaled() ? (bounded * (this.#height() - this.#room())) / most : bounded;
    this.place();
  }

  /** Put the cursor on a row without telling the owner. */
  setCursor(index, { reveal = true } = {}) {
    const before = this.cursor;
    this.cursor = Math.max(-1, Math.min(this.count - 1, index));
    this.refreshRow(before);
    if (reveal) this.#nudge(this.cursor);
    this.refreshRow(this.cursor);
    this.#name();
  }

  /** Put the cursor where the user clicked or went by key, and tell the owner. */
  moveCursor(index, { shift = false, key = false } = {}) {
    this.setCursor(index);
    this.onCursor(this.cursor, { shift, key });
  }

  /** The index of the row that holds a node, or -1. */
  indexOf(node) {
    const row = node instanceof Element ? node.closest("[data-index]") : null;
    return row && this.spacer.contains(row) ? Number(row.dataset.index) : -1;
  }

  /** Make, reuse and put in place the rows that are in sight. */
  place() {
    const [inSight, behind] = this.range();
    const first = Math.max(0, inSight - SPARE_ROWS);
    const last = Math.min(this.count, behind + SPARE_ROWS);
    for (const [index, row] of this.rows) {
      if (index >= first && index < last) continue;
      this.rows.delete(index);
      this.spares.push(row);
    }
    const shift = this.#isScaled() ? this.box.scrollTop - this.#virtualTop() : 0;
    for (let index = first; index < last; index++) {
      const row = this.rows.get(index) ?? this.#take(index);
      row.style.transform = `translateY(${index * this.rowHeight + shift}px)`;
    }
    for (const row of this.spares) row.remove();
    this.#name();
  }

  #take(index) {
    const row = this.spares.pop() ?? document.createElement("div");
    this.rows.set(index, row);
    this.#fill(row, index);
    if (!row.isConnected) this.spacer.append(row);
    return row;
  }

  #fill(row, index) {
    row.className = "row";
    row.setAttribute("role", "row");
    row.id = this.prefix + index;
    row.dataset.index = String(index);
    row.setAttribute("aria-rowindex", String(index + 1));
    this.draw(row, index);
    row.classList.toggle("cursor", index === this.cursor);
  }

  #name() {
    if (this.rows.has(this.cursor)) this.box.setAttribute("aria-activedescendant", this.prefix + this.cursor);
    else this.box.removeAttribute("aria-activedescendant");
  }

  // Scroll by as little as brings the row into sight, which is what moving by key should do.
  #nudge(index) {
    const top = this.#virtualTop();
    const start = index * this.rowHeight;
    if (start < top) this.scrollTo(start);
    else if (start + this.rowHeight > top + this.#room()) this.scrollTo(start + this.rowHeight - this.#room());
  }

  #key(event) {
    if (event.target !== this.box || event.altKey || event.ctrlKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(this.#room() / this.rowHeight) - 1);
    const steps = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -this.count, End: this.count };
    const step = steps[event.key];
    if (step === undefined || this.count === 0) return;
    event.preventDefault();
    const target = Math.max(0, Math.min(this.count - 1, this.cursor + step));
    this.moveCursor(target, { shift: event.shiftKey, key: true });
  }

  #room() {
    return this.box.clientHeight - this.headerHeight;
  }

  #height() {
    return Math.min(MOST_PIXELS, this.count * this.rowHeight);
  }

  #isScaled() {
    return this.count * this.rowHeight > MOST_PIXELS;
  }

  #virtualTop() {
    if (!this.#isScaled()) return this.box.scrollTop;
    const room = this.#height() - this.#room();
    return (this.box.scrollTop * (this.count * this.rowHeight - this.#room())) / room;
  }
}
