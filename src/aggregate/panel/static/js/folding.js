// Which lines of the prompt are in sight while sections are folded. Knows nothing of the page.

/** Folded sections as a map from rows to lines and back. */
export class Folding {
  constructor() {
    this.folded = new Set();
    this.set([], 0);
  }

  /** Take the sections of a prompt ({title, kind, source, first, last, depth}) and its number of lines. */
  set(sections, lines) {
    this.sections = sections;
    this.lines = lines;
    this.byFirst = new Map(sections.map((section) => [section.first, section]));
    this.#arrange();
  }

  /** What names a section from one prompt to the next. */
  static key(section) {
    return `${section.kind} ${section.source} ${section.title}`;
  }

  /** Fold or unfold a section. */
  toggle(section, fold = !this.isFolded(section)) {
    if (fold) this.folded.add(Folding.key(section));
    else this.folded.delete(Folding.key(section));
    this.#arrange();
  }

  /** Fold every part that nothing folds inside of, or unfold all. */
  toggleAll(fold) {
    const deepest = Math.max(0, ...this.sections.map((section) => section.depth));
    this.folded = new Set(fold ? this.sections.filter((section) => section.depth === deepest).map(Folding.key) : []);
    this.#arrange();
  }

  isFolded(section) {
    return this.folded.has(Folding.key(section));
  }

  /** The section that starts at a line, if one does. */
  startingAt(line) {
    return this.byFirst.get(line) ?? null;
  }

  /** The innermost section that holds a line. */
  around(line) {
    let low = 0;
    let high = this.sections.length; // sections stand in the order of their first lines
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.sections[middle].first <= line) low = middle + 1;
      else high = middle;
    }
    for (let at = low - 1; at >= 0; at--) {
      if (this.sections[at].last >= line) return this.sections[at];
      if (this.sections[at].depth === 0) return null;
    }
    return null;
  }

  /** Unfold what hides a line. */
  show(line) {
    for (const section of this.sections) {
      if (section.first < line && line <= section.last) this.folded.delete(Folding.key(section));
    }
    this.#arrange();
  }

  /** The line (from 1) of a row (from 0). */
  lineOf(row) {
    let hidden = 0;
    let low = 0;
    let high = this.gaps.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.gaps[middle].row <= row) {
        hidden = this.gaps[middle].hidden;
        low = middle + 1;
      } else high = middle;
    }
    return row + 1 + hidden;
  }

  /** The row of a line; of a hidden one the row of the heading that hides it. */
  rowOf(line) {
    let hidden = 0;
    for (const gap of this.gaps) {
      if (line < gap.first) break;
      if (line <= gap.last) return gap.first - 2 - hidden;
      hidden = gap.hidden;
    }
    return line - 1 - hidden;
  }

  // A gap is a run of hidden lines; `hidden` counts the lines hidden up to its end, `row` is the first row after it.
  #arrange() {
    this.gaps = [];
    let hidden = 0;
    let until = 0;
    for (const section of this.sections) {
      if (section.first < until || section.last <= section.first || !this.isFolded(section)) continue;
      until = section.last + 1;
      hidden += section.last - section.first;
      this.gaps.push({ first: section.first + 1, last: section.last, hidden, row: section.last - hidden });
    }
    this.rows = this.lines - hidden;
  }
}
