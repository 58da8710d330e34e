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
  return scaled.toPrecision(3).replace(/\.0+$/, "") + unit;
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

/** A budget as people write it: 32000 as `32k`, 1500000 as `1.5m`, 32768 as it is; `auto` too, and an empty text for none. */
export function budgetText(budget) {
  if (budget === null) return "";
  if (budget >= 1e6 && budget % 1e5 === 0) return `${budget / 1e6}m`;
  return budget >= 1e3 && budget % 1e3 === 0 ? `${budget / 1e3}k` : String(budget);
}

// Characters that turn the order of others round or show as nothing: a name or a line with them reads as what it is not.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** A text with what cannot be seen named by its code point, such as [U+202E]. */
export function visible(text) {
  return text.replace(UNSEEN, (character) => `[U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`);
}
