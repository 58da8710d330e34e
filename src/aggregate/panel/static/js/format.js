// Numbers as people read them. Always with the same separators, whatever the browser's language: the
// command line prints them so too.

const WHOLE = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** 1234567 as `1,234,567`. */
export function whole(value) {
  return WHOLE.format(value);
}

/** 1234567 as `1.23M`, 12345 as `12.3k`, 812 as `812`: three figures, for narrow columns. */
export function short(value) {
  if (value < 1000) return String(Math.round(value));
  const [scaled, unit] = value < 999_500 ? [value / 1e3, "k"] : [value / 1e6, "M"];
  return scaled.toPrecision(scaled >= 100 ? 3 : 3).replace(/\.?0+$/, (zeros) => (zeros.startsWith(".") ? "" : zeros)) + unit;
}

/** A price in US dollars: cents from a dollar on, else the two first figures that count. */
export function dollars(value) {
  if (value === 0) return "$0";
  if (value >= 1) return `$${value.toFixed(2)}`;
  return `$${value.toFixed(Math.min(6, 1 - Math.floor(Math.log10(value))))}`;
}

/** A part of a whole as `34 %`; what is not nothing is at least `<1 %`. */
export function percent(part, total) {
  const value = (100 * part) / total;
  return value > 0 && value < 1 ? "<1 %" : `${WHOLE.format(value)} %`;
}

/** `1 file`, `2 files`. */
export function counted(count, noun) {
  return `${whole(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** A budget as the command line takes it (`32000`, `32k`, `1.5m`); null for an empty text, NaN for others. */
export function parseTokens(text) {
  const trimmed = text.trim().replaceAll(",", "").toLowerCase();
  if (trimmed === "") return null;
  const match = /^(\d+(?:\.\d+)?)\s*([km]?)$/.exec(trimmed);
  if (!match) return NaN;
  return Math.round(Number(match[1]) * { "": 1, k: 1e3, m: 1e6 }[match[2]]);
}
